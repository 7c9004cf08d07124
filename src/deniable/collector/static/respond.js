/**
 * Step 2, at the respondent, in a browser: answer → response. No dependencies, nothing is sent from here.
 *
 *   const design = await readDesign(text);          // JSON that deniable wrote; its hash is checked
 *   const response = respond(design, "yes");        // {design: "sha256:…", symbol: "no"}: all that may be sent
 *
 * The bytes of `crypto.getRandomValues` become responses exactly as docs/draws.md says and as Python does it. Another
 * source is for vectors and tests alone. Whatever is refused is thrown as `Refused`, which never holds an answer.
 */
import { SYSTEM, below, pick } from "./draw/chance.js";
import { Product, readChannel } from "./draw/channels.js";
import { Scale } from "./draw/numbers.js";
import { Combined, alike, bytes, join, longest, readLabels, shown } from "./draw/labels.js";
import { Refused, check, hashOf, invalid, isOf, list, object, size, string, unseal } from "./draw/wire.js";

export { Refused };

/** The largest ε of one response, unless another one is given; `Infinity` has to be written for none. */
export const CEILING = 3;

/** The largest ε of all responses of one respondent together, unless another one is given. */
export const BUDGET = 6;

const ROUNDING = 1e-9; // that an ε in a double may be off

/** Designs of types of question that are loaded by whoever is asked such a question. */
const OTHERS = {
  "drawn-design": () => import("./draw/drawn.js"),
  "keyvalue-design": () => import("./draw/items.js"),
  "string-design": () => import("./draw/strings.js"),
};

/**
 * Read a design of any type from the JSON that its `to_json` wrote.
 *
 * @param {string} json
 * @param {{ceiling?: number}} [limits] the ε that one response may reveal; nothing is drawn with a design beyond it.
 * @returns {Promise<object>} the design: `hash`, `name`, `categories` and `symbols` (each with `size`,
 *   `at(number)` and `find(label)`, in BigInt), `attributes` (names; none for a design for one question), `channel`.
 */
export async function readDesign(json, { ceiling = CEILING } = {}) {
  const kind = Object.keys(OTHERS).find((each) => isOf(each, json)) ?? "design";
  const { body, hash } = await unseal(kind, json);
  if (kind === "design") return limited(designOf(body, hash), ceiling);
  const { read } = await OTHERS[kind]();
  return limited({ hash, ...read(body, designOf) }, ceiling);
}

/**
 * Read the definition of a survey from the JSON that `Survey.to_json` wrote. It comes from a collector, so it is taken
 * only if it is the one that the respondent's link names, and nothing is drawn beyond the limits.
 *
 * @param {string} json
 * @param {object} options `definition`: the hash that the link names, 64 hexadecimal digits; `ceiling` and `budget`: the
 *   ε of one response, and of the first responses to all questions together; `acknowledged`: whether a definition may
 *   state higher ones by itself, which only a page may allow that tells people so.
 * @returns {Promise<{hash: string, name: string, keys: object, questions: object[], each: number, arms: object[],
 *   messageSize: number}>} each question with its `designs`, one for each stage, and its `ceiling`; how many of them
 *   `drawHand` draws for a respondent; the arms, of which it draws one, each with the names of the questions that it is
 *   asked (`hand`); and how long every message is (`encodeMessage`).
 */
export async function readSurvey(json, { definition, ceiling = CEILING, budget = BUDGET, acknowledged = false }) {
  const { body, hash } = await unseal("survey", json);
  if (hash !== `sha256:${definition}`) {
    throw new Refused(
      "Incompatible",
      "this is not the definition that the link names.",
      "Nothing was answered. Ask whoever gave you the link: what is asked may have been changed.",
    );
  }
  const stated = (own, limit) => limitOf(acknowledged && own ? Number(own.replace("inf", "Infinity")) : limit);
  const questions = await Promise.all(
    list(body.questions).map((each) => questionOf(each, stated(each.check ? "inf" : each.acknowledge, ceiling))),
  );
  const arms = armsOf(body.arms === undefined ? [] : list(body.arms), questions);
  const asked = body.each === undefined ? questions.length : Number(size(body.each));
  if (asked < 1 || asked > questions.length) throw invalid(`expected 1 to ${questions.length} questions for each.`);
  const counted = questions.filter((each) => !(acknowledged && each.check)); // a page tells that they are sent as they are
  const hands = arms.length ? arms.map(({ hand }) => counted.filter((each) => hand.includes(each.name))) : [counted];
  for (const hand of hands) {
    const costs = hand.map((each) => each.designs[0].epsilon).sort((one, two) => two - one);
    const together = costs.slice(0, asked).reduce((one, two) => one + two, 0);
    withinLimit(together, stated(body.acknowledge, budget), "all responses together would reveal");
  }
  const messageSize = largestMessage(body, questions);
  return { hash, name: string(body.name), keys: body.keys, questions, each: asked, arms, messageSize };
}

