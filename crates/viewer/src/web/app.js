// The page's state: the selected moment, the filters, and what keys and buttons change.
// Reading order: this file, timeline.js (rows), strip.js (time), panes.js (a moment), replay.js, keys.js, parts.js
// (helpers).

import { listen } from "./keys.js";
import { showMoment, showSessions, showState, showWhole, toggleValue } from "./panes.js";
import { ask, byId, latest } from "./parts.js";
import { Replay } from "./replay.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";

const KINDS = ["", "calls", "stops", "output", "errors"];
/** How often pending calls are refreshed, in milliseconds. */
const SECOND = 1000;
/** The number of rows that Page Up scrolls. */
const SCREEN = 12;
/** The height of a line in pixels, for j and k. */
const LINE = 20;

const here = new URLSearchParams(location.search);
/** `open` lists the positions of expanded calls, separated by commas, or is `all`. */
const filter = { session: here.get("session") ?? "", kinds: "", text: "", open: "" };
/** The position of the selected entry; null to follow the end. */
let cursor = null;
/** The latest update from the server. */
let news = null;
/** The shown moment, and its text. */
let moment = null;
let shownAs = "";
let announced = "";
/** Counts jumps, so that a later one cancels an earlier one. */
let jumps = 0;

const timeline = new Timeline(() => filter, choose, () => act("open"), () => act("toggle"));
const strip = new Strip(goTo);
const replay = new Replay(gap, advance);

// The address with the token is no longer needed: a cookie replaces it. It is removed, so that it cannot be copied.
history.replaceState(null, "", filter.session ? `/?session=${encodeURIComponent(filter.session)}` : "/");

// -- updates -----------------------------------------------------------------------------------------------------

const refresh = latest(async () => {
  if (timeline.newer === null) await timeline.toEnd();
  showTimelineTitle();
  await strip.show(filter.session, cursor);
});

const refreshMoment = latest(async () => {
  // The row of a collapsed call shows its result.
  const withEffects = timeline.rows.find((row) => row.at === cursor)?.isOpen !== true;
  const asked = { session: filter.session, at: cursor, withEffects };
  const now = await ask("/moment", asked);
  // At the end, only the time may have changed.
  const text = JSON.stringify({ ...now, at: 0, time: "" });
  byId("time").textContent = now.time;
  const isOther = text !== shownAs;
  moment = now;
  shownAs = text;
  if (!isOther) return;
  const said = showState(now, now.at !== null);
  showMoment(now);
  timeline.showSession(now.sessionId);
  if (news) showSessions(news, filter.session, now.sessionId);
  document.title = now.state ? `${now.session}: ${now.state}, stillframe` : "stillframe";
  if (cursor === null && said !== announced) byId("announced").textContent = announced = said;
});

const events = new EventSource("/events");
events.addEventListener("news", (event) => {
  const before = news;
  news = JSON.parse(event.data);
  if (before === null || byId("pace").dataset.is === "gone") showPace();
  if (JSON.stringify(before?.sessions) !== JSON.stringify(news.sessions)) {
    showSessions(news, filter.session, moment?.sessionId);
  }
  refresh().then(() => timeline.mayHaveOlder(news.first));
  if (cursor === null) refreshMoment();
});
events.addEventListener("error", () => {
  byId("pace").textContent = "○ gone";
  byId("pace").dataset.is = "gone";
  say("the viewer has ended, or cannot be reached; what was read stays here");
});
setInterval(() => timeline.rows.some((row) => row.isBusy) && refresh(), SECOND);

// -- navigation --------------------------------------------------------------------------------------------------

function showPace() {
  const [is, text] = replay.isGoing ? ["replay", `▶ ×${replay.speed}`] : cursor === null ? ["live", "● live"] : ["past", "◷ past"];
  byId("pace").textContent = text;
  byId("pace").dataset.is = is;
  byId("speed").textContent = `×${replay.speed}`;
  button("live").setAttribute("aria-pressed", String(cursor === null && !replay.isGoing));
  button("play").setAttribute("aria-pressed", String(replay.isGoing));
}

/** Selects an entry and stays there. */
function show(at) {
  cursor = at;
  timeline.choose(at);
  strip.mark(at);
  showPace();
  return refreshMoment();
}

function choose(at) {
  replay.stop();
  show(at);
}

