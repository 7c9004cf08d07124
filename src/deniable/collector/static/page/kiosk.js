/**
 * One device, many people: an interviewer's tablet. The link of the survey ends in `kiosk`. Nothing is kept, nothing is
 * saved to a file, and when somebody is done, or has gone away, the page is loaded anew.
 */
const IDLE = 120; // seconds without a touch, after which somebody has gone away

/**
 * Make the page one of a shared device.
 *
 * @param {URLSearchParams} link what stands behind the # of the link; the language that it was opened in is noted there.
 * @param {{language: string, touched: function(): boolean}} page `touched` says whether anything was done on it.
 * @returns {{seconds: number, afresh: function(): void}} how long it waits, and what starts it for the next person.
 */
export function share(link, { language, touched }) {
  document.documentElement.classList.add("kiosk");
  link.delete("invitation"); // it would be that of one person
  link.set("kiosk", link.get("kiosk") || language);
  const query = new URLSearchParams(location.search);
  history.replaceState(null, "", `${location.pathname}${location.search}#${link}`);
  const afresh = () => {
    document.body.replaceChildren(); // at once, also where the collector cannot be reached
    query.set("lang", link.get("kiosk"));
    history.replaceState(null, "", `${location.pathname}?${query}#${link}`);
    location.reload();
  };
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (touched() ? afresh() : wait()), 1000 * IDLE);
  };
  for (const kind of ["pointerdown", "keydown", "input"]) addEventListener(kind, wait, { passive: true });
  for (const each of document.querySelectorAll("input:not([type=hidden])")) {
    if (["radio", "checkbox"].includes(each.type)) each.checked = false;
    else each.value = "";
  }
  wait();
  return { seconds: IDLE, afresh };
}
