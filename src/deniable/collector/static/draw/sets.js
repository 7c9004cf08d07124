/**
 * Channels whose responses are sets of categories: bit j of the number says whether category j is in the set.
 *
 * Beside what every channel has, each tells the `sizes` of the sets that can be sent, how often a size is sent
 * (`weight`) and how often a set of it then holds the answer (`inclusion`), which is all there is to know.
 */
import { below, bits, firstAbove, happens, running } from "./chance.js";
import { Fraction, ONE, ZERO, comb, largestRatio } from "./fraction.js";
import { check, invalid, list, lowest, size, unreadable, weight } from "./wire.js";

const DIGITS = 8n; // of a probability, that are decided for all bits at once
const MOST_CATEGORIES = 1n << 24n;

/** A channel from categories to sets of them. */
export class Sets {
  constructor(size, total) {
    Object.assign(this, { size, total, answers: size, responses: 1n << size });
    if (size < 2n || size > MOST_CATEGORIES) throw invalid("the number of categories is not from 2 to 2^24.");
    if (total < 1n) throw invalid("the weights add up to 0.");
  }

  possible(response) {
    return response >= 0n && response < this.responses && this.sizes.includes(count(response));
  }

  /** Return the probability of one single set, given an answer inside or outside of it. */
  level(ones, inside) {
    const own = this.inclusion(ones);
    const sets = comb(this.size - 1n, inside ? ones - 1n : ones);
    return this.weight(ones).times(inside ? own : own.rest).over(new Fraction(sets));
  }

  probability(response, given) {
    return this.possible(response) ? this.level(count(response), holds(response, given)) : ZERO;
  }
}

/** Sets of one size, `ones`; the answer is in with weight `inside` of `total`, the rest is even. */
export class Subset extends Sets {
  kind = "subset";

  constructor(size, ones, inside, total) {
    super(size, total);
    Object.assign(this, { ones, inside, sizes: [ones] });
    if (ones < 1n || ones >= size || inside > total) throw invalid("sets of no size, or an answer in them too often.");
  }

  static read(body) {
    check(body, "kind", "size", "ones", "inside", "total");
    const [inside, total] = [weight(body.inside), weight(body.total)];
    lowest([inside, total]);
    return new Subset(size(body.size), size(body.ones), inside, total);
  }

  weight() {
    return ONE;
  }

  inclusion() {
    return new Fraction(this.inside, this.total);
  }

  get parity() {
    return largestRatio([oddsOf(this, this)]);
  }

  draw(given, source) {
    const inside = below(this.total, source) < this.inside;
    return fill(this.size, this.ones, given, source, inside, fewer(this.ones, this.size));
  }
}

/** Sets of several sizes: first the size, which does not look at the answer, then the set. */
export class Mixture extends Sets {
  kind = "mixture";

  constructor(size, total, parts) {
    super(size, total);
    this.parts = parts;
    this.sizes = parts.map((part) => part.ones);
    this.sums = running(parts.map((part) => part.weight));
    const rising = parts.every((part, at) => part.ones <= size && (at === 0 || part.ones > parts[at - 1].ones));
    if (!rising || this.sums.at(-1) !== total || parts.some((part) => part.weight < 1n)) {
      throw invalid("the sizes of sets do not rise, or their weights do not add up.");
    }
    if (!parts.every(({ ones, inside }) => inside <= (ones ? total : 0n) && (ones < size || inside === total))) {
      throw invalid("an answer is in a set more or less often than there is room for.");
    }
    this.steps = parts.map((part) => fewer(part.ones, size)).reduce((one, two) => (one > two ? one : two));
  }

  static read(body) {
    check(body, "kind", "size", "total", "parts");
    const parts = list(body.parts).map((part) => {
      check(part, "ones", "weight", "inside");
      return { ones: size(part.ones), weight: weight(part.weight), inside: weight(part.inside) };
    });
    lowest([weight(body.total), ...parts.flatMap((part) => [part.weight, part.inside])]);
    return new Mixture(size(body.size), weight(body.total), parts);
  }

  weight(ones) {
    return new Fraction(this.parts[this.sizes.indexOf(ones)].weight, this.total);
  }

  inclusion(ones) {
    return new Fraction(this.parts[this.sizes.indexOf(ones)].inside, this.total);
  }

  get parity() {
    return largestRatio(this.parts.filter(({ ones }) => ones && ones < this.size).map((part) => oddsOf(part, this)));
  }

  draw(given, source) {
    const part = this.parts[firstAbove(this.sums, below(this.total, source))];
    const inside = below(this.total, source) < part.inside;
    return fill(this.size, part.ones, given, source, inside, this.steps);
  }
}

/** Independent bits: the answer's own is 1 with weight `hit` of `total`, every other one with weight `stray`. */
export class Bits extends Sets {
  kind = "bits";

  constructor(size, hit, stray, total) {
    super(size, total);
    Object.assign(this, { hit, stray });
    if (hit > total || stray > total) throw invalid("a bit is 1 more often than always.");
  }

