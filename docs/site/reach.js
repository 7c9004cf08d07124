// What the theme adds to a page, for those who have no mouse or who listen: a table that is wider than its page scrolls
// and can be reached; the button that copies a piece of code is no landmark.
const reach = () => {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((each) => (each.tabIndex = 0));
  document.querySelectorAll("nav.md-code__nav:not([role])").forEach((each) => each.setAttribute("role", "presentation"));
};
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
