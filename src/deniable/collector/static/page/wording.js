/** Facts put into words, and onto the page. */

import { SEPARATOR } from "../draw/labels.js";

/** Return an element with what is in it. */
export function element(kind, ...content) {
  const made = document.createElement(kind);
  made.append(...content);
  return made;
}

/** Return a bar. It is for the eye alone: the words beside it say the same. */
export function bar(value, max) {
  return Object.assign(document.createElement("progress"), { className: "bar", max, value, ariaHidden: "true" });
}

/** Put facts into the places of a sentence. */
export function fill(sentence, facts) {
  return sentence.replace(/\{(\w+)\}/g, (_, fact) => facts[fact]);
}

/** Return the labels that a response names: one, or those of a set such as b0110. */
export function members(symbol, labels) {
  return labels.includes(symbol) ? [symbol] : labels.filter((_, at) => symbol[at + 1] === "1");
}

/** Return what a response to a question is called, with the question's texts in one language. */
export function called({ designs }, { design: used, symbol }, texts, empty) {
  const design = designs.find((each) => each.hash === used);
  const { symbols, parts } = texts;
  if (design.channel.called) return design.channel.called(symbol, design, texts, (...part) => single(...part, empty));
  if (parts) return symbol.split(SEPARATOR).map((each, at) => single(each, design.parts[at], parts[at], empty)).join(SEPARATOR);
  return symbols ? symbols[Number(design.symbols.find(symbol))] : single(symbol, design, texts, empty);
}

/** Return what a response to a single question is called. */
function single(symbol, { categories, symbols: sent }, { labels }, empty) {
  const known = labels ?? Array.from({ length: Number(categories.size) }, (_, at) => categories.at(BigInt(at)));
  if (sent.places) return members(symbol, known).join(", ") || empty;
  const same = sent.size === categories.size ? categories.find(symbol) : null;
  return same === null ? symbol : known[Number(same)];
}

/** Return a number as programs write it; empty where a point or a comma could stand between thousands. */
export function amount(text, decimal) {
  const plain = text.trim().replace(/[٠-٩]/g, (digit) => digit.charCodeAt(0) - 0x660);
  if (decimal !== "." && plain.includes(".")) return "";
  return plain.replace(decimal, ".");
}

/** Let the browser save a text as a file. */
export function download(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // some browsers read it only after a while
}
