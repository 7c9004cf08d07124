/** Several attributes with a design for each, of which some are drawn: only about these anything is sent. */
import { pick } from "./chance.js";
import { Fraction, ONE } from "./fraction.js";
import { Combined, SEPARATOR, join, readLabels, split } from "./labels.js";
import { check, invalid, list, object, size, string } from "./wire.js";

const NAMED = ": "; // between an attribute and what is sent about it
const MOST_RESPONSES = 1n << 20n;

/** The response to a combination of answers to all attributes, the last one fastest. */
class Drawn {
  kind = "drawn";

  constructor(factors, each) {
    Object.assign(this, { factors, each, hands: handsOf(factors, each), answers: product(factors, "answers") });
    this.responses = this.hands.reduce((sum, { responses }) => sum + responses, 0n);
    if (this.responses > MOST_RESPONSES) throw invalid("attributes with more responses than can be counted.");
    this.places = new Map(this.hands.map((hand) => [String(hand.drawn), hand]));
  }

  draw(given, source) {
    const { drawn, sizes, start } = this.places.get(String(pick(this.factors.length, this.each, source)));
    const answers = split(given, this.factors.map((factor) => factor.answers));
    return start + join(drawn.map((at) => this.factors[at].draw(answers[at], source)), sizes);
  }

  probability(response, given) {
    const { drawn, sizes, start } = this.hands.findLast((hand) => hand.start <= response);
    const [sent, answers] = [split(response - start, sizes), split(given, this.factors.map((factor) => factor.answers))];
    const each = drawn.map((at, place) => this.factors[at].probability(sent[place], answers[at]));
    return each.reduce((one, two) => one.times(two), new Fraction(1n, BigInt(this.hands.length)));
  }

  /** Return what a response is called: each attribute that was drawn in the words of its part, with what was sent. */
  called(symbol, { attributes, parts }, texts, single) {
    const pieces = (this.each > 1 ? symbol.split(SEPARATOR) : [symbol]).map((piece) => {
      const [name] = piece.split(NAMED, 1);
      const at = attributes.indexOf(name);
      return `${texts.parts[at].text}: ${single(piece.slice(name.length + NAMED.length), parts[at], texts.parts[at])}`;
    });
    return pieces.join(SEPARATOR);
  }

  possible(response) {
    return response >= 0n && response < this.responses;
  }

  get parity() {
    const each = this.factors.map((factor) => factor.parity);
    if (each.includes(null)) return null;
    return each.sort((one, two) => two.compare(one)).slice(0, this.each).reduce((one, two) => one.times(two), ONE);
  }
}

/** Read a design; `designOf` reads that of each attribute. */
export function read(body, designOf) {
  check(body, "factors", "each");
  list(body.factors).forEach((part) => check(part, "attribute", "design"));
  const attributes = body.factors.map((part) => string(part.attribute));
  const parts = body.factors.map((part) => designOf(object(part.design), ""));
  const each = Number(size(body.each));
  if (new Set(attributes).size < attributes.length) throw invalid("an attribute occurs twice.");
  if (parts.some((part) => part.parts.length)) throw invalid("attributes inside of attributes.");
  if (each < 1 || each >= parts.length) throw invalid("expected 1 attribute or more for each, and fewer than there are.");
  const channel = new Drawn(parts.map((part) => part.channel), each);
  const symbols = channel.hands.flatMap((hand) => symbolsOf(hand, attributes, parts));
  const categories = new Combined(parts.map((part) => part.categories));
  return { name: "drawn_items", categories, symbols: readLabels(symbols), channel, attributes, parts };
}

/** Return all that can be drawn together, in the order of the attributes, each with its first response. */
function handsOf(factors, each) {
  let start = 0n;
  return combinations(factors.length, each).map((drawn) => {
    const sizes = drawn.map((at) => factors[at].responses);
    const hand = { drawn, sizes, start, responses: sizes.reduce((one, two) => one * two, 1n) };
    start += hand.responses;
    return hand;
  });
}

function combinations(size, count, first = 0) {
  if (count === 0) return [[]];
  const starts = Array.from({ length: size - first }, (_, at) => first + at);
  return starts.flatMap((at) => combinations(size, count - 1, at + 1).map((rest) => [at, ...rest]));
}

function symbolsOf({ drawn, sizes, responses }, attributes, parts) {
  return Array.from({ length: Number(responses) }, (_, number) => {
    const digits = split(BigInt(number), sizes);
    const sent = drawn.map((at, place) => `${attributes[at]}${NAMED}${parts[at].symbols.at(digits[place])}`);
    return sent.join(SEPARATOR);
  });
}

function product(factors, what) {
  return factors.reduce((one, factor) => one * factor[what], 1n);
}
