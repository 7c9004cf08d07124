/** What is asked of the collector. Only responses, the key and an invitation's code ever pass through here. */
import { bytesOf, hashOf, textOf, unseal } from "../draw/wire.js";
import { readDesign } from "../respond.js";

/** What the collector refuses, in its own words. */
export class Declined extends Error {}

/** The collector holds another definition of the survey than the page. */
export class Changed extends Error {}

/** The collector could not be reached. */
export class Unreachable extends Error {}

/**
 * Fetch the definition of a survey, and check that it is the one that the page was made from.
 *
 * @returns {Promise<{questions: object[], keys: object}>} the questions, each with its `designs`, one for each stage,
 *   ready to draw with; and the keys of receipts and tokens. They are under the hash: everybody has the same.
 */
export async function definition(api, hash) {
  const { body, hash: own } = await unseal("survey", await (await ask("GET", api)).text());
  if (own !== hash) throw new Changed();
  return { questions: await Promise.all(body.questions.map(ready)), keys: body.keys };
}

async function ready(question) {
  const bodies = question.ladder?.designs ?? [];
  const sealed = question.design ? [JSON.stringify(question.design)] : await Promise.all(bodies.map(seal));
  return { ...question, designs: await Promise.all(sealed.map(readDesign)) };
}

async function seal(body) {
  return JSON.stringify({ schema: "deniable/design/1", ...body, hash: await hashOf("design", body) });
}

/**
 * Exchange an invitation for a token that the collector has signed without seeing it.
 *
 * @param {object} signing the key of tokens, from the survey's definition.
 * @param {object} kept where the token is kept before it is signed: a connection that breaks costs no invitation.
 */
export async function exchange(api, code, signing, kept) {
  const { blind, digits, prepare, readKey, unblind } = await import("../blind.js"); // only who is invited loads it
  const key = await readKey(JSON.stringify(signing));
  const state = kept.state;
  if (!state.admission) {
    const message = prepare();
    const { blinded, unblinder } = await blind(message, key);
    const [hidden, undo] = [blinded, unblinder].map((number) => digits(number, key));
    state.admission = { message: textOf(message), blinded: hidden, unblinder: undo };
    kept.save();
  }
  const { message, blinded, unblinder, signature } = state.admission;
  if (signature) return;
  const answered = await (await ask("POST", `${api}/invitations/exchange`, { code, blinded })).json();
  const [signed, factor] = [answered.signature, unblinder].map((text) => BigInt(`0x${text}`));
  state.admission = { message, signature: digits(await unblind(bytesOf(message), signed, factor, key), key) };
  kept.save();
}

/** The definition that a preview brings along; undefined where there is a collector to ask. */
const brought = document.querySelector("#survey")?.dataset.definition;

/** Send a request; return what came back, where it went well. A preview sends none: all it has is its definition. */
export async function ask(method, address, body) {
  if (brought) return method === "GET" ? new Response(brought) : Response.json({ withdrawn: 1, overwritten: true });
  const options = { method, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
  if (body) Object.assign(options, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  let answered;
  try {
    answered = await fetch(address, options);
  } catch {
    throw new Unreachable();
  }
  if (answered.ok) return answered;
  if (answered.status >= 500 || answered.status === 429) throw new Unreachable();
  const { error } = await answered.json();
  throw new Declined([error.what, error.next].filter(Boolean).join(" "));
}
