/** Try the device on a harmless question. Nothing of it is sent or kept. */
import { readDesign, respond } from "../respond.js";
import { amount, bar, element, fill, members } from "./wording.js";

/** Make the section of the trial work. */
export async function start(section, words) {
  const design = await readDesign(section.dataset.design, { ceiling: Infinity }); // no answer of anybody
  const field = section.querySelector("[data-amount]"); // a number to enter, in the place of fruits
  const labels = field ? responses(design) : [...section.querySelectorAll("[name=fruit]")].map((each) => each.value);
  const [drawn, table] = ["#drawn", "#counts"].map((each) => section.querySelector(each));
  const counts = new Map();
  const draw = (times) => {
    const answer = field ? amount(field.value, words.decimal) : section.querySelector("[name=fruit]:checked")?.value;
    if (field ? !design.scale.holds(answer) : !answer) {
      drawn.textContent = field ? field.dataset.amount : words.choose;
      (field ?? section.querySelector("[name=fruit]")).focus();
      return;
    }
    let last = [];
    for (let at = 0; at < times; at += 1) {
      last = members(respond(design, answer).symbol, labels);
      for (const label of last) counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    drawn.textContent = fill(words.result, { response: last.join(", ") || words.empty });
    show(table, labels, counts);
  };
  section.querySelector("#draw").addEventListener("click", () => draw(1));
  section.querySelector("#draw-many").addEventListener("click", () => draw(20));
  section.addEventListener("change", () => {
    counts.clear(); // counts of two answers together would tell nothing
    table.hidden = true;
    drawn.textContent = "";
  });
}

/** Return what all responses are called. */
function responses({ symbols }) {
  return Array.from({ length: Number(symbols.size) }, (_, at) => symbols.at(BigInt(at)));
}

function show(table, labels, counts) {
  const most = Math.max(1, ...counts.values());
  const rows = labels.map((label) => {
    const count = counts.get(label) ?? 0;
    const name = Object.assign(element("th", label), { scope: "row" });
    return element("tr", name, element("td", bar(count, most)), element("td", String(count)));
  });
  table.tBodies[0].replaceChildren(...rows);
  table.hidden = false;
}