/**
 * Return a message with responses as it travels: JSON, filled up with spaces to the size that all messages of the survey
 * have. Encryption hides what is in a message, and not how long it is.
 *
 * @param {{messageSize: number}} survey what `readSurvey` gave.
 * @param {object} body
 * @returns {string}
 */
export function encodeMessage({ messageSize }, body) {
  const text = JSON.stringify(body);
  const missing = messageSize - bytes(text);
  if (!(missing >= 0)) throw invalid("this message is longer than those of the survey.");
  return text + " ".repeat(missing);
}

/**
 * Draw the questions that one respondent is asked, whatever the answers are; all of them, where the survey draws none.
 *
 * @param {object} survey what `readSurvey` gave.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {object[]} questions, in their order.
 */
export function drawHand({ questions, each, arms = [] }, source = SYSTEM) {
  if (arms.length) {
    let at = below(arms.reduce((sum, { odds }) => sum + odds, 0n), source);
    const { hand } = arms.find(({ odds }) => (at -= odds) < 0n);
    return questions.filter((one) => hand.includes(one.name));
  }
  return each === questions.length ? questions : pick(questions.length, each, source).map((at) => questions[at]);
}

/**
 * Draw the response to a true answer.
 *
 * @param {object} design what `readDesign` gave.
 * @param {string|object} answer one of the categories; with several attributes also an object with an answer to each;
 *   of a design for numbers, which has a `scale`, the number as text: it is rounded first.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {{design: string, symbol: string}} the response; all that may leave the respondent's hands.
 */
export function respond(design, answer, source = SYSTEM) {
  withinLimit(design.epsilon, design.ceiling, "a response would reveal");
  const given = design.scale ? design.scale.level(answer, source) : categoryNumber(design, answer);
  return responseOf(design, design.channel.draw(given, source));
}

/**
 * Round a number at random to one of the two levels around it, so that it is right on average. Keep the level where
 * finer responses are to follow: stages are drawn from it.
 *
 * @param {object} design what `readDesign` gave, with a `scale`.
 * @param {string} number within the range, as text.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {string} a category.
 */
export function rounded(design, number, source = SYSTEM) {
  return design.categories.at(design.scale.level(number, source));
}

/**
 * Read the stages of one question from the JSON that `Ladder.to_json` wrote, the coarsest first. Each step between two
 * of them is worked out again: a step that would tell more than its finer design is refused.
 *
 * @param {string} json
 * @param {{ceiling?: number}} [limits] as for `readDesign`; it holds for each stage.
 * @returns {Promise<{hash: string, designs: object[], steps: object[]}>}
 */
export async function readLadder(json, { ceiling = CEILING } = {}) {
  const { body, hash } = await unseal("ladder", json);
  check(body, "designs", "steps");
  const bodies = list(body.designs).map(object);
  const designs = await Promise.all(bodies.map((each) => stageOf(each, ceiling)));
  const steps = list(body.steps);
  if (!designs.length || steps.length !== designs.length - 1) throw invalid("expected a step between each two stages.");
  if (new Set(designs.map((each) => each.hash)).size < designs.length) throw invalid("a stage occurs twice.");
  if (!designs.every((each) => alike(each.categories, designs[0].categories))) {
    throw new Refused("Incompatible", "the stages ask for different categories; expected the same in the same order.");
  }
  const { readStep } = await import("./draw/step_between.js"); // only who has stages loads what raises responses
  const found = steps.map((each, at) => readStep(each, designs[at].channel, designs[at + 1].channel));
  return { hash, designs, steps: found };
}

/**
 * Raise the response that is out to a finer stage, by way of the stages between. All that was sent then reveals exactly
 * what the new response does by itself; that holds for the response that is out, and for no other one: keep it.
 *
 * @param {object} ladder what `readLadder` gave.
 * @param {number} stage the stage to reach, counted from 0.
 * @param {{design: string, symbol: string}} response the last one that was sent.
 * @param {string|object} answer the truth, the same as then.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {{design: string, symbol: string}}
 */
