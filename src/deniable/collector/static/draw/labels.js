/** What answers and responses are called. Each kind has `size`, `at(number)` and `find(label)`, null where unknown. */
import { check, invalid, list, object, size, string } from "./wire.js";

export const SEPARATOR = " · "; // between the labels of several attributes
const MOST_CATEGORIES = 1n << 24n; // of which a response can be a set

/** Read labels from a file: a list, how many there are, or `{bits: …}` for sets of categories. */
export function readLabels(given) {
  if (typeof given === "number") return new Numbered(size(given));
  if (Array.isArray(given)) return new Listed(given);
  check(object(given), "bits");
  return new Bitstrings(size(given.bits));
}

/** The labels "0", "1", "2" …, which are not stored. */
class Numbered {
  constructor(size) {
    this.size = size;
    if (size < 2n || size > 1n << 53n) throw invalid("the number of labels is not from 2 to 2^53.");
  }

  at(number) {
    return String(number);
  }

  find(label) {
    const known = typeof label === "string" && /^(0|[1-9][0-9]{0,19})$/.test(label) && BigInt(label) < this.size;
    return known ? BigInt(label) : null;
  }
}

/** Labels that are written out. */
class Listed {
  constructor(given) {
    this.labels = list(given).map(string);
    this.numbers = new Map(this.labels.map((label, number) => [label, BigInt(number)]));
    this.size = BigInt(this.labels.length);
    if (this.size < 2n || this.numbers.size < given.length) throw invalid("expected different labels, 2 or more.");
  }

  at(number) {
    return this.labels[number];
  }

  find(label) {
    return this.numbers.get(label) ?? null;
  }
}

/** A label for each set of categories: "b0110" holds the second and the third of four. */
class Bitstrings {
  constructor(places) {
    if (places < 1n || places > MOST_CATEGORIES) throw invalid("sets of too few or too many categories.");
    this.places = Number(places);
    this.size = 1n << places;
  }

  at(number) {
    return `b${[...number.toString(2).padStart(this.places, "0")].reverse().join("")}`;
  }

  find(label) {
    const known = typeof label === "string" && label.length === this.places + 1 && /^b[01]+$/.test(label);
    return known ? BigInt(`0b${[...label.slice(1)].reverse().join("")}`) : null;
  }
}

/** A label for each combination of the labels of several attributes, the last attribute fastest. */
export class Combined {
  constructor(parts) {
    this.parts = parts;
    this.sizes = parts.map((part) => part.size);
    this.size = this.sizes.reduce((one, two) => one * two, 1n);
    const torn = (label) => ` ${label} `.includes(SEPARATOR);
    if (parts.some((part) => part.labels?.some(torn))) throw invalid("a label holds what separates attributes.");
  }

  at(number) {
    const digits = split(number, this.sizes);
    return this.parts.map((part, place) => part.at(digits[place])).join(SEPARATOR);
  }

  find(label) {
    const pieces = typeof label === "string" ? label.split(SEPARATOR) : [];
    if (pieces.length !== this.parts.length) return null;
    const digits = this.parts.map((part, place) => part.find(pieces[place]));
    return digits.includes(null) ? null : join(digits, this.sizes);
  }
}

/** Return the digits of a number in mixed radix, the last one fastest. */
export function split(number, sizes) {
  const digits = [];
  for (const size of [...sizes].reverse()) {
    digits.unshift(number % size);
    number /= size;
  }
  return digits;
}

/** Return the number with these digits in mixed radix. */
export function join(digits, sizes) {
  return digits.reduce((number, digit, place) => number * sizes[place] + digit, 0n);
}

/** Return the bytes of a text in UTF-8. */
export const bytes = (text) => new TextEncoder().encode(text).length;

/** Return the bytes of the longest label in JSON, without its quotation marks. */
export function longest(labels) {
  if (labels.parts) return labels.parts.reduce((sum, part) => sum + longest(part) + bytes(SEPARATOR), -bytes(SEPARATOR));
  if (labels.places) return labels.places + 1;
  const known = labels.labels ?? [labels.at(labels.size - 1n)];
  return known.reduce((most, label) => Math.max(most, bytes(JSON.stringify(label)) - 2), 0);
}

/** Whether two kinds of labels call the same things by the same names, in the same order. */
export function alike(one, two) {
  if (one.size !== two.size) return false;
  if (one instanceof Numbered && two instanceof Numbered) return true;
  for (let number = 0n; number < one.size; number += 1n) if (one.at(number) !== two.at(number)) return false;
  return true;
}

/** Return labels for a message, cut after a few. */
export function shown(labels, most = 8n) {
  const few = [];
  for (let number = 0n; number < labels.size && number < most; number += 1n) few.push(`'${labels.at(number)}'`);
  return labels.size > most ? `${few.join(", ")}, …` : few.join(", ");
}
