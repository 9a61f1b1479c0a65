// The rows of the timeline: a window, which grows at both ends while scrolling.

import { ask, byId, element, sign } from "./parts.js";

/** The number of rows per request, and the maximum that is kept. */
const PAGE = 150;
const MOST = 600;
/** The distance from an end at which more rows are loaded, in pixels. */
const NEAR = 300;

const HEARD = {
  busy: "running", good: "answered", bad: "failed", unanswered: "no answer", stop: "stop", thrown: "exception",
  breakpoint: "breakpoint", variables: "values", session: "session", output: "output", "error-output": "error output",
};

export class Timeline {
  /** Sorted by time. `at` is the position of an entry, which never changes. */
  rows = [];
  /** Cursors of older and newer rows; null if there are none. */
  older = null;
  newer = null;
  isSearching = false;
  #list = byId("timeline");
  #items = new Map();
  #chosen = null;
  #wanted;
  /** Counts requests, so that outdated responses are ignored. */
  #asked = 0;
  #isGrowing = false;

  /**
   * `wanted` returns the filter; `choose` is called with the position of a clicked row, `open` on a double click, and
   * `toggle` on a click on its triangle.
   */
  constructor(wanted, choose, open, toggle) {
    this.#wanted = wanted;
    this.#list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      choose(Number(button.dataset.at));
      if (event.target.closest(".fold")) toggle();
    });
    this.#list.addEventListener("dblclick", (event) => event.target.closest("button") && open());
    this.#list.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  /** Loads the newest rows. Older loaded ones stay if there is no gap. */
  async toEnd() {
    const asked = this.#asked;
    const page = await this.#page({});
    if (asked !== this.#asked) return;
    const first = page.rows[0]?.at;
    const meets = this.newer === null && first !== undefined && this.rows.some((row) => row.at >= first);
    const kept = meets ? this.rows.filter((row) => row.at < first) : [];
    const answered = await this.#answered(kept);
    if (asked !== this.#asked) return;
    if (!kept.length) this.older = page.older;
    this.newer = null;
    this.rows = [...answered, ...page.rows];
    this.#cut(true);
    this.render();
  }

  /** Reloads around a position, or at the beginning or end. */
  async restart({ around, first } = {}) {
    const asked = ++this.#asked;
    this.rows = [];
    this.older = this.newer = null;
    if (around === undefined && first === undefined) return this.toEnd();
    const page = await this.#page(first === undefined ? { around } : { after: first - 1 });
    if (asked !== this.#asked) return;
    ({ rows: this.rows, older: this.older, newer: this.newer } = page);
    this.render();
  }

  /** Loads older or newer rows. Returns whether rows were added. */
  async grow(isNewer) {
    const from = isNewer ? this.newer : this.older;
    if (from === null || this.#isGrowing) return false;
    this.#isGrowing = true;
    const asked = this.#asked;
    try {
      const page = await this.#page(isNewer ? { after: from } : { before: from });
      if (asked !== this.#asked) return false;
      if (isNewer) {
        this.rows.push(...page.rows);
        this.newer = page.newer;
      } else {
        this.rows.unshift(...page.rows);
        this.older = page.older;
      }
      this.#cut(isNewer);
      const before = this.#list.scrollHeight - this.#list.scrollTop;
      this.render();
      if (!isNewer) this.#list.scrollTop = this.#list.scrollHeight - before;
      return page.rows.length > 0;
    } finally {
      this.#isGrowing = false;
    }
  }

  /** Called when older parts of the journal were read: there may be more rows. */
  mayHaveOlder(place) {
    if (this.older === null && (this.rows[0]?.at ?? Infinity) > place) this.older = place;
    if (this.#list.scrollHeight <= this.#list.clientHeight) this.grow(false);
  }

  /** The selected call, or the call that contains the selection. */
  callOf(at) {
    const index = this.indexOf(at);
    const row = this.rows[index];
    return row?.isEffect ? this.rows.slice(0, index).findLast((one) => !one.isEffect && one.isOpen) : row;
  }

  /** The row of a position: the last one not after it, or else the first; the last row for null. */
  indexOf(at) {
    if (at === null) return this.rows.length - 1;
    const behind = this.rows.findIndex((row) => row.at > at);
    return behind < 0 ? this.rows.length - 1 : Math.max(0, behind - 1);
  }

  /** Selects a row; null for the last one. */
  choose(at) {
    this.#chosen = at;
    this.#mark(true);
  }

  /** Dims rows of other sessions. */
  showSession(id) {
    this.#list.dataset.session = id ?? "";
    for (const row of this.rows) this.#items.get(row.at)?.classList.toggle("is-other", isOther(row, id));
  }

  /** Focuses the selected row. */
  focus() {
    this.#list.querySelector('[aria-current="true"]')?.focus({ preventScroll: true });
  }

  render() {
    const list = this.#list;
    const wasAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    const before = this.#items;
    const focused = list.contains(document.activeElement);
    const shown = list.dataset.session || null;
    this.#items = new Map();
    for (const row of this.rows) {
      const known = before.get(row.at);
      const text = JSON.stringify(row);
      const item = known?.shownAs === text ? known : itemOf(row, text, shown);
      this.#items.set(row.at, item);
    }
    const items = [...this.#items.values()];
    const isOther = items.length !== list.children.length || items.some((item, at) => list.children[at] !== item);
    if (!items.length) {
      list.replaceChildren(element("li", "nothing", this.#nothing()));
    } else if (isOther) {
      list.replaceChildren(...items);
    }
    this.#mark(false);
    if (this.#chosen === null && wasAtEnd) list.scrollTop = list.scrollHeight;
    if (focused) this.focus();
  }

  #nothing() {
    const { kinds, text, session } = this.#wanted();
    if (this.isSearching) return "searching…";
    if (kinds || text) return "no match; Esc shows everything again";
    return session ? "nothing yet in this session" : "nothing yet: what an agent does with stillframe is shown here as it happens";
  }

  /** Requests until rows arrive or none are left: with a filter, the server searches one part at a time. */
  async #page(part) {
    const asked = this.#asked;
    let page = await ask("/rows", { ...this.#wanted(), limit: PAGE, ...part });
    while (!page.rows.length && asked === this.#asked && this.#hasMore(page)) {
      this.isSearching = true;
      if (!this.rows.length) this.render();
      const next = page.newer === null ? { before: page.older } : { after: page.newer };
      page = await ask("/rows", { ...this.#wanted(), limit: PAGE, ...next });
    }
    this.isSearching = false;
    return page;
  }

  #hasMore(page) {
    const { kinds, text, session } = this.#wanted();
    return Boolean(kinds || text || session) && (page.older !== null || page.newer !== null);
  }

  /** Refreshes rows of calls that were pending when they were loaded. */
  async #answered(rows) {
    const now = rows.map(async (row) => {
      if (!row.isBusy) return row;
      const page = await ask("/rows", { ...this.#wanted(), around: row.at, limit: 1 });
      return page.rows[0]?.at === row.at ? page.rows[0] : row;
    });
    return Promise.all(now);
  }

  /** Drops rows at the end that is out of view. */
  #cut(isNewer) {
    const tooMany = this.rows.length - MOST;
    if (tooMany <= 0) return;
    if (isNewer) {
      this.rows.splice(0, tooMany);
      this.older = this.rows[0].at;
    } else {
      this.rows.splice(MOST);
      this.newer = this.rows.at(-1).at;
    }
  }

  #mark(isMoved) {
    const chosen = this.rows[this.indexOf(this.#chosen)]?.at;
    for (const [at, item] of this.#items) {
      const button = item.firstElementChild;
      const isChosen = at === chosen;
      if (isChosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen && isMoved) this.#scrollTo(item);
    }
  }

  /** Scrolls only the list, not the page. */
  #scrollTo(item) {
    const list = this.#list;
    const top = item.offsetTop;
    const margin = item.offsetHeight * 2;
    if (top < list.scrollTop + margin) list.scrollTop = top - margin;
    const bottom = top + item.offsetHeight + margin;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#list;
    if (scrollTop < NEAR && this.older !== null) this.grow(false).catch(() => {});
    else if (scrollHeight - scrollTop - clientHeight < NEAR && this.newer !== null) this.grow(true).catch(() => {});
  }
}

const isOther = (row, shown) => Boolean(shown && row.sessionId && row.sessionId !== shown);

function itemOf(row, shownAs, shown) {
  const button = element("button", "");
  button.type = "button";
  button.dataset.at = row.at;
  button.append(element("span", "time", row.time));
  button.append(...sign("fold", row.isOpen === null ? " " : row.isOpen ? "▾" : "▸"));
  button.append(...sign("sign", row.sign, HEARD[row.kind]));
  if (row.isOpen !== null) button.setAttribute("aria-expanded", String(row.isOpen));
  const text = element("span", "text", row.text);
  if (row.outcome) {
    const [mark, kind, outcome] = row.outcome;
    text.append(" ", element("span", "outcome", "→ ", element("span", kind, mark), mark && " ", outcome));
  }
  text.title = text.textContent;
  button.append(text);
  if (row.session) button.append(element("span", "whose", row.session));
  if (row.took) button.append(element("span", "took", row.took));
  const item = element("li", row.kind, button);
  item.classList.toggle("is-other", isOther(row, shown));
  item.classList.toggle("is-effect", row.isEffect);
  item.shownAs = shownAs;
  return item;
}
