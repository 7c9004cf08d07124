/** Sets within sets: the categories are dealt to levels, and bit (l − 1)·k + j says whether j has level l or a higher one. */
import { below, firstAbove, running } from "./chance.js";
import { Fraction, ZERO, comb, largestRatio } from "./fraction.js";
import { count, every, setOf } from "./sets.js";
import { check, invalid, list, lowest, size, weight } from "./wire.js";

const MOST_LEVELS = 64;

/** A mixture of patterns: first the pattern, which does not look at the answer, then the order of the categories. */
export class Patterns {
  kind = "patterns";

  constructor(size, total, parts) {
    const levels = BigInt(parts[0]?.levels.length ?? 0);
    if (levels < 2n || levels > MOST_LEVELS) throw invalid("a pattern with too few or too many levels.");
    Object.assign(this, { size, total, parts, answers: size, responses: 1n << ((levels - 1n) * size) });
    this.sums = running(parts.map((part) => part.weight));
    const shapes = parts.map(({ levels: each }) => each.map(({ categories }) => categories));
    const rising = shapes.every((shape, at) => at === 0 || isBelow(shapes[at - 1], shape));
    if (!rising || this.sums.at(-1) !== total || parts.some((part) => part.weight < 1n)) {
      throw invalid("the patterns do not rise, or their weights do not add up.");
    }
    for (const part of parts) {
      const present = part.levels.filter(({ categories }) => categories);
      part.sums = running(part.levels.map((level) => level.categories * level.weight));
      const fits = BigInt(part.levels.length) === levels && sum(part.levels.map((level) => level.categories)) === size;
      const climbs = present.every((level, at) => at === 0 || level.weight > present[at - 1].weight);
      const empty = part.levels.every((level) => level.categories || !level.weight);
      if (!fits || !climbs || !empty || !part.sums.at(-1)) throw invalid("the weights of a pattern do not rise.");
    }
    const most = parts.map((part) => size - part.levels[0].categories).reduce((one, two) => (one > two ? one : two));
    this.steps = most < size ? most : size - 1n;
  }

  static read(body) {
    check(body, "kind", "size", "total", "parts");
    const parts = list(body.parts).map((part) => {
      check(part, "weight", "levels");
      const levels = list(part.levels).map((level) => {
        check(level, "categories", "weight");
        return { categories: size(level.categories), weight: weight(level.weight) };
      });
      lowest(levels.map((level) => level.weight));
      return { weight: weight(part.weight), levels };
    });
    lowest(parts.map((part) => part.weight));
    return new Patterns(size(body.size), weight(body.total), parts);
  }

  /** Return the level of each category in a response and its pattern; nothing where it is never sent. */
  dealt(response) {
    if (response < 0n || response >= this.responses) return null;
    const top = this.parts[0].levels.length - 1;
    const sets = Array.from({ length: top }, (_, at) => (response >> (BigInt(at) * this.size)) & every(this.size));
    if (!sets.every((set, at) => at === 0 || (set & ~sets[at - 1]) === 0n)) return null;
    const reached = [this.size, ...sets.map(count), 0n];
    const part = this.parts.find(({ levels }) =>
      levels.every(({ categories }, at) => categories === reached[at] - reached[at + 1]),
    );
    return part ? { part, sets } : null;
  }

  possible(response) {
    return this.dealt(response) !== null;
  }

  probability(response, given) {
    const dealt = this.dealt(response);
    if (dealt === null) return ZERO;
    const { part, sets } = dealt;
    const own = part.levels[sets.filter((set) => (set >> given) & 1n).length];
    let [left, orders] = [this.size, 1n];
    for (const { categories } of part.levels) {
      orders *= comb(left, categories);
      left -= categories;
    }
    return new Fraction(part.weight * own.weight * this.size, this.total * part.sums.at(-1) * orders);
  }

  get parity() {
    const present = this.parts.map(({ levels }) => levels.filter(({ categories }) => categories));
    return largestRatio(present.map((levels) => [levels.at(-1).weight, levels[0].weight]));
  }

  draw(given, source) {
    const { levels, sums } = this.parts[firstAbove(this.sums, below(this.total, source))];
    const own = firstAbove(sums, below(sums.at(-1), source));
    const order = Array.from({ length: Number(this.size) - 1 }, (_, at) => BigInt(at));
    for (let step = 0; step < Number(this.steps); step += 1) {
      const pick = step + Number(below(this.size - 1n - BigInt(step), source));
      [order[step], order[pick]] = [order[pick], order[step]];
    }
    let [response, start, members] = [0n, 0, []];
    for (let level = levels.length - 1; level > 0; level -= 1) {
      const end = start + Number(levels[level].categories) - Number(level === own);
      members = members.concat(order.slice(start, end).map((other) => (other < given ? other : other + 1n)));
      if (level === own) members.push(given);
      start = end;
      response |= setOf(members, this.size) << (BigInt(level - 1) * this.size);
    }
    return response;
  }
}

const sum = (numbers) => numbers.reduce((one, two) => one + two, 0n);

/** Whether the first of two lists comes before the second one. */
function isBelow(first, second) {
  const at = first.findIndex((number, place) => number !== second[place]);
  return at >= 0 && first[at] < second[at];
}
