/**
 * Blind signatures, the respondent's half: the collector signs a token that it does not see, and later cannot say for
 * whom it was signed. `deniable.blind` in Python says how and why; the same bytes give the same numbers here.
 *
 *   const key = await readKey(text);                                // the key of the survey, the same for everybody
 *   const token = crypto.getRandomValues(new Uint8Array(32));       // a secret until the response is sent
 *   const { blinded, unblinder } = await blind(token, key);         // hex(blinded) goes out with the invitation
 *   const signature = await unblind(token, signed, unblinder, key); // token and signature go with the response
 */
import { SYSTEM, below } from "./draw/chance.js";
import { gcd } from "./draw/fraction.js";
import { Refused, bytesOf, check, sha256, textOf, unseal, weight } from "./draw/wire.js";

const EXPONENT = 65537n;
const LEAST_BITS = 2048;
const LEAST_BYTES = 16; // of a token that nobody guesses
const NAME = new TextEncoder().encode("deniable/blind/1");
const SLACK = 16; // bytes beyond the modulus, which make what is left of the hash even to within 2^-128

/** Read the public half of a signing key from the JSON that `Key.to_json` wrote; returns `{modulus}`. */
export async function readKey(json) {
  const { body } = await unseal("signing-key", json);
  check(body, "modulus");
  const modulus = weight(body.modulus);
  if (modulus.toString(2).length < LEAST_BITS || modulus % 2n === 0n) {
    throw new Refused("InvalidRequest", `the key is weak; expected an odd modulus of at least ${LEAST_BITS} bits.`);
  }
  return { modulus };
}

/** Return the hash of a message, a Uint8Array, as a number below the modulus, spread over all of them. */
export async function expand(message, modulus) {
  const digits = hex(modulus);
  const size = digits.length / 2;
  const own = await sha256(bytesOf(digits));
  const blocks = Array.from({ length: Math.ceil((size + SLACK) / 32) }, (_, at) => {
    const counter = new Uint8Array(4);
    new DataView(counter.buffer).setUint32(0, at);
    return sha256(Uint8Array.from([...NAME, ...own, ...counter, ...message]));
  });
  const wide = (await Promise.all(blocks)).flatMap((block) => [...block]).slice(0, size + SLACK);
  return BigInt(`0x${textOf(wide)}`) % modulus;
}

/**
 * Hide a message from whoever signs it.
 *
 * @param {Uint8Array} message a token of at least 16 random bytes that nobody else knows.
 * @param {{modulus: bigint}} key what `readKey` gave.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {Promise<{blinded: bigint, unblinder: bigint}>} what is to be signed, and a secret that is good for once.
 */
export async function blind(message, { modulus }, source = SYSTEM) {
  if (message.length < LEAST_BYTES) {
    throw new Refused("InvalidRequest", `expected a token of at least ${LEAST_BYTES} bytes, drawn at random.`);
  }
  let factor = 0n;
  do factor = 1n + below(modulus - 1n, source);
  while (gcd(factor, modulus) !== 1n);
  const blinded = ((await expand(message, modulus)) * power(factor, EXPONENT, modulus)) % modulus;
  return { blinded, unblinder: inverse(factor, modulus) };
}

/** Return the signature of the message itself; refuse one that is not good, with which nothing may then be sent. */
export async function unblind(message, signed, unblinder, key) {
  const signature = (signed * unblinder) % key.modulus;
  if (await verify(message, signature, key)) return signature;
  throw new Refused(
    "InvalidRequest",
    "what came back is not a signature of this token under the key of this survey.",
    "Throw the token away and ask for the invitation anew; whoever signed it might recognize it.",
  );
}

/** Say whether a signature is that of a message under a key. */
export async function verify(message, signature, { modulus }) {
  const known = signature > 0n && signature < modulus;
  return known && power(signature, EXPONENT, modulus) === (await expand(message, modulus));
}

/** Return a number in hexadecimal digits, two for each byte. */
export function hex(number) {
  const digits = number.toString(16);
  return digits.padStart(digits.length + (digits.length % 2), "0");
}

function power(base, exponent, modulus) {
  let found = 1n;
  for (let bit = 0n; exponent >> bit; bit += 1n) {
    if ((exponent >> bit) & 1n) found = (found * base) % modulus;
    base = (base * base) % modulus;
  }
  return found;
}

function inverse(number, modulus) {
  let [rest, divisor, one, two] = [number, modulus, 1n, 0n];
  while (divisor) {
    const times = rest / divisor;
    [rest, divisor, one, two] = [divisor, rest - times * divisor, two, one - times * two];
  }
  return ((one % modulus) + modulus) % modulus;
}
