/**
 * The respondent's page. The answer lives in this page's memory until the device has drawn; only what it drew is sent.
 * All words come with the page, in its language. Answers are written to the browser's own storage for a question with
 * stages, and only where the respondent asks for that.
 */
import { drawHand, encodeMessage, readLadder, respond, rounded, upgrade } from "./respond.js";
import { textOf } from "./draw/wire.js";
import { Changed, Declined, Misled, Unreachable, Unsigned, ask, definition, exchange, signedReceipt } from "./page/collector.js";
import { open } from "./page/storage.js";
import { amount, bar, called, download, element, fill } from "./page/wording.js";
import { start as startTrial } from "./page/trial.js";

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const place = find("#survey");
const words = JSON.parse(find("#words").textContent);
const { name, hash, language } = place.dataset;
const api = `/api/surveys/${name}`;
const preview = "definition" in place.dataset; // nothing is sent or kept, and no later visit is waited for
const link = new URLSearchParams(location.hash.slice(1)); // what the link names: a fragment reaches no log
const shared = link.has("kiosk") && !preview; // one device, many people: nothing is kept between them
const kept = open(hash, preview || shared);
const { state } = kept;
let steps = all("[data-step]", place);
const done = find("#done");
let [fielded, asked, keys] = [null, [], null]; // the survey; its questions; what receipts and tokens are verified with
let step = 0;
let busy = false;

function show(number) {
  step = number;
  steps.forEach((each, at) => (each.hidden = at !== number));
  const progress = find("[data-progress]", steps[number]);
  const facts = { number: number + 1, count: steps.length };
  progress.replaceChildren(fill(words.step, facts), bar(facts.number, facts.count));
  progress.hidden = false;
  for (const each of all("#intro, .withdrawal")) each.hidden = number > 0;
}

function go(number) {
  complain("");
  show(number);
  focusOn(find("h2", steps[number]));
}

