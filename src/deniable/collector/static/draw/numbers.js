/** Numbers in a range: read exactly, and rounded at random to one of the two levels around them. */
import { happens } from "./chance.js";
import { Fraction } from "./fraction.js";
import { Refused, invalid, list, string } from "./wire.js";

const NUMBER = /^([+-]?)([0-9]{1,400})(?:\.([0-9]{1,400})|\/([0-9]{1,400}))?$/;

/** Return a number that is written as a decimal or as a fraction, exactly; null for anything else. */
export function readNumber(text) {
  const found = typeof text === "string" ? NUMBER.exec(text) : null;
  if (!found || BigInt(found[4] ?? 1) === 0n) return null;
  const [, sign, whole, decimals = "", below = "1"] = found;
  const top = BigInt(whole + decimals) * (sign === "-" ? -1n : 1n);
  return new Fraction(top, BigInt(below) * 10n ** BigInt(decimals.length));
}

/** A range from `low` to `high`, cut evenly into levels. */
export class Scale {
  constructor(low, high, levels) {
    if (low.compare(high) >= 0) throw invalid("the range of the numbers does not rise.");
    Object.assign(this, { low, high, step: high.minus(low).over(new Fraction(levels - 1n)) });
  }

  /** Read the two ends of a range; the categories must be its levels. */
  static read(body, categories) {
    const [low, high] = list(body).map((end) => readNumber(string(end)));
    if (!low || !high || body.length !== 2) throw invalid("the range of the numbers is not written as its two ends.");
    const scale = new Scale(low, high, categories.size);
    for (let at = 0n; at < categories.size; at += 1n) {
      const level = low.plus(scale.step.times(new Fraction(at)));
      if (!readNumber(categories.at(at))?.equals(level)) throw invalid("the categories are not the levels of the range.");
    }
    return scale;
  }

  /** Whether a text is a number of the range. */
  holds(text) {
    const number = readNumber(text);
    return number !== null && number.compare(this.low) >= 0 && number.compare(this.high) <= 0;
  }

  /** Round a number; return the number of its level. One word is taken, whatever the number is. */
  level(text, source) {
    if (!this.holds(text)) {
      throw new Refused("InvalidAnswer", "the value is not a number of its range; expected one.", "Nothing is cut off.");
    }
    const place = readNumber(text).minus(this.low).over(this.step);
    const below = place.top / place.bottom;
    return below + BigInt(happens(place.minus(new Fraction(below)), source));
  }
}
