/** A text as bits of a Bloom filter, other ones in each cohort, each of which is turned around by chance. */
import { below } from "./chance.js";
import { Fraction } from "./fraction.js";
import { bytes } from "./labels.js";
import { Bits, every, tossed } from "./sets.js";
import { check, invalid, list, size, string } from "./wire.js";

const MOST_BYTES = 200; // of a text
const WORD = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;
const MIXES = [[30n, 0xbf58476d1ce4e5b9n], [27n, 0x94d049bb133111ebn]];
const LARGEST = { bits: 1n << 20n, hashes: 16n, cohorts: 1n << 20n };

/** Texts, as categories: the number of one is a one before its bytes in Unicode's NFC and UTF-8. */
class Texts {
  size = 1n << BigInt(8 * MOST_BYTES + 1);

  at(number) {
    const digits = number.toString(16).slice(1);
    return new TextDecoder().decode(Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
  }

  find(text) {
    if (typeof text !== "string" || !text || /\p{Surrogate}/u.test(text)) return null;
    const plain = text.normalize("NFC");
    if (bytes(plain) > MOST_BYTES) return null;
    return new TextEncoder().encode(plain).reduce((number, byte) => (number << 8n) | BigInt(byte), 1n);
  }
}

/** Responses: the cohort and the bits, "17 b0110…". */
class CohortBits {
  constructor(cohorts, bits) {
    Object.assign(this, { bits, size: cohorts << bits });
  }

  at(number) {
    const marks = (number & ((1n << this.bits) - 1n)).toString(2).padStart(Number(this.bits), "0");
    return `${number >> this.bits} b${[...marks].reverse().join("")}`;
  }
}

/** The response to the number of a text: a cohort is drawn, then each bit. */
class Filter {
  kind = "filter";

  constructor(bloom, channel, texts) {
    Object.assign(this, { bloom, channel, texts, answers: texts.size, responses: bloom.cohorts << bloom.bits });
  }

  draw(given, source) {
    const cohort = below(this.bloom.cohorts, source);
    const truth = filterOf(this.bloom, this.texts.at(given), cohort);
    const { size, hit, stray, total } = this.channel;
    const classes = [[truth, new Fraction(hit, total)], [every(size) & ~truth, new Fraction(stray, total)]];
    return (cohort << size) | tossed(size, classes, source);
  }

  /** Two texts differ in at most so many bits one way and the other as there are hashes. */
  get parity() {
    const { hit, stray, total } = this.channel;
    const [ones, zeros] = [[hit, stray], [total - stray, total - hit]];
    if (ones[1] === 0n || zeros[1] === 0n) return null;
    const { bits, hashes } = this.bloom;
    let largest = null;
    for (let one = 1n; one <= hashes && one < bits; one += 1n) {
      const zero = hashes < bits - one ? hashes : bits - one;
      const ratio = new Fraction(ones[0] ** one * zeros[0] ** zero, ones[1] ** one * zeros[1] ** zero);
      if (largest === null || ratio.compare(largest) > 0) largest = ratio;
    }
    return largest;
  }

  called(symbol) {
    return symbol;
  }
}

/** Read a design. */
export function read(body) {
  check(body, "bloom", "channel");
  const bloom = bloomOf(body.bloom);
  const channel = Bits.read(body.channel);
  if (channel.size !== bloom.bits) throw invalid("the channel does not have the filter's bits.");
  if (!(channel.stray > 0n && channel.stray < channel.hit)) throw invalid("a true 1 is not sent as 1 more often.");
  const texts = new Texts();
  const symbols = new CohortBits(bloom.cohorts, bloom.bits);
  return { name: "strings", categories: texts, symbols, channel: new Filter(bloom, channel, texts), attributes: [], parts: [] };
}

function bloomOf(body) {
  const more = Object.hasOwn(body ?? {}, "alphabet") ? ["alphabet", "lengths"] : [];
  check(body, "hash", "bits", "hashes", "cohorts", ...more);
  if (body.hash !== "blake2b+splitmix64") throw invalid("the hash is not known here.");
  const sizes = Object.fromEntries(Object.keys(LARGEST).map((name) => [name, size(body[name])]));
  for (const [name, largest] of Object.entries(LARGEST)) {
    if (sizes[name] < 1n || sizes[name] > largest) throw invalid(`the number of ${name} is out of range.`);
  }
  if (more.length) string(body.alphabet);
  const lengths = more.length ? list(body.lengths).map((length) => Number(size(length))) : [];
  return { ...sizes, lengths };
}

/** Return the bits of a text in a cohort: of all of it, or of its first letters where the cohort is one of a prefix. */
function filterOf({ bits, hashes, cohorts, lengths }, text, cohort) {
  const level = Number(cohort / (cohorts / BigInt(lengths.length + 1)));
  const part = level < lengths.length ? [...text].slice(0, lengths[level]).join("").normalize("NFC") : text;
  const seed = seedOf(new TextEncoder().encode(part));
  let found = 0n;
  for (let hash = 0n; hash < hashes; hash += 1n) {
    found |= 1n << (((splitmix(seed, cohort * hashes + hash) >> 32n) * bits) >> 32n);
  }
  return found;
}

/** Return a word of SplitMix64, counted from 0. */
function splitmix(seed, number) {
  let word = (seed + (number + 1n) * GOLDEN) & WORD;
  for (const [shift, factor] of MIXES) word = ((word ^ (word >> shift)) * factor) & WORD;
  return word ^ (word >> 31n);
}

const START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => [...row].map((place) => parseInt(place, 16)));
const COLUMNS = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];
const BLOCK = 128; // bytes that BLAKE2b takes at a time

/** Return the first 8 bytes, little-endian, of the BLAKE2b of 64 bytes (RFC 7693). */
function seedOf(content) {
  let state = START.slice();
  state[0] ^= 0x01010040n; // 64 bytes, no key
  const blocks = Math.max(1, Math.ceil(content.length / BLOCK));
  for (let at = 0; at < blocks; at += 1) {
    const block = new Uint8Array(BLOCK);
    block.set(content.subarray(at * BLOCK, (at + 1) * BLOCK));
    state = compressed(state, block, BigInt(Math.min(content.length, (at + 1) * BLOCK)), at === blocks - 1);
  }
  return state[0];
}

function compressed(state, block, count, last) {
  const view = new DataView(block.buffer);
  const words = Array.from({ length: 16 }, (_, at) => view.getBigUint64(8 * at, true));
  const v = [...state, ...START];
  v[12] ^= count;
  if (last) v[14] ^= WORD;
  for (let round = 0; round < 12; round += 1) {
    const order = ORDER[round % 10];
    COLUMNS.forEach((places, at) => mix(v, places, words[order[2 * at]], words[order[2 * at + 1]]));
  }
  return state.map((word, at) => word ^ v[at] ^ v[at + 8]);
}

function mix(v, [a, b, c, d], one, two) {
  v[a] = (v[a] + v[b] + one) & WORD;
  v[d] = turned(v[d] ^ v[a], 32n);
  v[c] = (v[c] + v[d]) & WORD;
  v[b] = turned(v[b] ^ v[c], 24n);
  v[a] = (v[a] + v[b] + two) & WORD;
  v[d] = turned(v[d] ^ v[a], 16n);
  v[c] = (v[c] + v[d]) & WORD;
  v[b] = turned(v[b] ^ v[c], 63n);
}

const turned = (word, by) => ((word >> by) | (word << (64n - by))) & WORD;