function focusOn(heading) {
  heading.focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

/** Tell what went wrong beside the buttons that were pressed, and lead the focus to what is missing. */
function complain(text, missing) {
  const section = all(".card").find((each) => each.offsetParent) ?? find("main");
  const problem = find("#problem");
  section.insertBefore(problem, all(":scope > .actions", section).at(-1) ?? null);
  problem.textContent = text;
  missing?.focus();
}

/** Run a step that may fail, one at a time; its button waits meanwhile. */
async function trying(button, work) {
  if (busy) return;
  busy = button.disabled = true;
  complain("");
  try {
    await work();
  } catch (error) {
    complain(told(error));
  } finally {
    busy = button.disabled = false;
  }
}

function told(error) {
  if (error instanceof Unreachable) return words.problem.network;
  if (error instanceof Changed) return words.problem.definition;
  if (error instanceof Misled) return words.problem.link;
  if (error instanceof Unsigned) return words.problem.receipt;
  if (error instanceof Declined) return `${words.problem.refused} ${error.message}`;
  return error.problem ?? words.problem.title; // what respond.js refuses never repeats an answer
}

async function consent() {
  if (!find("#agree").checked) return complain(words.problem.consent, find("#agree"));
  const field = find("#invitation");
  if (field && !preview && !state.admission?.signature) {
    if (!field.value.trim()) return complain(words.problem.invitation, field);
    await exchange(api, field.value.trim(), keys.tokens, kept);
    link.delete("invitation"); // the code has done its work
    history.replaceState(null, "", `${location.pathname}${location.search}#${link}`);
  }
  return go(step + 1);
}

/** Return what was chosen or entered in a section, a number with a point before its decimals; null where nothing was. */
function chosen(section) {
  const field = find("[data-amount]", section);
  if (field) return amount(field.value, words.decimal) || null;
  const text = find("[data-text]", section);
  if (text) return text.value.trim() || null;
  const parts = all("[data-part]", section);
  if (find("[data-ticks]", section) && !find("[data-ticks] input:checked", section)) return null;
  return parts.length ? joined(parts) : picked(section);
}

/** Return the number of what was chosen; where it is ticked 0 for no, 1 for yes, or the rating; null where it is open. */
function picked(within) {
  const box = find("input[type=checkbox]", within);
  if (box && !(box.checked && find("select", within))) return String(Number(box.checked));
  return find("input[type=radio]:checked, select", within)?.value || null;
}

/** Return the number of what was chosen in all parts together, the last one fastest; null where one is left open. */
function joined(parts) {
  const numbers = parts.map(picked);
  if (numbers.includes(null)) return null;
  return String(parts.reduce((number, { dataset }, at) => number * BigInt(dataset.part) + BigInt(numbers[at]), 0n));
}

/** Return the first field in which nothing was chosen. */
function unanswered(section) {
  const part = all("[data-part]", section).find((each) => picked(each) === null);
  return find("input[type=radio], select, [data-ticks] input", part ?? section);
}

/** Take back what does not go together: "none of these", and something of these. */
function tick({ target }) {
  const section = target.closest("[data-ticks]");
  const none = section && find("[data-none]", section);
  if (!none || target.type !== "checkbox" || !target.checked) return;
  for (const each of target === none ? all("[data-part] input", section) : [none]) each.checked = false;
}

function answered(section) {
  const field = find("[data-amount]", section);
  const question = asked.find((each) => each.name === section.dataset.question);
  if (field && !question.designs[0].scale.holds(chosen(section))) return complain(field.dataset.amount, field);
  const text = find("[data-text]", section);
  if (text && question.designs[0].categories.find(chosen(section)) === null) return complain(text.dataset.text, text);
  const choose = find("[data-ticks]", section) ? words.ticks : words.choose;
  if (chosen(section) === null) return complain(choose, unanswered(section));
  return onward();
}

function onward() {
  return step + 1 < steps.length ? go(step + 1) : send();
}

function skip(section) {
  for (const each of all("input", section)) each.checked = false;
  for (const each of all("select, [data-amount], [data-text]", section)) each.value = "";
  return onward();
}

/** Draw once, keep what was drawn, then send it. What the device says is shown only when it is out: nobody picks. */
async function send() {
  kept.read(); // another tab may have drawn meanwhile
  if (!state.messages.length) {
    const responses = asked.map(drawn).filter(Boolean);
    if (!responses.length) return finish();
    state.key = textOf(crypto.getRandomValues(new Uint8Array(16)));
    const group = find("#group")?.value;
    const { message, signature } = state.admission ?? {};
    const token = signature ? { token: { message, signature } } : {};
    state.messages.push({ survey: hash, key: state.key, ...(group ? { group } : {}), ...token, responses });
    kept.save();
    for (const each of all("[data-step=question] :is(input, select)", place)) each.disabled = true;
  }
  await deliver();
  finish();
  if (preview) offerMore();
}

/** Return the response to a question: drawn here, or taken from a device in somebody's hand; null where it was skipped. */
function drawn(question) {
  const section = sectionOf(question);
  const choice = chosen(section);
  if (choice === null) return null;
  const design = question.designs[0];
  if (question.device === "physical") {
    return { question: question.name, design: design.hash, symbol: design.symbols.at(BigInt(choice)) };
  }
  const entered = find("[data-text]", section);
  const answer = design.scale ? rounded(design, choice) : entered ? choice : design.categories.at(BigInt(choice));
  if (find("[data-keep]", section)?.checked) state.answers[question.name] = answer;
  return { question: question.name, ...respond(design, answer) };
}

const sectionOf = (question) => find(`[data-step=question][data-question="${question.name}"]`, place);

async function deliver() {
  for (; state.received < state.messages.length; state.received += 1, kept.save()) {
    await ask("POST", `${api}/responses`, encodeMessage(fielded, state.messages[state.received]));
  }
}

/** Show what was sent. Nothing on the page tells the answer from here on. */
function finish() {
  for (const each of all("[data-step=question] input", place)) each.checked = false;
  for (const each of all("[data-step=question] :is(select, [data-amount], [data-text])", place)) each.value = "";
  for (const each of [place, ...all("#intro, .withdrawal")]) each.hidden = true;
  find("#next-person").hidden = !shared;
  if (!state.messages.length) return (find("#status").textContent = words.sent.nothing);
  done.hidden = false;
  find("#clear").hidden = false;
  find("#said").replaceChildren(...asked.map(said));
  find("#message").textContent = state.messages.map((each) => JSON.stringify(each, null, 2)).join("\n\n");
  find("#key").textContent = state.key;
  const also = Object.keys(state.answers).length ? ` ${words.sent.kept_answer}` : "";
  find("#kept").textContent = kept.lasting ? words.sent.kept + also : shared ? words.kiosk.unkept : words.sent.unkept;
  return focusOn(find("h2", done));
}

/** Return an entry of the list: a question, what was sent, and what that reveals at most. */
function said(question) {
  const told = find(`template[data-reveals="${question.name}"][data-at="${stageOf(question)}"]`);
  const entry = element("li", element("span", question.texts[language].text), element("b", spoken(question)));
  if (told) entry.append(told.content.cloneNode(true)); // nothing where it was skipped
  return entry;
}

/** Return the last response to a question in words. */
function spoken(question) {
  const last = lastOf(question);
  const own = question.device === "physical" || question.designs[0].name === "direct"; // no device in the page
  const sentence = own ? words.sent.words_physical : words.sent.words;
  const texts = question.texts[language];
  return last ? fill(sentence, { response: called(question, last, texts, words.try.empty) }) : words.sent.skipped;
}

/** Return the last response to a question; undefined where it was skipped. */
function lastOf(question) {
  return state.messages.flatMap((each) => each.responses).findLast((each) => each.question === question.name);
}

/** Return the stage that a question has reached, counted from 0; -1 where it was skipped. */
function stageOf(question) {
  return question.designs.findIndex((each) => each.hash === lastOf(question)?.design);
}

/** On a later visit: offer the next stage of each question that has one. */
function offerMore() {
  find("#laters").replaceChildren();
  for (const question of asked) {
    const stage = stageOf(question) + 1;
    const offer = find(`template[data-stage="${stage}"][data-question="${question.name}"]`); // there is none for stage 0
    if (!offer) continue;
    const part = element("div", offer.content.cloneNode(true));
    const again = find("[data-again]", part);
    if (!(question.name in state.answers)) {
      again.append(find("template", sectionOf(question)).content.cloneNode(true));
      find("[data-first]", again).remove();
      again.hidden = false;
    }
    const button = find("[data-raise]", part);
    button.addEventListener("click", () => trying(button, () => more(question, stage, part)));
    find("#laters").append(part);
  }
}

async function more(question, stage, part) {
  const choice = chosen(part);
  if (!(question.name in state.answers) && choice === null) return complain(words.choose, find("input, select", part));
  const ladder = await readLadder(JSON.stringify(question.ladder), question); // no stage beyond its ceiling
  kept.read(); // another tab may have drawn meanwhile
  if (stageOf(question) < stage) raise(question, ladder, stage, choice, find("[data-keep]", part)?.checked);
  await deliver();
  part.remove();
  find("#status").textContent = words.more;
  finish();
  if (preview) offerMore();
}

/** Draw the next stage once, and keep what was drawn. */
function raise(question, ladder, stage, choice, keep) {
  const answer = state.answers[question.name] ?? ladder.designs[0].categories.at(BigInt(choice));
  const { design, symbol } = lastOf(question);
  const responses = [{ question: question.name, ...upgrade(ladder, stage, { design, symbol }, answer) }];
  if (keep) state.answers[question.name] = answer;
  if (stage + 1 === ladder.designs.length) delete state.answers[question.name]; // nothing is left to draw
  const { survey, key, group } = state.messages[0];
  state.messages.push({ survey, key, ...(group ? { group } : {}), responses });
  kept.save();
}

async function receipt() {
  const signed = await signedReceipt(api, state.key, keys);
  const saved = { withdrawal_code: state.key, address: location.origin + location.pathname, receipt: signed };
  download(`receipt-${name}.json`, JSON.stringify(saved, null, 2));
}

async function withdraw(button) {
  if (button.textContent !== words.withdraw.sure) return (button.textContent = words.withdraw.sure);
  kept.withdraw(await withdrawn(state.key));
  return gone();
}

const WITHDRAWN = { done: words.withdraw.done, soon: words.withdraw.soon, none: words.withdraw.none };

/** Withdraw what was sent with a key; return which of these is then true. */
async function withdrawn(key) {
  const told = await (await ask("POST", `${api}/withdrawals`, { key })).json();
  if (!told.withdrawn) return "none";
  return told.overwritten ? "done" : "soon";
}

/** Show that what was sent from here was withdrawn. */
function gone() {
  for (const each of [place, done, ...all("#intro, .withdrawal")]) each.hidden = true;
  find("#clear").hidden = false;
  find("#status").textContent = WITHDRAWN[state.withdrawn];
}

async function withdrawOther(field) {
  const key = field.value.trim().toLowerCase();
  find("#withdrawal-said").textContent = WITHDRAWN[await withdrawn(key)];
  field.value = "";
}

function listen() {
  const taken = { consent, question: () => answered(steps[step]) };
  for (const section of steps) {
    const next = taken[section.dataset.step] ?? (() => go(step + 1));
    for (const [kind, work] of [["next", next], ["back", () => go(step - 1)], ["skip", () => skip(section)]]) {
      const button = find(`[data-${kind}]`, section);
      button?.addEventListener("click", () => trying(button, work));
    }
  }
  for (const [selector, work] of [["#receipt", receipt], ["#withdraw", withdraw]]) {
    find(selector).addEventListener("click", ({ target }) => trying(target, () => work(target)));
  }
  find("#forget").addEventListener("click", () => (kept.clear(), location.reload()));
  place.addEventListener("change", tick);
  place.addEventListener("submit", (event) => event.preventDefault()); // Enter in a field sends nothing by itself
  find("#withdrawal").addEventListener("submit", (event) => {
    event.preventDefault();
    trying(find("#withdrawal button"), () => withdrawOther(find("#code")));
  });
}

/** Keep the questions that were drawn for this respondent, once and for all; of the others nothing is on the page. */
function deal(survey) {
  state.hand ??= drawHand(survey).map((each) => each.name);
  kept.save();
  const arm = survey.arms.find(({ hand }) => String(hand) === String(state.hand)); // no two are asked the same
  for (const each of all("template[data-arm]")) {
    each.replaceWith(...(each.dataset.arm === arm?.name ? [each.content] : []));
  }
  asked = survey.questions.filter((each) => state.hand.includes(each.name));
  const sections = all("[data-step=question]", place);
  const dealt = sections.filter((each) => state.hand.includes(each.dataset.question));
  for (const each of all("[data-next]", dealt.at(-1))) each.textContent = each.dataset.send;
  if (dealt.length > 1) {
    dealt.forEach((each, at) => (find("h2", each).textContent = fill(words.title, { number: at + 1, count: dealt.length })));
  }
  for (const each of sections) if (!dealt.includes(each)) each.remove();
  steps = all("[data-step]", place);
}

/** Make the page one of a device that many people use. */
async function shareDevice() {
  const { share } = await import("./page/kiosk.js"); // only such a device loads it
  const touched = () => step > 0 || find("#agree")?.checked || place.hidden;
  const { seconds, afresh } = share(link, { language, touched });
  find("#kiosk").textContent = fill(words.kiosk.lead, { seconds });
  find("#hand-on").addEventListener("click", afresh);
}

/** Leave nothing of an answer to who goes back: a page that the browser has kept is empty, and loaded anew. */
function leaveNothing() {
  addEventListener("pagehide", () => document.body.replaceChildren());
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
}

async function start() {
  if (shared) await shareDevice();
  fielded = await definition(api, hash, link);
  ({ questions: asked, keys } = fielded);
  if (fielded.each < asked.length || fielded.arms.length) deal(fielded);
  find("#unnamed").hidden = link.has("definition");
  find("#needs-script")?.remove();
  for (const each of all("[data-script]")) each.hidden = false;
  for (const each of all("[data-plain]")) each.hidden = true;
  for (const section of all("[data-step=question]", place)) {
    const template = find("template", section);
    template?.after(template.content.cloneNode(true));
  }
  for (const each of all("nav a")) each.hash = String(link);
  for (const each of all("#invitation")) {
    each.value = link.get("invitation") ?? "";
    each.closest("p").hidden = Boolean(state.admission?.signature); // it has done its work on an earlier visit
  }
  listen();
  const trial = find("[data-step=try]", place);
  if (trial) await startTrial(trial, words.try);
  if (state.withdrawn) return gone();
  if (!state.messages.length) return steps.length && show(0);
  if (steps.length) await deliver();
  find("#status").textContent = words.sent.back;
  finish();
  return steps.length && offerMore(); // a survey that is closed has no steps
}

leaveNothing();
trying(place, start);
