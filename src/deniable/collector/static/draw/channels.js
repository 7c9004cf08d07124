/**
 * P(response | answer) in whole numbers, a class for each kind. Answers and responses are numbers, counted from 0.
 *
 * Each has `answers`, `responses`, `draw(given, source)`, which takes exactly the bytes that docs/draws.md says,
 * `probability(response, given)`, a `Fraction`, `possible(response)`, and `parity`: the largest ratio of the
 * probabilities of one response given two answers, a `Fraction`, or null where it is infinite.
 */
import { below, firstAbove, running } from "./chance.js";
import { Fraction, ONE, largestRatio } from "./fraction.js";
import { join, split } from "./labels.js";
import { Patterns } from "./patterns.js";
import { Bits, Mixture, Subset } from "./sets.js";
import { check, invalid, list, lowest, object, size, unreadable, weight } from "./wire.js";

const MOST_VALUES = 1n << 31n; // of a hash

/** For each power of a prime, the prime and the polynomial modulo which products are taken, a number in its base. */
const POWERS = {
  4: [2n, 7n], 8: [2n, 11n], 16: [2n, 19n], 32: [2n, 37n], 64: [2n, 67n], 128: [2n, 131n], 256: [2n, 283n],
  9: [3n, 10n], 27: [3n, 34n], 81: [3n, 86n], 243: [3n, 250n], 25: [5n, 27n], 125: [5n, 131n],
  49: [7n, 50n], 121: [11n, 122n], 169: [13n, 171n],
};

/** Channels of which all responses can be sent. */
class Channel {
  possible(response) {
    return response >= 0n && response < this.responses;
  }
}

/** Weights written out: a row for each response, a column for each answer; every column adds up to `total`. */
export class Dense extends Channel {
  kind = "dense";

  constructor(weights, total) {
    super();
    const [answers, responses] = [BigInt(weights[0]?.length ?? 0), BigInt(weights.length)];
    Object.assign(this, { weights, total, answers, responses });
    if (answers < 2n || responses < 2n || weights.some((row) => BigInt(row.length) !== answers)) {
      throw invalid("a table with fewer than 2 rows or columns, or with rows of different lengths.");
    }
    this.sums = weights[0].map((_, given) => running(weights.map((row) => row[given])));
    if (this.sums.some((column) => column.at(-1) !== total)) throw invalid("the weights of a column do not add up.");
    lowest([total, ...weights.flat()]);
  }

  static read(body) {
    check(body, "kind", "total", "weights");
    return new Dense(list(body.weights).map((row) => list(row).map(weight)), weight(body.total));
  }

  draw(given, source) {
    return BigInt(firstAbove(this.sums[given], below(this.total, source)));
  }

  probability(response, given) {
    return new Fraction(this.weights[response][given], this.total);
  }

  get parity() {
    return largestRatio(this.weights.map((row) => [row.reduce(larger), row.reduce(smaller)]));
  }
}

/** The answer itself with weight `same`, each of the others with weight `other`. */
export class Diagonal extends Channel {
  kind = "diagonal";

  constructor(size, same, other) {
    super();
    Object.assign(this, { size, same, other, answers: size, responses: size, total: same + (size - 1n) * other });
    if (size < 2n || other < 1n) throw invalid("a diagonal channel with fewer than 2 categories, or nothing beside.");
  }

  static read(body) {
    check(body, "kind", "size", "same", "other");
    lowest([weight(body.same), weight(body.other)]);
    return new Diagonal(size(body.size), weight(body.same), weight(body.other));
  }

  draw(given, source) {
    return other(below(this.total, source) / this.other, given, this.size);
  }

  probability(response, given) {
    return new Fraction(response === given ? this.same : this.other, this.total);
  }

  get parity() {
    return largestRatio([[this.same, this.other]]);
  }
}

/** Several channels side by side; numbers count in mixed radix, the last factor fastest. */
export class Product extends Channel {
  kind = "product";

  constructor(factors) {
    super();
    this.factors = factors;
    if (factors.length < 2) throw invalid("a product of fewer than 2 channels.");
    this.answers = this.sizes("answers").reduce((one, two) => one * two);
    this.responses = this.sizes("responses").reduce((one, two) => one * two);
  }

  static read(body) {
    check(body, "kind", "factors");
    return new Product(list(body.factors).map(readChannel));
  }

  /** Return how many answers, or responses, each factor has. */
  sizes(what) {
    return this.factors.map((factor) => factor[what]);
  }

  draw(given, source) {
    const answers = split(given, this.sizes("answers"));
    return join(this.factors.map((factor, place) => factor.draw(answers[place], source)), this.sizes("responses"));
  }

  probability(response, given) {
    const [sent, answers] = [split(response, this.sizes("responses")), split(given, this.sizes("answers"))];
    const each = this.factors.map((factor, place) => factor.probability(sent[place], answers[place]));
    return each.reduce((one, two) => one.times(two), ONE);
  }

  get parity() {
    const each = this.factors.map((factor) => factor.parity);
    return each.includes(null) ? null : each.reduce((one, two) => one.times(two), ONE);
  }
}

/** Rows of a Hadamard matrix: weight `large` where row and column have an even number of ones in common. */
class Hadamard extends Channel {
  kind = "hadamard";

