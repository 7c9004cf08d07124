// Sliders for the planner. Without this script the form works by its button; with it, the result follows the sliders.
const form = document.getElementById("wish");

for (const slider of form.querySelectorAll("input[type=range]")) {
  const field = document.getElementById(slider.dataset.for);
  const log = slider.dataset.scale === "log";
  const [low, high] = ["min", "max"].map((end) => Number(slider.dataset[end] ?? field[end]));
  const round = slider.dataset.step === "whole" ? Math.round : (value) => Number(value.toPrecision(3));
  const place = (value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  Object.assign(slider, { min: 0, max: 1, step: 0.005, hidden: false });
  const follow = () => {
    slider.value = place(Number(field.value) || low);
    slider.setAttribute("aria-valuetext", field.value);
  };
  follow();
  field.addEventListener("input", follow);
  slider.addEventListener("input", () => {
    const part = Number(slider.value);
    field.value = round(log ? low * (high / low) ** part : low + part * (high - low));
    slider.setAttribute("aria-valuetext", field.value);
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

let asked = 0;
async function renew() {
  const mine = ++asked;
  await new Promise((go) => setTimeout(go, 120));
  if (mine !== asked || !form.checkValidity()) return; // a later move of the slider asks instead
  const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected || mine !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("plan").replaceChildren(...page.getElementById("plan").children);
  history.replaceState(null, "", address);
}
form.addEventListener("change", renew);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  renew();
});
