/** Items that people have, each with a weight: a scheme turns all of somebody's items into one response. */
import { below, bits, happens } from "./chance.js";
import { Dense } from "./channels.js";
import { Fraction, ONE, largestRatio } from "./fraction.js";
import { Combined, join, readLabels, split } from "./labels.js";
import { readNumber } from "./numbers.js";
import { check, invalid, list, size, string, weight } from "./wire.js";

const MARKS = "0+-"; // no edge, an edge of +1, an edge of −1
const NONE = "none"; // the first level of each item: whoever does not have it
const [FEWEST, MOST, EVENLY] = [4n, 10n, 4n]; // steps of a scale in whole numbers; and of any other scale
const MOST_ITEMS = 1 << 20;

/** The response to a level of each item, the last item fastest. A scheme draws with `rows`: weights by item. */
class Items {
  kind = "items";

  constructor(scheme, weights) {
    Object.assign(this, { scheme, weights, sizes: Array(scheme.items).fill(BigInt(weights.length) + 1n) });
    this.answers = this.sizes.reduce((one, two) => one * two, 1n);
  }

  get responses() {
    return this.scheme.responses;
  }

  get parity() {
    return this.scheme.parity;
  }

  possible(response) {
    return response >= 0n && response < this.responses;
  }

  draw(given, source) {
    const levels = split(given, this.sizes).map(Number);
    const row = new Map(levels.flatMap((level, item) => (level ? [[item, this.weights[level - 1]]] : [])));
    return this.scheme.draw(row, source);
  }

  /** Return what a response is called: the items that it names, in their own words, each with its mark. */
  called(symbol, { attributes }, { parts }) {
    const named = this.scheme.marked(symbol, attributes).map(([item, mark]) => `${parts[item].text}: ${mark}`);
    return named.join(", ") || symbol;
  }
}

/** An item is drawn evenly, and its symbol sent along with its name. */
class Index {
  constructor(items, body) {
    check(body, "kind", "symbol");
    Object.assign(this, { items, symbol: symbolOf(body), marks: MARKS });
    if (this.symbol.responses === 2n) this.marks = MARKS.slice(1);
    this.responses = BigInt(items) * this.symbol.responses;
  }

  get parity() {
    return this.symbol.parity;
  }

  draw(row, source) {
    const item = below(BigInt(this.items), source);
    return item * this.symbol.responses + this.symbol.draw(rounded(row.get(Number(item)), source), source);
  }

  symbols(names) {
    return readLabels(names.flatMap((name) => [...this.marks].map((mark) => `${mark} ${name}`)));
  }

  marked(symbol, names) {
    return [[names.indexOf(symbol.slice(2)), symbol[0]]];
  }
}

/** Somebody's items in ℓ places, one of which is drawn. */
class Padded {
  constructor(items, padding) {
    Object.assign(this, { items, padding: Number(padding) });
    if (padding < 1n || padding > BigInt(items)) throw invalid("the padding is not from 1 to the number of items.");
  }

  /** Draw a place, and round the weight of the item in it; null for an empty place. */
  place(row, source) {
    const items = [...row.keys()].sort((one, two) => one - two);
    const slot = Number(below(BigInt(Math.max(items.length, this.padding)), source));
    const item = slot < items.length ? items[slot] : null;
    return [item, rounded(row.get(item), source)];
  }
}

/** A vector with a symbol for every item. */
class Unary extends Padded {
  constructor(items, body) {
    check(body, "kind", "padding", "symbol");
    super(items, size(body.padding));
    this.symbol = symbolOf(body);
    const [[, lost, gone], [stray, same, turned], [other, wrong, right]] = this.symbol.weights;
    const even = lost === gone && stray === other && same === right && turned === wrong;
    if (this.symbol.responses !== 3n || !even) throw invalid("the channel of an item treats + and − differently.");
    this.responses = 3n ** BigInt(items);
  }

  get parity() {
    const [[none, lost], [stray, same, turned]] = this.symbol.weights;
    const [high, low] = same > turned ? [same * none, turned * none] : [turned * none, same * none];
    const total = (value, marked, largest) =>
      extreme([[value, marked], [lost * stray, this.items - marked]], none * stray, this.padding, largest);
    const ends = [0, this.items - this.padding, this.padding, this.items];
    const marked = this.items >= 2 * this.padding ? [this.padding] : ends;
    return largestRatio(marked.map((each) => [total(high, each, true), total(low, each, false)]));
  }

  draw(row, source) {
    const [item, answer] = this.place(row, source);
    let number = 0n;
    for (let at = 0; at < this.items; at += 1) {
      number += this.symbol.draw(at === item ? answer : 0, source) * 3n ** BigInt(at);
    }
    return number;
  }

  symbols() {
    return new Vectors(this.items);
  }

  marked(symbol) {
    return [...symbol].map((mark, item) => [item, mark]).filter(([, mark]) => mark !== MARKS[0]);
  }
}

/** One item with a sign, or nothing. */
class Direct extends Padded {
  constructor(items, body) {
    check(body, "kind", "padding", "same", "turned", "other", "total");
    super(items, size(body.padding));
    for (const name of ["same", "turned", "other", "total"]) this[name] = weight(body[name]);
    const [own, all] = [this.same + this.turned, BigInt(items)];
    this.nothing = this.total - own - 2n * (all - 1n) * this.other;
    this.idle = this.total - 2n * all * this.other;
    if (this.other < 1n || this.nothing < 0n || this.idle < 0n) throw invalid("the weights do not add up.");
    this.responses = 2n * all + 1n;
  }