  get sizes() {
    const others = this.size - 1n;
    const fewest = others * BigInt(this.stray === this.total) + BigInt(this.hit === this.total);
    const most = others * BigInt(this.stray > 0n) + BigInt(this.hit > 0n);
    return Array.from({ length: Number(most - fewest) + 1 }, (_, at) => fewest + BigInt(at));
  }

  static read(body) {
    check(body, "kind", "size", "hit", "stray", "total", "tally");
    if (!["by size", "by category"].includes(body.tally)) throw unreadable("the tally is of no kind known here.");
    lowest([weight(body.hit), weight(body.stray), weight(body.total)]);
    return new Bits(size(body.size), weight(body.hit), weight(body.stray), weight(body.total));
  }

  level(ones, inside) {
    const strays = ones - BigInt(inside);
    const others = this.stray ** strays * (this.total - this.stray) ** (this.size - 1n - strays);
    return new Fraction((inside ? this.hit : this.total - this.hit) * others, this.total ** this.size);
  }

  weight(ones) {
    const inside = ones ? this.level(ones, true).times(new Fraction(comb(this.size - 1n, ones - 1n))) : ZERO;
    const outside = ones < this.size ? this.level(ones, false).times(new Fraction(comb(this.size - 1n, ones))) : ZERO;
    return inside.plus(outside);
  }

  inclusion(ones) {
    if (ones === 0n) return ZERO;
    if (ones === this.size) return ONE;
    const inside = ones * this.hit * (this.total - this.stray);
    const sent = inside + (this.size - ones) * this.stray * (this.total - this.hit);
    return sent ? new Fraction(inside, sent) : new Fraction(ones, this.size);
  }

  get parity() {
    return largestRatio([[this.hit * (this.total - this.stray), (this.total - this.hit) * this.stray]]);
  }

  draw(given, source) {
    const own = 1n << given;
    const classes = [[own, this.hit], [every(this.size) & ~own, this.stray]].map(([mask, top]) => {
      const { head, rest } = digits({ top, bottom: this.total });
      return { mask, head, one: () => below(this.total, source) < rest.top };
    });
    return toss(this.size, classes, source);
  }
}

/**
 * Draw independent bits. A class names some of them by a `mask`, the first binary digits of their probability (`head`)
 * and how a bit is decided (`one`) that eight coins have left open.
 */
export function toss(size, classes, source) {
  const words = Number((size + 63n) / 64n);
  let [drawn, open] = [0n, every(size)];
  for (let place = DIGITS - 1n; place >= 0n; place -= 1n) {
    const now = bits(words, source) & open;
    open ^= now;
    for (const { mask, head } of classes) if ((head >> place) & 1n) drawn |= now & mask;
  }
  while (open) {
    const lowestBit = open & -open;
    if (classes.find(({ mask }) => mask & lowestBit).one()) drawn |= lowestBit;
    open ^= lowestBit;
  }
  return drawn;
}

/** Draw independent bits of which a class names some by a mask, with a probability of any denominator. */
export function tossed(size, classes, source) {
  const decided = classes.map(([mask, probability]) => {
    const { head, rest } = digits(probability);
    return { mask, head, one: () => happens(rest, source) };
  });
  return toss(size, decided, source);
}

/** Return the first eight binary digits of top/bottom as one number, and what is left, from 0 to 1. */
export function digits({ top, bottom }) {
  const scaled = top << DIGITS;
  const head = top < bottom ? scaled / bottom : every(DIGITS); // 1 is 0.1111… here, not 1.0000…
  return { head, rest: { top: scaled - head * bottom, bottom } };
}

/** Return the set of all categories. */
export function every(size) {
  return (1n << size) - 1n;
}

/** Return how many categories a set holds. */
export function count(set) {
  return BigInt(set.toString(2).replaceAll("0", "").length);
}

/** Whether a set holds a category. */
export function holds(set, category) {
  return ((set >> category) & 1n) === 1n;
}

/** Return the number of a set from a list of its members. */
export function setOf(members, size) {
  const flags = new Uint8Array(Number(size));
  for (const member of members) flags[flags.length - 1 - Number(member)] = 1;
  return BigInt(`0b${flags.join("")}`);
}

/** Return a set of `ones` categories that holds the answer or not; the others in it are drawn evenly. */
function fill(size, ones, given, source, inside, steps) {
  const leftOut = ones > size - ones;
  const own = inside !== leftOut;
  const wanted = fewer(ones, size) - BigInt(own);
  const drawn = new Set();
  for (let at = size - 1n - steps; at < size - 1n; at += 1n) {
    const pick = below(at + 1n, source); // also where it is passed over: how many words are taken tells nothing
    if (at >= size - 1n - wanted) drawn.add(drawn.has(pick) ? at : pick);
  }
  const members = Array.from(drawn, (each) => (each < given ? each : each + 1n));
  const set = setOf(own ? [...members, given] : members, size);
  return leftOut ? set ^ every(size) : set;
}

/** Return how likely a set of one size is given an answer in it, against one outside, as a pair of whole numbers. */
function oddsOf({ ones, inside }, { size, total }) {
  return [inside * (size - ones), (total - inside) * ones];
}

function fewer(ones, size) {
  return ones < size - ones ? ones : size - ones;
}