  constructor(size, large, small) {
    super();
    const half = 1n << BigInt(size.toString(2).length - 1);
    const total = (half - 1n) * large + half * small;
    Object.assign(this, { size, large, small, half, total, answers: size, responses: 2n * half - 1n });
    if (size < 2n || large <= small || small < 1n) throw invalid("a Hadamard channel without its two weights.");
    lowest([large, small]);
  }

  static read(body) {
    check(body, "kind", "size", "large", "small");
    return new Hadamard(size(body.size), weight(body.large), weight(body.small));
  }

  draw(given, source) {
    const position = below(this.total, source);
    const edge = (this.half - 1n) * this.large;
    if (position < edge) return rowOf(position / this.large + 1n, given + 1n, false) - 1n;
    return rowOf((position - edge) / this.small, given + 1n, true) - 1n;
  }

  probability(response, given) {
    return new Fraction(odd((response + 1n) & (given + 1n)) ? this.small : this.large, this.total);
  }

  get parity() {
    return largestRatio([[this.large, this.small]]);
  }
}

/** A public hash drawn at random, and the hashed answer with weight `same`, every other value with `other`. */
class Hashing extends Channel {
  kind = "hashing";

  constructor(size, values, same, other) {
    super();
    let power = values;
    while (power < size) power *= values;
    const hashes = (power - 1n) / (values - 1n);
    const each = same + (values - 1n) * other;
    Object.assign(this, { size, values, same, other, each, answers: size });
    Object.assign(this, { total: hashes * each, responses: hashes * values });
    if (size < 2n || same <= other || other < 1n) throw invalid("a hashing channel without its two weights.");
    lowest([same, other]);
  }

  static read(body) {
    check(body, "kind", "size", "values", "same", "other");
    const values = size(body.values);
    if (!Object.hasOwn(POWERS, values) && !isPrime(values)) {
      throw invalid("the number of hash values is not a prime below 2^31, and no power of one up to 256.");
    }
    return new Hashing(size(body.size), values, weight(body.same), weight(body.other));
  }

  draw(given, source) {
    const position = below(this.total, source);
    const number = position / this.each;
    return number * this.values + other((position % this.each) / this.other, this.hashed(number, given), this.values);
  }

  probability(response, given) {
    const hit = this.hashed(response / this.values, given) === response % this.values;
    return new Fraction(hit ? this.same : this.other, this.total);
  }

  get parity() {
    return largestRatio([[this.same, this.other]]);
  }

  /** Return the value of an answer under a hash. */
  hashed(number, answer) {
    let [start, power] = [0n, 1n];
    while (number >= start + power) [start, power] = [start + power, power * this.values];
    let value = 0n;
    for (let form = number - start + power; form && answer; form /= this.values, answer /= this.values) {
      value = plus(value, times(form % this.values, answer % this.values, this.values), this.values);
    }
    return value;
  }
}

const KINDS = {
  bits: Bits,
  dense: Dense,
  diagonal: Diagonal,
  hadamard: Hadamard,
  hashing: Hashing,
  mixture: Mixture,
  patterns: Patterns,
  product: Product,
  subset: Subset,
};

/** Read a channel of any kind from a file. */
export function readChannel(body) {
  const { kind } = object(body);
  if (!Object.hasOwn(KINDS, kind)) {
    throw unreadable(`the channel is of a kind not known here; expected one of ${Object.keys(KINDS).join(", ")}.`);
  }
  return KINDS[kind].read(body);
}

const larger = (one, two) => (one > two ? one : two);
const smaller = (one, two) => (one < two ? one : two);

/** Return the number-th of all numbers but `own`, or `own` where the number is past them all. */
function other(number, own, size) {
  if (number >= size - 1n) return own;
  return number < own ? number : number + 1n;
}

/** Return the number-th row, from 0, that has an even (odd) number of ones in common with a column. */
function rowOf(number, column, wanted) {
  const bit = column & -column;
  const row = ((number & -bit) << 1n) | (number & (bit - 1n));
  return odd(row & column) === wanted ? row : row | bit;
}

function odd(number) {
  return number.toString(2).replaceAll("0", "").length % 2 === 1;
}

/** Return the sum of two elements of the field of q values: digit by digit in base p, where q is a power of p. */
function plus(one, two, q) {
  const [p] = POWERS[q] ?? [q];
  let sum = 0n;
  for (let place = 1n; one || two; one /= p, two /= p, place *= p) sum += ((one + two) % p) * place;
  return sum;
}

/** Return the product of two elements of the field of q values. */
function times(one, two, q) {
  const [p, polynomial] = POWERS[q] ?? [q, 0n];
  if (!polynomial) return (one * two) % q;
  let product = 0n;
  for (; one; one /= p) {
    product = plus(product, scaled(two, one % p, p), q);
    two = plus(two * p, scaled(polynomial, p - (two * p) / q, p), q);
  }
  return product;
}

/** Multiply each digit of an element by a digit. */
function scaled(element, digit, p) {
  let product = 0n;
  for (let place = 1n; element; element /= p, place *= p) product += ((element * digit) % p) * place;
  return product;
}

function isPrime(number) {
  if (number < 2n || number >= MOST_VALUES) return false;
  const small = Number(number);
  for (let divisor = 2; divisor * divisor <= small; divisor += 1) if (small % divisor === 0) return false;
  return true;
}
