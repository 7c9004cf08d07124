/**
 * What this browser keeps for a survey, so that the device never draws twice: the key, the messages that it drew, and
 * how many of them the collector has; and which questions were drawn. An answer is in it only where the respondent has allowed that.
 */
const PREFIX = "deniable:";

/**
 * Open what is kept under a survey's hash. Where the browser keeps nothing, it lives as long as the page.
 *
 * @param {boolean} fleeting whether nothing is to be kept, or read, at all: in a preview, and on a device of many people.
 */
export function open(hash, fleeting) {
  const place = PREFIX + hash;
  const fresh = () => ({ key: "", messages: [], received: 0, hand: null, answers: {}, admission: null, withdrawn: "" });
  let lasting = !fleeting;
  const state = fresh();
  const kept = {
    state,
    get lasting() {
      return lasting;
    },
    /** Read what is kept now. */
    read() {
      if (fleeting) return;
      try {
        Object.assign(state, JSON.parse(localStorage.getItem(place) ?? "{}"));
      } catch {
        lasting = false;
      }
    },
    /** Keep the state as it is now; this comes before anything is sent. */
    save() {
      if (fleeting) return;
      try {
        localStorage.setItem(place, JSON.stringify(state));
      } catch {
        lasting = false;
      }
    },
    /** Keep nothing but that something was withdrawn, and how that is told. */
    withdraw(said) {
      Object.assign(state, fresh(), { withdrawn: said });
      kept.save();
    },
    clear() {
      if (!fleeting) localStorage.removeItem(place);
    },
  };
  kept.read();
  return kept;
}