/** Goes to any entry, and expands the call that contains it. */
async function goTo(at, call = null) {
  replay.stop();
  const isHidden = call !== null && !timeline.rows.some((row) => row.at === at);
  if (filter.open !== "all" && revealed !== null && revealed !== call) {
    filter.open = opened().filter((other) => other !== String(revealed)).join(",");
    revealed = null;
    await timeline.restart({ around: at });
  }
  if (isHidden && !filter.kinds && !filter.text) {
    filter.open = [...opened(), call].join(",");
    revealed = call;
  }
  if (!timeline.rows.some((row) => row.at === at)) await timeline.restart({ around: at });
  return show(at);
}

/** The call that a jump has expanded, which the next jump collapses again. */
let revealed = null;

const opened = () => filter.open.split(",").filter(Boolean);

/** Expands or collapses the selected call, or the focused value. */
async function toggle() {
  const value = document.activeElement.closest("[data-path]");
  if (value) return toggleValue(value);
  const call = timeline.callOf(cursor);
  if (call?.isOpen === undefined || call.isOpen === null) return say("nothing to expand here");
  if (filter.open === "all") return say("all calls are expanded; O collapses them");
  const others = opened().filter((at) => at !== String(call.at));
  filter.open = (call.isOpen ? others : [...others, call.at]).join(",");
  await timeline.restart({ around: call.at });
  return show(call.at);
}

async function toggleAll() {
  const call = timeline.callOf(cursor);
  filter.open = filter.open === "all" ? "" : "all";
  button("toggle-all").setAttribute("aria-pressed", String(filter.open === "all"));
  if (cursor !== null) cursor = call?.at ?? cursor;
  await timeline.restart(cursor === null ? {} : { around: cursor });
  return show(cursor);
}

async function live() {
  replay.stop();
  jumps += 1;
  if (timeline.newer !== null) await timeline.restart();
  show(null);
}

async function first() {
  replay.stop();
  if (news && timeline.older !== null) {
    await timeline.restart({ first: news.first });
    timeline.mayHaveOlder(news.isComplete ? Infinity : news.first);
  }
  if (timeline.rows.length) await show(timeline.rows[0].at);
}

/** Moves by a number of rows. After the last row comes the end, which is followed. */
async function step(by) {
  replay.stop();
  let index = timeline.indexOf(cursor);
  if (index < 0) return;
  const at = timeline.rows[index].at;
  if (by < 0 && index + by < 0 && (await timeline.grow(false))) index = timeline.indexOf(at);
  if (by > 0 && index + by >= timeline.rows.length && (await timeline.grow(true))) index = timeline.indexOf(at);
  const last = timeline.rows.length - 1;
  if (by > 0 && index >= last && timeline.newer === null) return live();
  show(timeline.rows[Math.min(last, Math.max(0, index + by))].at);
}

/** The next row after a collapsed call follows everything that happened during it. */
function endOf(at) {
  const row = timeline.rows[timeline.indexOf(at) + 1];
  return timeline.callOf(at)?.isOpen === false && row ? row.at - 1 : at;
}

/** Goes to the next or previous row of a kind. At the end, the next one is the last. */
async function jump(what, isForward) {
  replay.stop();
  const own = ++jumps;
  const isLater = isForward && cursor !== null;
  let landing = { at: null, next: isLater ? endOf(cursor) : cursor };
  do {
    landing = await ask("/jump", { ...filter, what, forward: isLater, at: landing.next });
    if (own !== jumps) return;
  } while (landing.at === null && landing.next !== null);
  if (landing.at === null) return say(`no ${isLater ? "later" : "earlier"} ${what}${news?.isComplete ? "" : " so far"}`);
  await goTo(landing.at, landing.call);
}

/** The time in milliseconds between a row and the next; null for the last. */
function gap(steps) {
  const index = timeline.indexOf(cursor) + steps;
  const [row, next] = [timeline.rows[index], timeline.rows[index + 1]];
  return row && next ? next.timestamp - row.timestamp : null;
}

async function advance(steps) {
  const index = timeline.indexOf(cursor) + steps;
  if (index >= timeline.rows.length - 1 && timeline.newer === null) {
    await live();
    return false;
  }
  await show(timeline.rows[Math.min(index, timeline.rows.length - 1)].at);
  if (index >= timeline.rows.length - 10) await timeline.grow(true);
  return true;
}

async function play() {
  if (replay.isGoing) {
    replay.stop();
    return showPace();
  }
  // There is nothing to replay at the end, so start with the first row.
  if (cursor === null) await first();
  if (gap(0) !== null) replay.start();
  showPace();
}

