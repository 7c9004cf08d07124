/** The browser's hand: what tests have it do, many draws at a time. */
import * as deniable from "/respond.js";
import * as scheme from "/blind.js";
import { readChannel } from "/draw/channels.js";
import { Fraction } from "/draw/fraction.js";
import { Nested } from "/draw/nested.js";
import { bytesOf as bytesOfHex, digest } from "/draw/wire.js";

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Exactly the bytes given, counted. */
function scripted(base64) {
  const script = bytesOf(base64);
  return { used: 0, read(count) { return script.subarray(this.used, (this.used += count)); } };
}

/** Draw the responses to answers, each job with a design and bytes of its own. */
export async function draw(jobs) {
  const found = [];
  for (const { design, bytes, answers } of jobs) {
    const [read, source] = [await deniable.readDesign(design, { ceiling: Infinity }), scripted(bytes)];
    const responses = answers.map((answer) => deniable.respond(read, answer, source));
    found.push(told(responses, source));
  }
  return found;
}

/** Raise (or degrade) responses from one stage to another. */
export async function move(jobs) {
  const found = [];
  for (const { ladder, bytes, answers, before, from, to } of jobs) {
    const [read, source] = [await deniable.readLadder(ladder, { ceiling: Infinity }), scripted(bytes)];
    const responses = before.map((symbol, at) => {
      const response = { design: read.designs[from].hash, symbol };
      if (to < from) return deniable.degrade(read, to, response, source);
      return deniable.upgrade(read, to, response, answers[at], source);
    });
    found.push(told(responses, source));
  }
  return found;
}

/** Draw all stages at once. */
export async function plan(jobs) {
  const found = [];
  for (const { ladder, bytes, answers } of jobs) {
    const [read, source] = [await deniable.readLadder(ladder, { ceiling: Infinity }), scripted(bytes)];
    found.push({ stages: answers.map((answer) => deniable.releasePlanned(read, answer, source)), used: source.used });
  }
  return found;
}

/** Count the responses to each answer, drawn with the browser's own source. */
export async function count({ design, n }) {
  const read = await deniable.readDesign(design, { ceiling: Infinity });
  const labels = (known) => Array.from({ length: Number(known.size) }, (_, at) => known.at(BigInt(at)));
  const all = labels(read.symbols);
  return labels(read.categories).map((answer) => {
    const sent = new Map(all.map((symbol) => [symbol, 0]));
    for (let at = 0; at < n; at += 1) {
      const { symbol } = deniable.respond(read, answer);
      sent.set(symbol, sent.get(symbol) + 1);
    }
    return [...sent.values()];
  });
}

/** Call functions of the module one after the other; return the last value, or how it was refused. */
export async function call(steps) {
  let value;
  try {
    for (const [name, ...words] of steps) value = await deniable[name](...words.map((each) => each ?? value));
    return { value };
  } catch (error) {
    return { name: error.name, message: error.message, known: error instanceof deniable.Refused };
  }
}

/** Say whether shares make one channel of sets from another, whatever a file of them may hold. */
export function nested({ coarse, fine, jobs }) {
  const [one, two] = [coarse, fine].map(readChannel);
  const fraction = (text) => new Fraction(...text.split("/").map(BigInt));
  return jobs.map((rows) => {
    const shares = rows.map(([from, to, ...parts]) => {
      const [near, apart, free] = parts.map(fraction);
      return { coarse: BigInt(from), fine: BigInt(to), near, apart, free };
    });
    return new Nested(one, two, shares).isExact;
  });
}

export function digests(bodies) {
  return Promise.all(bodies.map(digest));
}

/** Blind tokens with random bytes that are given. */
export async function blind({ key, jobs }) {
  const read = await scheme.readKey(key);
  return Promise.all(jobs.map(async ({ token, bytes }) => {
    const [message, source] = [bytesOf(token), scripted(bytes)];
    const { blinded, unblinder } = await scheme.blind(message, read, source);
    const [hidden, undo] = [blinded, unblinder].map((number) => scheme.digits(number, read));
    return { blinded: hidden, unblinder: undo, used: source.used };
  }));
}

/** Unblind what was signed, and say whether the signature is good; null where it was refused. */
export async function unblind({ key, jobs }) {
  const read = await scheme.readKey(key);
  return Promise.all(jobs.map(async ({ token, signed, unblinder }) => {
    try {
      const signature = await scheme.unblind(bytesOf(token), BigInt(`0x${signed}`), BigInt(`0x${unblinder}`), read);
      return { signature: scheme.digits(signature, read), good: await scheme.verify(bytesOf(token), signature, read) };
    } catch (error) {
      return { refused: error.name };
    }
  }));
}

function told(responses, { used }) {
  const hashes = [...new Set(responses.map((each) => each.design))];
  return { hashes, symbols: responses.map((each) => each.symbol), used };
}

/** Return the ε of designs, as the browser works it out. */
export async function epsilons(designs) {
  const read = await Promise.all(designs.map((each) => deniable.readDesign(each, { ceiling: Infinity })));
  return read.map((each) => each.epsilon);
}

/** Draw hands of questions. */
export function hands(jobs) {
  return jobs.map(({ questions, each, times, bytes }) => {
    const source = scripted(bytes);
    const all = Array.from({ length: questions }, (_, at) => at);
    const drawn = Array.from({ length: times }, () => deniable.drawHand({ questions: all, each }, source));
    return { drawn, used: source.used };
  });
}

/** Draw arms of a survey. */
export async function arms({ survey, definition, times, bytes }) {
  const source = scripted(bytes);
  const read = await deniable.readSurvey(survey, { definition, acknowledged: true });
  const names = () => deniable.drawHand(read, source).map((each) => each.name);
  return { drawn: Array.from({ length: times }, names), used: source.used };
}

/** Return the limits that hold where none are given. */
export function limits() {
  return [deniable.CEILING, deniable.BUDGET];
}

/** Say which signatures verify; all in hexadecimal. */
export async function verified(jobs) {
  const { verify } = await import("/signatures.js");
  const read = (digits) => (digits ? bytesOfHex(digits) : new Uint8Array());
  return Promise.all(jobs.map((job) => verify(...job.map(read))));
}