  get parity() {
    const others = BigInt(this.padding - 1) * this.other;
    const item = [this.other, this.same, this.turned].map((own) => own + others).sort(byValue);
    const nothing = [this.nothing, this.idle].sort(byValue);
    return largestRatio([[item.at(-1), item[0]], [nothing[1], nothing[0]]]);
  }

  draw(row, source) {
    const [item, answer] = this.place(row, source);
    let position = below(this.total, source);
    const none = 2n * BigInt(this.items);
    if (item === null) return position < this.idle ? none : (position - this.idle) / this.other;
    const code = 2n * BigInt(item) + BigInt(answer !== 1);
    if (position < this.same) return code;
    if (position < this.same + this.turned) return code ^ 1n;
    position -= this.same + this.turned;
    if (position < this.nothing) return none;
    const number = (position - this.nothing) / this.other;
    return number < code - (code % 2n) ? number : number + 2n;
  }

  symbols(names) {
    return readLabels([...names.flatMap((name) => [`+ ${name}`, `- ${name}`]), MARKS[0]]);
  }

  marked(symbol, names) {
    return symbol === MARKS[0] ? [] : [[names.indexOf(symbol.slice(2)), symbol[0]]];
  }
}

/** A mark for each item: "0+-". */
class Vectors {
  constructor(items) {
    Object.assign(this, { items, size: 3n ** BigInt(items) });
  }

  at(number) {
    return split(number, Array(this.items).fill(3n)).reverse().map((symbol) => MARKS[symbol]).join("");
  }

  find(label) {
    if (typeof label !== "string" || label.length !== this.items || /[^0+-]/.test(label)) return null;
    return join([...label].reverse().map((mark) => BigInt(MARKS.indexOf(mark))), Array(this.items).fill(3n));
  }
}

const SCHEMES = { index: Index, unary: Unary, direct: Direct };

/** Read a design: its categories are a level for each item. */
export function read(body) {
  check(body, "name", "items", "low", "high", "scheme");
  const items = namesOf(body.items);
  if (!Object.hasOwn(SCHEMES, body.scheme?.kind)) throw invalid("the scheme is of a kind not known here.");
  const [low, high] = [body.low, body.high].map((end) => readNumber(string(end)));
  if (!low || !high || low.compare(high) >= 0) throw invalid("the weights do not rise from low to high.");
  const levels = levelsOf(low, high);
  const half = high.minus(low).over(new Fraction(2n));
  const weights = levels.map((level) => level.minus(low).over(half).minus(ONE)); // from −1 to 1
  const scheme = new SCHEMES[body.scheme.kind](items.length, body.scheme);
  const known = readLabels([NONE, ...levels.map(written)]);
  const parts = items.map(() => ({ categories: known, parts: [], attributes: [] }));
  const channel = new Items(scheme, weights);
  const categories = new Combined(parts.map((part) => part.categories));
  return { name: string(body.name), categories, symbols: scheme.symbols(items), channel, attributes: items, parts };
}

function namesOf(given) {
  const names = typeof given === "number" ? Array.from({ length: Math.min(given, MOST_ITEMS) }, (_, at) => String(at)) : list(given).map(string);
  if (!names.length || new Set(names).size < names.length) throw invalid("expected items, each once.");
  return names;
}

/** Return the levels that somebody chooses from: whole numbers where these are five to eleven, else five evenly spaced. */
function levelsOf(low, high) {
  const whole = low.bottom === 1n && high.bottom === 1n ? high.top - low.top : 0n;
  const steps = whole >= FEWEST && whole <= MOST ? whole : EVENLY;
  const step = high.minus(low).over(new Fraction(steps));
  return Array.from({ length: Number(steps) + 1 }, (_, at) => low.plus(step.times(new Fraction(BigInt(at)))));
}

function written({ top, bottom }) {
  return bottom === 1n ? String(top) : `${top}/${bottom}`;
}

/** Draw +1 with probability (1 + weight)/2, else −1; nothing for no edge, which takes a word all the same. */
function rounded(weight, source) {
  if (weight === undefined) {
    bits(1, source);
    return 0;
  }
  return happens(weight.plus(ONE).over(new Fraction(2n)), source) ? 1 : 2;
}

/** Read the channel of an item: from no edge, + and − to these, or to + and − alone. */
function symbolOf({ symbol }) {
  if (symbol?.kind !== "dense") throw invalid("the channel of an item is not written out.");
  const channel = Dense.read(symbol);
  if (channel.answers !== 3n || channel.responses > 3n) throw invalid("the channel of an item has other answers.");
  return channel;
}

/** Return ℓ times the largest (or smallest) average that items of these kinds and empty places can reach. */
function extreme(kinds, empty, places, largest) {
  let [total, left] = [0n, places];
  for (const [value, count] of kinds.sort(([one], [two]) => (largest ? byValue(two, one) : byValue(one, two)))) {
    if (largest ? value <= empty : value >= empty) break;
    const taken = Math.min(left, count);
    total += BigInt(taken) * value;
    left -= taken;
  }
  return total + BigInt(left) * empty;
}

function byValue(one, two) {
  return one < two ? -1 : Number(one > two);
}
