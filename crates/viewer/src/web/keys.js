// Key bindings, the same as in the terminal.

const PLAIN = {
  "?": "help", F1: "help",
  ArrowLeft: "back", h: "back", ArrowRight: "forward", l: "forward",
  Home: "first", g: "first", End: "live", G: "live",
  e: "error", E: "error-back", s: "stop", S: "stop-back",
  " ": "play", "+": "faster", "=": "faster", "-": "slower", _: "slower",
  f: "kinds", F: "kinds-back", "/": "search", Enter: "open", Escape: "away", Backspace: "away",
  r: "raw", o: "toggle", O: "toggle-all",
};

/** Movement by lines and by screens. */
const MOVES = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1 };
const PAGES = { PageUp: -1, PageDown: 1 };

/**
 * Calls `act` with the name of an action, and `move` with the pane, the number of lines, and whether these are screens.
 */
export function listen(act, move) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const target = event.target;
    if (document.querySelector("dialog[open]")) {
      if (event.key === "?") done(event, () => act("help"));
      if (event.key === "r" && document.querySelector("#whole[open]")) done(event, () => act("raw"));
      return;
    }
    if (target.matches("input, select")) {
      if (event.key === "Escape") done(event, () => act("leave-field"));
      return;
    }
    const pane = target.closest("[data-pane]")?.dataset.pane ?? "timeline";
    // These activate a button; a focused row is already selected.
    const isButton = target.matches("button") && pane !== "timeline";
    const isTool = target.matches("nav button");
    if ((isButton || isTool) && (event.key === "Enter" || event.key === " ")) return;
    const lines = MOVES[event.key];
    const pages = PAGES[event.key];
    if (lines || pages) return done(event, () => move(pane, lines ?? pages, Boolean(pages)));
    const action = PLAIN[event.key];
    if (action) done(event, () => act(action));
  });
  // Some browsers activate a button when Space is released, even if pressing it did something else.
  document.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.matches(".timeline button")) event.preventDefault();
  });
}

function done(event, what) {
  event.preventDefault();
  what();
}