export function upgrade(ladder, stage, response, answer, source = SYSTEM) {
  let { at, number } = known(ladder, response);
  const given = categoryNumber(ladder.designs[at], answer);
  if (!(Number.isInteger(stage) && stage > at && stage < ladder.designs.length)) {
    throw new Refused("InvalidRequest", `expected a stage above ${at} and below ${ladder.designs.length}.`);
  }
  withinLimit(ladder.designs[stage].epsilon, ladder.designs[stage].ceiling, "a response of this stage would reveal");
  for (; at < stage; at += 1) number = ladder.steps[at].upgrade(number, given, source);
  return responseOf(ladder.designs[stage], number);
}

/**
 * Draw a response of a coarser stage from one of a finer stage. The answer is not needed, and nothing is spent.
 *
 * @param {object} ladder what `readLadder` gave.
 * @param {number} stage the stage to go down to, counted from 0.
 * @param {{design: string, symbol: string}} response one of a finer stage.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {{design: string, symbol: string}}
 */
export function degrade(ladder, stage, response, source = SYSTEM) {
  let { at, number } = known(ladder, response);
  if (!(Number.isInteger(stage) && stage >= 0 && stage < at)) {
    throw new Refused("InvalidRequest", `expected a stage from 0 to below ${at}.`);
  }
  for (; at > stage; at -= 1) number = ladder.steps[at - 1].degrade(number, source);
  return responseOf(ladder.designs[stage], number);
}

/**
 * Draw a response for every stage at once, the finest first, and keep them until their time has come.
 *
 * @param {object} ladder what `readLadder` gave.
 * @param {string|object} answer the truth.
 * @param {{read: function(number): Uint8Array}} [source] random bytes; the browser's own by default.
 * @returns {{design: string, symbol: string}[]} in the order of the stages.
 */
export function releasePlanned(ladder, answer, source = SYSTEM) {
  const last = ladder.designs.at(-1);
  withinLimit(last.epsilon, last.ceiling, "a response would reveal");
  const found = [responseOf(last, last.channel.draw(categoryNumber(last, answer), source))];
  for (let at = ladder.steps.length - 1; at >= 0; at -= 1) found.unshift(degrade(ladder, at, found[0], source));
  return found;
}

/**
 * Read a deck of cards from the JSON that `Deck.to_json` wrote.
 *
 * @param {string} json
 * @returns {Promise<{hash: string, numbers: number, categories: object}>}
 */
export async function readDeck(json) {
  const { body, hash } = await unseal("deck", json);
  check(body, "counts", "people", "categories");
  list(body.counts).forEach(size);
  const categories = readLabels(list(body.categories));
  if (body.counts.length < 2 || categories.size !== 2n) throw invalid("expected 2 numbers or more, and 2 categories.");
  return { hash, numbers: body.counts.length, categories };
}

/**
 * Return what somebody sends who holds a card: the card, or for a member the numbers of the deck plus 1, less the card.
 *
 * @param {object} deck what `readDeck` gave.
 * @param {string} answer one of the two categories.
 * @param {number} card the number on the card, which nobody else may see.
 * @returns {{design: string, symbol: string}}
 */
export function respondWithCard(deck, answer, card) {
  if (!(Number.isInteger(card) && card >= 1 && card <= deck.numbers)) {
    throw new Refused("InvalidRequest", `there is no such card; expected a number from 1 to ${deck.numbers}.`);
  }
  const member = numberOf(deck.categories, answer) === 1n;
  return { design: deck.hash, symbol: String(member ? deck.numbers + 1 - card : card) };
}

/** Return the bytes of the largest message: with every stage of every question, the longest group, and a token. */
function largestMessage({ groups, keys }, questions) {
  const all = questions.flatMap(({ name, designs }) => designs.map(({ symbols }) => ({ name, symbols })));
  const hash = `sha256:${"0".repeat(64)}`;
  const responses = all.map(({ name }) => ({ question: name, design: hash, symbol: "" }));
  const message = { survey: hash, key: "0".repeat(32), responses };
  const empty = bytes(JSON.stringify(message)) + all.reduce((sum, { symbols }) => sum + longest(symbols), 0);
  const group = groups.length ? bytes(',"group":""') + longest({ labels: groups }) : 0;
  if (!keys?.tokens) return empty + group;
  const signature = "00".repeat(Math.ceil(BigInt(keys.tokens.modulus).toString(16).length / 2));
  return empty + group + bytes(`,"token":${JSON.stringify({ message: "0".repeat(64), signature })}`);
}

/** Read arms: each with its odds, and the names of its own questions and of those that no arm names. */
function armsOf(arms, questions) {
  const some = new Set(arms.flatMap((each) => list(object(each).questions).map(string)));
  const found = arms.map(({ name, odds, questions: own }) => ({
    name: string(name),
    odds: BigInt(size(odds)),
    hand: questions.map((each) => each.name).filter((each) => !some.has(each) || own.includes(each)),
  }));
  if (found.some(({ odds }) => odds < 1n)) throw invalid("expected odds of 1 or more for each arm.");
  return found;
}

