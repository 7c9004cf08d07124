/**
 * What this browser keeps for a survey, so that the device never draws twice: the key, the messages that it drew, and
 * how many of them the collector has. An answer is in it only where the respondent has allowed that.
 */
const PREFIX = "deniable:";

/** Open what is kept under a survey's hash. Where the browser keeps nothing, it lives as long as the page. */
export function open(hash) {
  const place = PREFIX + hash;
  const fresh = () => ({ key: "", messages: [], received: 0, answers: {}, admission: null, withdrawn: false });
  let lasting = true;
  const state = fresh();
  const kept = {
    state,
    get lasting() {
      return lasting;
    },
    /** Read what is kept now. */
    read() {
      try {
        Object.assign(state, JSON.parse(localStorage.getItem(place) ?? "{}"));
      } catch {
        lasting = false;
      }
    },
    /** Keep the state as it is now; this comes before anything is sent. */
    save() {
      try {
        localStorage.setItem(place, JSON.stringify(state));
      } catch {
        lasting = false;
      }
    },
    /** Keep nothing but that something was withdrawn. */
    withdraw() {
      Object.assign(state, fresh(), { withdrawn: true });
      kept.save();
    },
    clear() {
      localStorage.removeItem(place);
    },
  };
  kept.read();
  return kept;
}
