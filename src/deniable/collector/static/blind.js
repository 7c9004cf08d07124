/**
 * Blind signatures, the respondent's half: the collector signs a token that it does not see, and later cannot say for
 * whom it was signed. `deniable.blind` in Python says how and why; the same bytes give the same numbers here. It is
 * RSABSSA-SHA384-PSS-Randomized of RFC 9474; `unblind` is its Finalize.
 *
 *   const key = await readKey(text);                                // the key of the survey, the same for everybody
 *   const token = prepare();                                        // a secret until the response is sent
 *   const { blinded, unblinder } = await blind(token, key);         // digits(blinded, key) goes with the invitation
 *   const signature = await unblind(token, signed, unblinder, key); // token and signature go with the response
 */
import { SYSTEM, below, bits } from "./draw/chance.js";
import { gcd } from "./draw/fraction.js";
import { Refused, bytesOf, check, textOf, unseal, weight } from "./draw/wire.js";

const EXPONENT = 65537n;
const [LEAST_BITS, MOST_BITS] = [3072, 8192];
const SMALL = 1 << 16; // no prime below this may divide a modulus
const WORD = 8; // bytes in a word
const PREFIX = 32; // random bytes before a message
const [HASH, HASH_SIZE, SALT] = ["SHA-384", 48, 48];

/** Read the public half of a signing key from the JSON that `Key.to_json` wrote; returns `{modulus}`. */
export async function readKey(json) {
  const { body } = await unseal("signing-key", json);
  check(body, "modulus");
  const modulus = weight(body.modulus);
  const length = lengthOf(modulus);
  if (length < LEAST_BITS || length > MOST_BITS) {
    throw new Refused("InvalidRequest", `the key has ${length} bits; expected ${LEAST_BITS} to ${MOST_BITS}.`);
  }
  if (smallPrimes().some((prime) => modulus % prime === 0n)) {
    throw new Refused(
      "InvalidRequest",
      `the modulus of this key has a factor below ${SMALL}; expected the product of two large primes.`,
      "Send nothing: keys of small factors are made to recognize who was invited.",
    );
  }
  return { modulus };
}

let primes = null;

function smallPrimes() {
  if (primes) return primes;
  const composite = new Uint8Array(SMALL);
  primes = [];
  for (let number = 2; number < SMALL; number += 1) {
    if (composite[number]) continue;
    primes.push(BigInt(number));
    for (let multiple = number * number; multiple < SMALL; multiple += number) composite[multiple] = 1;
  }
  return primes;
}

/** Return a token: 32 random bytes and the message, a Uint8Array. The tokens of invitations have no message. */
export function prepare(message = [], source = SYSTEM) {
  return Uint8Array.from([...drawn(PREFIX, source), ...message]);
}

/** Return the number that stands for a token under a key: EMSA-PSS with SHA-384 (RFC 8017, section 9.1.1). */
export async function encode(token, { modulus }, salt) {
  const length = lengthOf(modulus) - 1;
  const seed = await hash([...new Uint8Array(8), ...(await hash(token)), ...salt]);
  const mask = await stretch(seed, Math.ceil(length / 8) - HASH_SIZE - 1);
  const block = numberOf([1, ...salt]) ^ numberOf(mask);
  return BigInt.asUintN(length, (((block << BigInt(8 * HASH_SIZE)) | numberOf(seed)) << 8n) | 0xbcn);
}

/** Return so many bytes that hang on a seed: MGF1 with SHA-384 (RFC 8017, appendix B.2.1). */
async function stretch(seed, size) {
  const blocks = Array.from({ length: Math.ceil(size / HASH_SIZE) }, (_, at) => hash([...seed, 0, 0, 0, at]));
  return (await Promise.all(blocks)).flatMap((block) => [...block]).slice(0, size);
}

/**
 * Hide a token from whoever signs it.
 *
 * @param {Uint8Array} token what `prepare` gave.
 * @param {{modulus: bigint}} key what `readKey` gave.
 * @param {{read: function(number): Uint8Array}} [source] random bytes, first for the salt, then for the factor; the
 *   browser's own by default.
 * @returns {Promise<{blinded: bigint, unblinder: bigint}>} what is to be signed, and a secret that is good for once.
 */
export async function blind(token, key, source = SYSTEM) {
  const { modulus } = key;
  if (token.length < PREFIX) {
    throw new Refused("InvalidRequest", `expected a token of ${PREFIX} bytes or more, from prepare.`);
  }
  const encoded = await encode(token, key, drawn(SALT, source));
  if (gcd(encoded, modulus) !== 1n) {
    throw new Refused(
      "InvalidRequest",
      "the token has a factor in common with the modulus of the key; expected none.",
      "Send nothing: the key is not a product of two large primes, and made to recognize who was invited.",
    );
  }
  let factor = 0n;
  while (gcd(factor, modulus) !== 1n) factor = 1n + below(modulus - 1n, source);
  const blinded = (encoded * power(factor, EXPONENT, modulus)) % modulus;
  return { blinded, unblinder: inverse(factor, modulus) };
}

/** Return the signature of the token itself; refuse one that is not good, with which nothing may then be sent. */
export async function unblind(token, signed, unblinder, key) {
  const signature = (signed * unblinder) % key.modulus;
  if (await verify(token, signature, key)) return signature;
  throw new Refused(
    "InvalidRequest",
    "what came back is not a signature of this token under the key of this survey.",
    "Throw the token away and ask for the invitation anew; whoever signed it might recognize it.",
  );
}

/** Say whether a signature is that of a token under a key: RSASSA-PSS with SHA-384 and a salt of 48 bytes. */
export async function verify(token, signature, key) {
  if (signature <= 0n || signature >= key.modulus) return false;
  const numbers = { kty: "RSA", n: base64(digits(key.modulus, key)), e: "AQAB" };
  const read = await crypto.subtle.importKey("jwk", numbers, { name: "RSA-PSS", hash: HASH }, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT }, read, bytesOf(digits(signature, key)), token);
}

/** Return a number below the modulus as it travels: in hexadecimal, all of one length. */
export function digits(number, { modulus }) {
  return number.toString(16).padStart(2 * Math.ceil(lengthOf(modulus) / 8), "0");
}

function base64(hex) {
  return btoa(String.fromCharCode(...bytesOf(hex))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function lengthOf(number) {
  return number.toString(2).length;
}

function numberOf(bytes) {
  return BigInt(`0x${textOf(bytes)}`);
}

async function hash(bytes) {
  return new Uint8Array(await crypto.subtle.digest(HASH, Uint8Array.from(bytes)));
}

function drawn(size, source) {
  return bytesOf(bits(size / WORD, source).toString(16).padStart(2 * size, "0")).reverse();
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
