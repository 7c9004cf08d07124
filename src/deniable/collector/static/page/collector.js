/** What is asked of the collector. Only responses, the key and an invitation's code ever pass through here. */
import { bytesOf, textOf } from "../draw/wire.js";
import { readSurvey } from "../respond.js";

/** What the collector refuses, in its own words. */
export class Declined extends Error {}

/** The collector holds another definition of the survey than the page. */
export class Changed extends Error {}

/** The page is not of the definition, or of the author, that the link names. */
export class Misled extends Error {}

/** A receipt is not signed with the key in the definition. */
export class Unsigned extends Error {}

/** The collector could not be reached. */
export class Unreachable extends Error {}

/**
 * Fetch the definition of a survey, and check that it is the one that the page was made from, and the link names.
 *
 * @param {string} hash of the definition that the page was made from.
 * @param {URLSearchParams} link what stands behind the # of the link: the `definition` and the `author` that it names.
 * @returns {Promise<object>} what `readSurvey` gives: questions to draw with; the keys of receipts and tokens. They are
 *   under the hash: everybody has the same.
 */
export async function definition(api, hash, link) {
  const named = link.get("definition") ?? hash.replace("sha256:", "");
  if (hash !== `sha256:${named}`) throw new Misled();
  const text = await (await ask("GET", api)).text();
  const survey = await readSurvey(text, { definition: named, acknowledged: true }).catch((error) => {
    throw error.name === "Incompatible" ? new Changed() : error;
  });
  if (link.get("author")) await checkAuthor(api, hash, link.get("author"));
  return survey;
}

async function checkAuthor(api, hash, author) {
  const { authorVerifies } = await import("../signatures.js");
  const signed = await (await ask("GET", `${api}/signature`)).json();
  if (!(await authorVerifies(signed, hash, author))) throw new Misled();
}

/** Fetch the receipt of a key, and verify it with the key of receipts in the definition. */
export async function signedReceipt(api, key, { receipts }) {
  const { receiptVerifies } = await import("../signatures.js");
  const signed = await (await ask("POST", `${api}/receipts`, { key })).json();
  if (!(await receiptVerifies(signed, receipts))) throw new Unsigned();
  return signed;
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

/** Send a request, with a body of JSON; return what came back, where it went well. A preview sends none: all it has is its definition. */
export async function ask(method, address, body) {
  if (brought) return method === "GET" ? new Response(brought) : Response.json({ withdrawn: 1, overwritten: true });
  const options = { method, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
  if (body) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    Object.assign(options, { body: text, headers: { "content-type": "application/json" } });
  }
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
