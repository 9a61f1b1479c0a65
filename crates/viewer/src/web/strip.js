// An overview of events over time, in one line.

import { ask, byId, element } from "./parts.js";

/** The width of a slot in pixels, and the maximum number of slots. */
const WIDTH = 5;
const MOST = 400;

export class Strip {
  #strip = byId("strip");
  #cells = [];
  #chosen = null;

  /** `choose` is called with the position of an entry. */
  constructor(choose) {
    this.#strip.addEventListener("click", (event) => {
      const cells = [...this.#strip.children];
      const index = cells.indexOf(event.target.closest("i"));
      // Between two events, the earlier one.
      const cell = this.#cells.slice(0, index + 1).findLast((one) => one.at !== null);
      if (cell) choose(cell.at, cell.call);
    });
  }

  /** Shows the events of a session, or of all, and the selected one. */
  async show(session, at) {
    const cells = Math.min(MOST, Math.max(1, Math.floor(this.#strip.clientWidth / WIDTH)));
    this.#cells = await ask("/strip", { session, cells });
    this.#strip.replaceChildren(
      ...this.#cells.map((cell) => {
        const shown = element("i", cell.kind);
        shown.classList.toggle("is-busy", cell.isBusy);
        shown.title = cell.title;
        return shown;
      }),
    );
    this.mark(at);
  }

  /** Marks the selected slot; null for the end. */
  mark(at) {
    const chosen = this.#cells.findLastIndex((cell) => cell.at !== null && (at === null || cell.at <= at));
    this.#strip.children[this.#chosen]?.classList.remove("is-chosen");
    this.#strip.children[chosen]?.classList.add("is-chosen");
    this.#chosen = chosen;
  }
}
