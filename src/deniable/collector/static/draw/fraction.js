/** Exact fractions, for the probabilities of gradual release. */

/** A fraction in lowest terms; `bottom` is positive. */
export class Fraction {
  constructor(top, bottom = 1n) {
    if (bottom === 0n) throw new RangeError("a fraction with the denominator 0");
    const common = gcd(top, bottom) * (bottom < 0n ? -1n : 1n);
    this.top = top / common;
    this.bottom = bottom / common;
  }

  plus(other) {
    return new Fraction(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom);
  }

  minus(other) {
    return this.plus(new Fraction(-other.top, other.bottom));
  }

  times(other) {
    return new Fraction(this.top * other.top, this.bottom * other.bottom);
  }

  over(other) {
    return new Fraction(this.top * other.bottom, this.bottom * other.top);
  }

  /** Return what is missing to 1. */
  get rest() {
    return ONE.minus(this);
  }

  /** Return a negative number, 0 or a positive one, as this fraction is smaller, equal or larger. */
  compare(other) {
    const gap = this.top * other.bottom - other.top * this.bottom;
    return gap < 0n ? -1 : Number(gap > 0n);
  }

  /** Return the larger one of this ratio and its inverse; null where that is infinite. */
  get eitherWay() {
    if (this.isZero) return null;
    return this.top < this.bottom ? new Fraction(this.bottom, this.top) : this;
  }

  /** Return the natural logarithm, to about 15 digits. */
  get log() {
    return logOf(this.top) - logOf(this.bottom);
  }

  equals(other) {
    return this.compare(other) === 0;
  }

  get isZero() {
    return this.top === 0n;
  }

  /** Whether it is a probability, from 0 to 1. */
  get isChance() {
    return this.top >= 0n && this.top <= this.bottom;
  }
}

export const ZERO = new Fraction(0n);
export const ONE = new Fraction(1n);

/** Return the sum of fractions. */
export function sum(fractions) {
  return fractions.reduce((one, two) => one.plus(two), ZERO);
}

/** Return whole weights with the proportions of fractions. */
export function weightsOf(fractions) {
  const common = fractions.reduce((so, each) => (so / gcd(so, each.bottom)) * each.bottom, 1n);
  return fractions.map((each) => (each.top * common) / each.bottom);
}

/** Return the greatest common divisor. */
export function gcd(one, two) {
  while (two) [one, two] = [two, one % two];
  return one < 0n ? -one : one;
}

/** Return how many sets of `some` out of `all` there are. */
export function comb(all, some) {
  let found = 1n;
  for (let at = 1n; at <= some; at += 1n) found = (found * (all - some + at)) / at;
  return found;
}

/** Return the larger one of each ratio, above and below of which are given; null where one is infinite. */
export function largestRatio(pairs) {
  let largest = ONE;
  for (const [above, below] of pairs) {
    if (above === 0n && below === 0n) continue;
    const ratio = below === 0n ? null : new Fraction(above, below).eitherWay;
    if (ratio === null) return null;
    if (ratio.compare(largest) > 0) largest = ratio;
  }
  return largest;
}

const SHOWN = 15; // hexadecimal digits that a double holds

function logOf(number) {
  const digits = number.toString(16);
  const first = digits.slice(0, SHOWN);
  return Math.log(Number(`0x${first}`)) + (digits.length - first.length) * Math.log(16);
}
