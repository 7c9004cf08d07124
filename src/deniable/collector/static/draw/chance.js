/**
 * Sources of random bytes, and the exact draws that everything else is made of: docs/draws.md, in a browser.
 *
 * A source is an object with `read(count)`, which returns so many bytes as a Uint8Array. Whole numbers are BigInt: no
 * float is ever compared with a probability.
 */
import { Refused } from "./wire.js";

const WORD = 8; // bytes in a word
const RARE = 40n; // a draw is thrown away with probability below 2^-40
const AT_ONCE = 65536; // bytes that getRandomValues gives in one call

/** The browser's source of secure random bytes: the default of every draw. */
export const SYSTEM = Object.freeze({
  read(count) {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at += AT_ONCE) crypto.getRandomValues(bytes.subarray(at, at + AT_ONCE));
    return bytes;
  },
});

/** Return so many words as one integer of random bits, the first word the least significant. */
export function bits(words, source = SYSTEM) {
  const piece = source.read(WORD * words);
  if (!(piece instanceof Uint8Array) || piece.length !== WORD * words) {
    throw new Refused("OutOfRandomness", `the source returned other than the ${WORD * words} bytes asked for.`);
  }
  if (words === 1) return new DataView(piece.buffer, piece.byteOffset).getBigUint64(0, true);
  const digits = Array.from(piece, (byte) => byte.toString(16).padStart(2, "0")).reverse();
  return BigInt(`0x0${digits.join("")}`);
}

/** Return how many words one `below(total)` takes: the fewest that are thrown away almost never. */
export function wordsFor(total) {
  let words = 1n;
  while ((1n << (64n * words)) % total >= 1n << (64n * words - RARE)) words += 1n;
  return words;
}

/** Return an integer from 0 to total − 1, each with probability exactly 1/total. */
export function below(total, source = SYSTEM) {
  const words = wordsFor(total);
  const scale = (1n << (64n * words)) / total;
  for (;;) {
    let number = 0n;
    for (let word = 0n; word < words; word += 1n) number = (number << 64n) | bits(1, source);
    if (number < scale * total) return number / scale;
  }
}

/** Draw so many of 0 … size − 1, every choice equally likely; return them rising. */
export function pick(size, count, source = SYSTEM) {
  let number = below(choices(size, count), source);
  const found = [];
  for (let at = 0; at < size; at += 1) {
    const holding = choices(size - at - 1, count - found.length - 1);
    if (number < holding) found.push(at);
    else number -= holding;
  }
  return found;
}

/** Return in how many ways so many of a number can be chosen. */
function choices(size, count) {
  if (count < 0) return 0n;
  let ways = 1n;
  for (let at = 0; at < count; at += 1) ways = (ways * BigInt(size - at)) / BigInt(at + 1);
  return ways;
}

/** Draw an event that has exactly this probability, a `Fraction`, whatever its denominator. */
export function happens(probability, source = SYSTEM) {
  let rest = probability.top;
  for (;;) {
    const digit = (rest << 64n) / probability.bottom;
    rest = (rest << 64n) % probability.bottom;
    const word = bits(1, source);
    if (word !== digit || rest === 0n) return word < digit;
  }
}

/** Return a place in a list of running sums, place i with probability (sums[i] − sums[i − 1]) over the last sum. */
export function choose(sums, source = SYSTEM) {
  const total = sums[sums.length - 1];
  let number = 0n;
  let shift = 0n;
  for (;;) {
    number = (number << 64n) | bits(1, source);
    shift += 64n;
    const at = firstAbove(sums, (number * total) >> shift);
    if (sums[at] << shift >= (number + 1n) * total) return at;
  }
}

/** Return the first place whose running sum is greater than a position. */
export function firstAbove(sums, position) {
  return sums.findIndex((sum) => sum > position);
}

/** Return the running sums of whole weights. */
export function running(weights) {
  let sum = 0n;
  return weights.map((weight) => (sum += weight));
}
