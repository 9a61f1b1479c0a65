// The page of a recording: which part of it is shown, the selected event, and what keys and buttons change.

import { Flame } from "./flame.js";
import { byId, element } from "./parts.js";

const here = new URLSearchParams(location.search);
/** The shown recording, its part, the variable, and the selected event. */
const shown = { name: here.get("name") ?? "", from: null, to: null, target: here.get("target") ?? "", at: null };
let timeline = null;
let series = [];
/** Counts requests, so that an answer that comes too late is not shown. */
let asked = 0;

const flame = new Flame(byId("flame"), select, zoom);

/** Requests a path. An error has the server's text. */
async function ask(path, wanted = {}) {
  const given = Object.entries(wanted).filter(([, value]) => value !== null && value !== "");
  const answer = await fetch(`${path}?${new URLSearchParams(given)}`);
  if (!answer.ok) throw new Error((await answer.text()) || `${path}: ${answer.status}`);
  return answer.json();
}

function say(text) {
  byId("notice").textContent = text;
}

/** The address without the token, which a cookie replaces. */
function remember() {
  const query = new URLSearchParams({ name: shown.name });
  if (shown.target) query.set("target", shown.target);
  history.replaceState(null, "", `/recording?${query}`);
}

async function showNames() {
  const list = await ask("/recordings");
  byId("name").replaceChildren(
    ...list.map(({ name, command, end }) => {
      const option = element("option", "", `${name}: ${command}; ${end}`);
      option.value = name;
      return option;
    }),
  );
  if (!list.length) throw new Error("there are no recordings: make one with `stillframe record -- COMMAND`");
  if (!shown.name || shown.name === "last") shown.name = list[0].name;
  byId("name").value = shown.name;
}

/** Shows a part of the run; null for its beginning or end. */
async function part(from, to) {
  const own = ++asked;
  const { name } = shown;
  const next = await ask("/recording/timeline", { name, from, to });
  if (own !== asked) return;
  timeline = next;
  Object.assign(shown, { from: next.from, to: next.to });
  byId("about").textContent = `${next.command}, ${next.end}, events ${next.first} to ${next.last}`;
  byId("flame-title").textContent = `Calls, events ${next.from} to ${next.to - 1}`;
  document.title = `${name}, stillframe`;
  flame.show(next, series);
}

async function values() {
  series = [];
  if (shown.target) {
    const { name, target } = shown;
    series = (await ask("/recording/values", { name, target })).map((one) => ({ ...one, name: target }));
  }
  remember();
}

async function open(name) {
  Object.assign(shown, { name, at: null });
  flame.mark(null);
  await values().catch((error) => say(error.message));
  await part(null, null);
  await state(null);
}

async function state(at) {
  const { text, event } = await ask("/recording/state", { name: shown.name, at });
  shown.at = event;
  byId("state").textContent = text;
  byId("state-title").textContent = `State at event ${event}`;
  flame.mark(event);
}

function select(event) {
  const { first, last } = timeline;
  return act(() => state(String(Math.min(last, Math.max(first, event)))));
}

function zoom(from, to) {
  return act(() => part(Math.max(timeline.first, from), Math.min(timeline.last + 1, to)));
}

/** Zooms by a factor around the selected event, or the middle. */
function scale(factor) {
  const { from, to } = shown;
  const isInside = shown.at !== null && shown.at >= from && shown.at < to;
  const middle = isInside ? shown.at : (from + to) / 2;
  return zoom(Math.round(middle - (middle - from) * factor), Math.round(middle + (to - middle) * factor) + 1);
}

/** Goes to the next exception, and to the first one after the last. */
function thrown() {
  const all = timeline.threads.flatMap((thread) => thread.thrown.map(({ at }) => at)).sort((one, other) => one - other);
  if (!all.length) return say("no exception was thrown in this part");
  return select(all.find((at) => at > (shown.at ?? 0)) ?? all[0]);
}

async function act(what) {
  say("");
  try {
    await what();
  } catch (error) {
    say(error.message);
  }
}

const ACTIONS = {
  back: () => select((shown.at ?? timeline.last) - 1),
  forward: () => select((shown.at ?? timeline.first) + 1),
  thrown,
  closer: () => scale(0.5),
  wider: () => scale(2),
  whole: () => act(() => part(null, null)),
};
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", e: "thrown", "+": "closer", "=": "closer", "-": "wider", 0: "whole" };

for (const tool of document.querySelectorAll("[data-action]")) {
  tool.addEventListener("click", () => timeline && ACTIONS[tool.dataset.action]());
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select")) return;
  if (event.key === "/") byId("target").select();
  else if (KEYS[event.key] && timeline) ACTIONS[KEYS[event.key]]();
  else return;
  event.preventDefault();
});
byId("name").addEventListener("change", (event) => act(() => open(event.target.value)));
byId("target").value = shown.target;
byId("target").addEventListener("change", (event) => {
  shown.target = event.target.value.trim();
  act(async () => {
    await values().finally(() => timeline && flame.show(timeline, series));
    document.querySelector(".series")?.scrollIntoView({ block: "nearest" });
  });
});
new ResizeObserver(() => timeline && flame.show(timeline, series)).observe(byId("flame"));

act(async () => {
  await showNames();
  await open(shown.name);
});