// -- filters ------------------------------------------------------------------------------------------------------

async function change(changes) {
  replay.stop();
  jumps += 1;
  Object.assign(filter, changes);
  byId("kinds").value = filter.kinds;
  byId("text").value = filter.text;
  history.replaceState(null, "", filter.session ? `/?session=${encodeURIComponent(filter.session)}` : "/");
  if (news) showSessions(news, filter.session, moment?.sessionId);
  showPace();
  await timeline.restart(cursor === null ? {} : { around: cursor });
  timeline.choose(cursor);
  strip.show(filter.session, cursor).catch(() => {});
  showTimelineTitle();
  refreshMoment();
}

function showTimelineTitle() {
  const names = [filter.kinds, filter.text && `"${filter.text}"`].filter(Boolean);
  const count = `${timeline.rows.length}${timeline.older === null && timeline.newer === null ? "" : "+"} found`;
  byId("timeline-title").textContent = names.length ? `Timeline: ${names.join(", ")}, ${count}` : "Timeline";
}

/** Closes an open panel, or else removes one filter. */
function away() {
  if (replay.isGoing) {
    replay.stop();
    return showPace();
  }
  if (filter.text) return change({ text: "" });
  if (filter.kinds) return change({ kinds: "" });
  if (filter.session) return change({ session: "" });
  if (cursor !== null) live();
}

function nextKinds(by) {
  const at = KINDS.indexOf(filter.kinds) + by;
  change({ kinds: KINDS[(at + KINDS.length) % KINDS.length] });
}

// -- keys and buttons ---------------------------------------------------------------------------------------------

const ACTIONS = {
  back: () => step(-1),
  forward: () => step(1),
  first,
  live,
  error: () => jump("error", true),
  "error-back": () => jump("error", false),
  stop: () => jump("stop", true),
  "stop-back": () => jump("stop", false),
  play,
  faster: () => speed(false),
  slower: () => speed(true),
  kinds: () => nextKinds(1),
  "kinds-back": () => nextKinds(-1),
  search: () => byId("text").select(),
  "leave-field": () => {
    byId("text").value = filter.text;
    document.activeElement.blur();
    timeline.focus();
  },
  away,
  open: () => open(false),
  raw: () => open(true),
  toggle,
  "toggle-all": toggleAll,
  help: () => (byId("help").open ? byId("help").close() : byId("help").showModal()),
};

function act(name) {
  say("");
  Promise.resolve(ACTIONS[name]()).catch(() => {});
}

function speed(isSlower) {
  replay.change(isSlower);
  showPace();
  say(`replay at ×${replay.speed}`);
}

let isRaw = false;

/** Shows a whole entry, formatted or as JSON; the same key toggles. */
async function open(raw) {
  const row = timeline.rows[timeline.indexOf(cursor)];
  isRaw = raw && !(isRaw && byId("whole").open);
  if (row) showWhole(await ask("/entry", { at: row.at, raw: isRaw }));
}

/** Scrolls by lines or screens; in the timeline, moves through time. */
function move(pane, by, isScreens) {
  if (pane === "timeline") return void step(isScreens ? by * SCREEN : by);
  const body = byId(pane);
  if (pane === "sessions") {
    const buttons = [...body.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement) + (isScreens ? by * SCREEN : by);
    return buttons[Math.min(buttons.length - 1, Math.max(0, at))]?.focus();
  }
  body.scrollTop += isScreens ? by * body.clientHeight : by * LINE;
}

function say(text) {
  byId("notice").textContent = text;
}

const button = (action) => document.querySelector(`[data-action="${action}"]`);

for (const tool of document.querySelectorAll("[data-action]")) {
  tool.addEventListener("click", () => act(tool.dataset.action));
}
byId("sessions").addEventListener("click", (event) => {
  const session = event.target.closest("button")?.dataset.session;
  if (session !== undefined) change({ session: session === filter.session ? "" : session });
});
byId("kinds").addEventListener("change", (event) => change({ kinds: event.target.value }));
byId("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  // Otherwise the same key would activate the focused row.
  event.preventDefault();
  change({ text: event.target.value.trim() });
  // At once, so that the next key goes to the page and not to the field.
  event.target.blur();
  timeline.focus();
});
// The clear button of the field, in browsers that have one.
byId("text").addEventListener("search", (event) => event.target.value === "" && filter.text && change({ text: "" }));
listen(act, move);
