/**
 * Ed25519 signatures, verified: who wrote a definition, and what a collector has said in a receipt. As in RFC 8032,
 * section 5.1.7, without the cofactor; `deniable.signatures` in Python gives the same verdicts. Nothing here is secret.
 */
import { bytesOf, digest, textOf } from "./draw/wire.js";

const FIELD = (1n << 255n) - 19n;
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;
const D = mod(-121665n * power(121666n, FIELD - 2n));
const ROOT = power(2n, (FIELD - 1n) / 4n); // of −1
const ZERO = [0n, 1n, 1n, 0n];
const BASE = decoded(bytesFrom(mod(4n * power(5n, FIELD - 2n))));

/** Say whether a signature, 64 bytes, is that of a message under a public key, 32 bytes. */
export async function verify(message, signature, key) {
  const point = key.length === 32 ? decoded(key) : null;
  if (signature.length !== 64 || !point) return false;
  const number = numberOf(signature.slice(32));
  const [x0, y0, z0] = times(8n, point);
  if (number >= ORDER || (mod(x0) === 0n && mod(y0 - z0) === 0n)) return false; // anybody could sign under such a key
  const hashed = await crypto.subtle.digest("SHA-512", Uint8Array.from([...signature.slice(0, 32), ...key, ...message]));
  const [x, y, z, t] = point;
  const found = sum(times(number, BASE), times(numberOf(new Uint8Array(hashed)) % ORDER, [-x, y, z, -t]));
  return textOf(encoded(found)) === textOf(signature.slice(0, 32));
}

/** Say whether a receipt is signed with the key of receipts in a definition. */
export async function receiptVerifies({ survey, key, responses, reveals, signature }, receipts) {
  const told = `deniable receipt\n${await digest({ survey, key, responses, reveals })}`;
  return verify(new TextEncoder().encode(told), bytesOf(signature), bytesOf(receipts));
}

/** Say whether an author has signed the definition of a hash. */
export async function authorVerifies({ survey, author, signature }, hash, pinned) {
  if (survey !== hash || author !== pinned) return false;
  return verify(new TextEncoder().encode(`deniable definition\n${hash}`), bytesOf(signature), bytesOf(author));
}

function decoded(bytes) {
  const text = numberOf(bytes);
  const [odd, y] = [text >> 255n, text & ((1n << 255n) - 1n)];
  if (y >= FIELD) return null;
  const [above, below] = [mod(y * y - 1n), mod(D * y * y + 1n)];
  let x = mod(above * power(below, 3n) * power(mod(above * power(below, 7n)), (FIELD - 5n) / 8n));
  if (mod(below * x * x) !== above) x = mod(x * ROOT);
  if (mod(below * x * x) !== above || (x === 0n && odd)) return null;
  if ((x & 1n) !== odd) x = FIELD - x;
  return [x, y, 1n, mod(x * y)];
}

function encoded([x, y, z]) {
  const scale = power(z, FIELD - 2n);
  return bytesFrom(mod(y * scale) | ((mod(x * scale) & 1n) << 255n));
}

function sum(one, two) {
  const [a, b] = [(one[1] - one[0]) * (two[1] - two[0]), (one[1] + one[0]) * (two[1] + two[0])];
  const [c, d] = [2n * one[3] * two[3] * D, 2n * one[2] * two[2]];
  const [e, f, g, h] = [mod(b - a), mod(d - c), mod(d + c), mod(b + a)];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function times(number, point) {
  let [found, each] = [ZERO, point];
  for (let left = number; left; left >>= 1n, each = sum(each, each)) if (left & 1n) found = sum(found, each);
  return found;
}

function power(base, exponent) {
  let [found, square] = [1n, mod(base)];
  for (let left = exponent; left; left >>= 1n, square = mod(square * square)) if (left & 1n) found = mod(found * square);
  return found;
}

function mod(number) {
  const rest = number % FIELD;
  return rest < 0n ? rest + FIELD : rest;
}

/** Numbers are written with the lowest byte first. */
function numberOf(bytes) {
  return BigInt(`0x${textOf([...bytes].reverse())}`);
}

function bytesFrom(number) {
  return bytesOf(number.toString(16).padStart(64, "0")).reverse();
}