/** Read a question with its design, or those of its stages. */
async function questionOf(question, ceiling) {
  if (question.design) {
    return { ...question, ceiling, designs: [await readDesign(JSON.stringify(question.design), { ceiling })] };
  }
  const { body } = await unseal("ladder", JSON.stringify(object(question.ladder)));
  const designs = await Promise.all(list(body.designs).map((each) => stageOf(object(each), ceiling)));
  return { ...question, ceiling, designs };
}

async function stageOf(body, ceiling) {
  return limited(designOf(body, await hashOf("design", body)), ceiling);
}

/** Return a design that knows its ε and how much it may be. */
function limited(design, ceiling) {
  const { parity } = design.channel;
  return { ...design, epsilon: parity === null ? Infinity : parity.log, ceiling: limitOf(ceiling) };
}

function limitOf(limit) {
  if (typeof limit === "number" && limit >= 0) return limit;
  throw new Refused("InvalidRequest", "a limit is no ε of 0 or more; expected a number.", "Write Infinity for none.");
}

/** Refuse, before anything is drawn, what would reveal more than a limit. */
function withinLimit(epsilon, limit, what) {
  if (epsilon <= limit || epsilon - limit <= ROUNDING) return;
  throw new Refused(
    "OverBudget",
    `${what} ε = ${epsilon.toPrecision(4)}; expected at most ${limit}. Nothing was drawn.`,
    "If you know why so much is asked, give a higher ceiling or budget.",
  );
}

function designOf(body, hash) {
  if (!Object.hasOwn(body, "factors")) {
    const numbers = Object.hasOwn(body, "range") ? ["range"] : [];
    check(body, "name", "categories", "symbols", "channel", ...numbers);
    const [categories, symbols] = [readLabels(body.categories), readLabels(body.symbols)];
    const channel = readChannel(body.channel);
    if (categories.size !== channel.answers || symbols.size !== channel.responses) {
      throw invalid("there are more or fewer labels than the channel has answers and responses.");
    }
    const scale = numbers.length ? Scale.read(body.range, categories) : null;
    return { hash, name: string(body.name), categories, symbols, channel, scale, attributes: [], parts: [] };
  }
  check(body, "name", "factors");
  list(body.factors).forEach((each) => check(each, "attribute", "design"));
  const attributes = body.factors.map((each) => string(each.attribute));
  const parts = body.factors.map((each) => designOf(object(each.design), ""));
  if (new Set(attributes).size < attributes.length) throw invalid("an attribute occurs twice.");
  if (parts.some((part) => part.parts.length)) throw invalid("attributes inside of attributes.");
  const channel = new Product(parts.map((part) => part.channel));
  const [categories, symbols] = ["categories", "symbols"].map((what) => new Combined(parts.map((part) => part[what])));
  return { hash, name: string(body.name), categories, symbols, channel, attributes, parts };
}

function responseOf(design, number) {
  return { design: design.hash, symbol: design.symbols.at(number) };
}

/** Return the number of an answer. The refusal tells what would have been accepted, never what was given. */
function categoryNumber(design, answer) {
  if (!design.parts.length || answer === null || typeof answer !== "object") return numberOf(design.categories, answer);
  const { attributes, parts } = design;
  if (Object.keys(answer).length !== parts.length || !attributes.every((each) => Object.hasOwn(answer, each))) {
    throw new Refused("InvalidAnswer", `expected an answer to each of ${attributes.join(", ")}, and to no other.`);
  }
  const numbers = parts.map((part, place) => categoryNumber(part, answer[attributes[place]]));
  return join(numbers, design.categories.sizes);
}

function numberOf(categories, answer) {
  const number = categories.find(answer);
  if (number !== null) return number;
  throw new Refused("InvalidAnswer", `this answer is not one of the design's; expected one of ${shown(categories)}.`);
}

/** Return the stage of a response, and its number. */
function known(ladder, response) {
  const at = ladder.designs.findIndex((design) => design.hash === response?.design);
  if (at < 0) {
    throw new Refused(
      "Incompatible",
      "this response belongs to no stage of this ladder.",
      "A response names its design by hash; take the ladder that it was drawn with.",
    );
  }
  const { symbols, channel } = ladder.designs[at];
  const number = symbols.find(response.symbol);
  if (number === null || !channel.possible(number)) {
    throw new Refused("InvalidResponse", "this is a response that its design never sends.");
  }
  return { at, number };
}
