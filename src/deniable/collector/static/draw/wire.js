/** What travels: JSON that names its schema and carries a hash of its own content, checked before anything is drawn. */
import { gcd } from "./fraction.js";

const VERSION = 1;

/**
 * What is thrown: what was wrong and what was expected (`problem`), how to go on (`hint`), and as `name` the name that
 * the same refusal has in Python. An answer is never in it.
 */
export class Refused extends Error {
  constructor(name, problem, hint = "") {
    super(hint ? `${problem}\n${hint}` : problem);
    this.name = name;
    this.problem = problem;
    this.hint = hint;
  }
}

/** Return a refusal of a file. */
export function unreadable(problem, hint = "") {
  return new Refused("UnreadableFile", problem, hint);
}

/** Return a refusal of something that is well-formed, but no design. */
export function invalid(problem) {
  return new Refused("InvalidDesign", problem);
}

/** Return canonical JSON: keys sorted by code point, no spaces. Other numbers than whole ones do not travel. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.keys(value).sort(byCodePoint).map((key) => `${text(key)}:${canonical(value[key])}`);
    return `{${members.join(",")}}`;
  }
  if (typeof value === "string") return text(value);
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw unreadable("it holds a number that is not whole, or above 2^53; expected such numbers as text.");
  }
  return JSON.stringify(value);
}

/** Return the content hash of a body: SHA-256 of its canonical JSON in UTF-8. */
export async function digest(body) {
  const bytes = await sha256(new TextEncoder().encode(canonical(body)));
  return `sha256:${textOf(bytes)}`;
}

/** Return bytes in hexadecimal digits. */
export function textOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes that hexadecimal digits stand for. */
export function bytesOf(digits) {
  return Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
}

/** Return the SHA-256 of bytes. */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) {
    throw new Refused(
      "InvalidRequest",
      "this page did not come over a secure connection, so its script may have been changed on the way.",
      "Open it by its https address.",
    );
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Return the content hash of a design, a ladder or a deck. */
export function hashOf(kind, body) {
  return digest({ ...body, schema: `deniable/${kind}/${VERSION}` });
}

/** Whether a sealed JSON text says that it is of a kind. */
export function isOf(kind, json) {
  return parsed(kind, json).schema === `deniable/${kind}/${VERSION}`;
}

/** Return the body of a sealed JSON text and its hash; refuse what is of another kind, or not what was sealed. */
export async function unseal(kind, json) {
  const { schema, hash, ...body } = parsed(kind, json);
  if (schema !== `deniable/${kind}/${VERSION}`) {
    throw unreadable(`this is no ${kind} of version ${VERSION}; expected the schema 'deniable/${kind}/${VERSION}'.`);
  }
  if (typeof hash !== "string" || hash !== (await hashOf(kind, body))) {
    throw unreadable(
      `the content of this ${kind} does not match its hash; it was edited or damaged.`,
      "Load the page again; if that does not help, tell whoever sent you here.",
    );
  }
  return { body, hash };
}

/** Refuse a body that does not have exactly these fields. */
export function check(body, ...names) {
  object(body);
  const known = new Set(names);
  if (Object.keys(body).length !== known.size || !names.every((name) => Object.hasOwn(body, name))) {
    throw unreadable(`a part of the file has other fields than expected: ${names.join(", ")}.`);
  }
}

/** Return a value that must be an object with fields. */
export function object(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw unreadable("a part of the file is missing or of the wrong type; expected an object with fields.");
  }
  return value;
}

/** Return a value that must be a list. */
export function list(value) {
  if (!Array.isArray(value)) throw unreadable("a part of the file is of the wrong type; expected a list.");
  return value;
}

/** Return a value that must be text. */
export function string(value) {
  if (typeof value !== "string") throw unreadable("a part of the file is of the wrong type; expected text.");
  return value;
}

/** Return a number as BigInt: a size is written as a number. */
export function size(value) {
  if (!Number.isSafeInteger(value) || value < 0) throw unreadable("a size is not a whole number of 0 or more.");
  return BigInt(value);
}

/** Return a number as BigInt: a weight is written as decimal text, because it may pass 2^53. */
export function weight(value) {
  if (!/^(0|[1-9][0-9]{0,3999})$/.test(string(value))) throw unreadable("a weight is not a whole number in digits.");
  return BigInt(value);
}

/** Refuse weights that have a common divisor: one design has one text, and one hash. */
export function lowest(weights) {
  if (weights.reduce(gcd) !== 1n) throw invalid("the weights are not in lowest terms.");
}

function parsed(kind, json) {
  try {
    return object(JSON.parse(json));
  } catch {
    throw unreadable(`this is not a ${kind}, or its JSON ends or breaks early.`, "Load the page again.");
  }
}

function text(value) {
  if (/\p{Surrogate}/u.test(value)) throw unreadable("it holds half a surrogate pair; expected text.");
  return JSON.stringify(value);
}

/** Sort as Python does; by default a browser sorts by UTF-16 units, which differ above U+FFFF. */
function byCodePoint(one, two) {
  const [first, second] = [[...one], [...two]];
  const at = first.findIndex((letter, place) => letter !== second[place]);
  if (at < 0) return first.length - second.length;
  return at < second.length ? first[at].codePointAt(0) - second[at].codePointAt(0) : 1;
}
