// The panes that show a moment.

import { byId, element, fileName, pieces, sign } from "./parts.js";

const STATE_SIGNS = { paused: "■", running: "▷", created: "◆", lost: "✗" };
const CATEGORY_SIGNS = { stderr: "┃", log: "»", console: "·" };

/** Lists the sessions, newest first, below a button for all of them. */
export function showSessions(news, only, shown) {
  byId("sessions-title").textContent = `Sessions ${news.sessionCount}`;
  const all = element("button", "", element("span", "text", "all, follow the newest"));
  const items = [sessionItem(all, "", !only)];
  for (const session of news.sessions) {
    const button = element("button", session.id === shown ? "is-shown" : "");
    button.append(...sign("sign", STATE_SIGNS[session.state] ?? "○"), element("span", "text", session.name));
    button.append(element("span", "faint", session.language), element("span", "took", session.state));
    items.push(sessionItem(button, session.id, session.id === only, session.state));
  }
  const list = byId("sessions");
  const at = [...list.children].findIndex((item) => item.contains(document.activeElement));
  if (news.sessions.length) {
    list.replaceChildren(...items);
    list.children[at]?.firstElementChild.focus({ preventScroll: true });
  } else {
    list.replaceChildren(nothing("li", "none yet: they appear when an agent opens them"));
  }
}

function sessionItem(button, id, isOnly, state = "") {
  button.type = "button";
  button.dataset.session = id;
  button.setAttribute("aria-pressed", String(isOnly));
  return element("li", state, button);
}

/** Shows the line at the top, and returns it as text for screen readers. */
export function showState(moment, hasEntries) {
  const state = byId("state");
  if (!moment.state) {
    const text = hasEntries ? "no session here" : "no session yet";
    state.replaceChildren(element("span", "faint", text));
    return text;
  }
  const parts = [element("strong", "", moment.session), " ", element("span", "faint", moment.language), "  "];
  parts.push(element("span", `state ${moment.state}`, moment.state));
  const at = moment.location;
  if (moment.isPast) parts.push(element("span", "faint", ", last stop"));
  if (at) {
    parts.push(element("span", "faint", " at "), element("span", "place", `${fileName(at.file)}:${at.line}`));
    if (at.function) parts.push(element("span", "faint", " in "), at.function);
  }
  const why = [moment.reason, moment.description].filter(Boolean).join(", ");
  if (why) parts.push(element("span", moment.isException ? "wrong" : "", `: ${why}`));
  if (moment.editor) parts.push(element("span", "faint", "  editor: "), element("span", "place", moment.editor));
  state.replaceChildren(...parts);
  return state.textContent;
}

/** Shows everything of a moment except the line at the top. */
export function showMoment(moment) {
  showSource(moment);
  showVariables(moment);
  showStack(moment);
  showOutput(moment);
}

function showSource(moment) {
  const at = moment.location;
  byId("source-title").textContent = at ? `${moment.isPast ? "Last stop" : "Source"} ${at.file}:${at.line}` : "Source";
  if (!moment.source.length) {
    return fill("source", [nothing("p", moment.state ? moment.withoutSource : "appears at a stop")]);
  }
  const digits = String(moment.source.at(-1).number).length;
  const lines = moment.source.map((line) => {
    const mark = line.breakpoint === null ? [" "] : sign("breakpoint", line.breakpoint ? "●" : "○", "breakpoint");
    const number = `${String(line.number).padStart(digits)}${line.isCurrent ? "▶" : " "}`;
    const gutter = element("span", "gutter", ...mark, number);
    const values = line.values.map(([name, value, isChanged]) => {
      const shown = element("span", isChanged ? "inline is-changed" : "inline", `${name} = ${value}`);
      shown.title = value;
      return shown;
    });
    const shown = element("div", "line", gutter, element("span", "words", ...pieces(line.pieces)), ...values);
    shown.classList.toggle("is-current", line.isCurrent);
    if (line.isCurrent) shown.setAttribute("aria-current", "true");
    return shown;
  });
  if (moment.description) {
    lines.push(element("p", moment.isException ? "wrong" : "strong", `▲ ${moment.description}`));
  }
  fill("source", lines);
  const body = byId("source");
  const current = body.querySelector(".is-current");
  if (current) body.scrollTop = current.offsetTop - (body.clientHeight - current.offsetHeight) / 2;
}

function showVariables(moment) {
  const changed = moment.variables.filter((one) => one.before !== null || one.isNew).length;
  const count = moment.variables.length;
  byId("variables-title").textContent = `Variables${count ? ` ${count}` : ""}${changed ? `, ${changed} changed` : ""}`;
  if (!count) {
    const text = moment.state ? moment.withoutVariables : "appear when an agent reads them at a stop";
    return fill("variables", [nothing("p", text)]);
  }
  fill("variables", [element("dl", "values", ...valueRows(moment.variables, "", 0))]);
  shownMoment = moment;
}

/** The moment whose variables are shown, and the paths of expanded ones. */
let shownMoment = null;
const openValues = new Set();

/** A row for each variable, and for each child of expanded ones. */
function valueRows(variables, parent, depth) {
  return variables.flatMap((one) => {
    const path = `${parent}/${one.name}`;
    const isOpen = openValues.has(path);
    const row = valueRow(one, path, depth, isOpen);
    if (!isOpen || !one.parts.length) return [row];
    const rows = [row, ...valueRows(one.parts, path, depth + 1)];
    if (one.more) rows.push(element("div", "", element("dt", "faint", ...indent(depth + 1), `and ${one.more} more`)));
    return rows;
  });
}

function valueRow(one, path, depth, isOpen) {
  const isChanged = one.before !== null || one.isNew;
  const [mark, spoken] = one.before !== null ? ["~", "changed"] : one.isNew ? ["+", "new"] : [" ", ""];
  const value = element("dd", isChanged ? "changed" : "");
  if (one.before !== null) value.append(element("del", "", one.before), element("span", "faint", " → "));
  value.append(element("span", "value", one.value));
  value.title = one.value;
  if (one.type) value.append(" ", element("span", "type", one.type));
  const fold = element(one.parts.length ? "button" : "span", "fold", one.parts.length ? (isOpen ? "▾" : "▸") : " ");
  if (one.parts.length) {
    fold.type = "button";
    fold.dataset.path = path;
    fold.setAttribute("aria-expanded", String(isOpen));
    fold.setAttribute("aria-label", `parts of ${one.name}`);
  }
  const name = element("dt", "", ...sign("sign", mark, spoken), ...indent(depth), fold, element("span", "name", one.name));
  return element("div", "", name, value);
}

const indent = (depth) => Array.from({ length: depth }, () => element("span", "indent"));

/** Expands or collapses a value in place. */
export function toggleValue(button) {
  const path = button.dataset.path;
  if (!openValues.delete(path)) openValues.add(path);
  showVariables(shownMoment);
  [...byId("variables").querySelectorAll(".fold")].find((one) => one.dataset.path === path)?.focus();
}
byId("variables").addEventListener("click", (event) => {
  const button = event.target.closest("[data-path]");
  if (button) toggleValue(button);
});

function showStack(moment) {
  const count = moment.stack.length;
  byId("stack-title").textContent = `Stack${count ? ` ${count}` : ""}`;
  if (!count) return fill("stack", [nothing("p", "appears at a stop")]);
  const frames = moment.stack.map((frame, number) => {
    const place = element("span", "took", `${fileName(frame.file)}:${frame.line}`);
    place.title = frame.file;
    const mark = sign("sign", number === 0 ? "▶" : " ");
    return element("li", number === 0 ? "is-current" : "", ...mark, element("span", "text", frame.function || "?"), place);
  });
  fill("stack", [element("ol", "frames", ...frames)]);
}

function showOutput(moment) {
  if (!moment.output.length) return fill("output", [nothing("p", "the program's output appears here")]);
  const body = byId("output");
  const wasAtEnd = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
  const lines = moment.output.map((line) => {
    if (line.isDivider) return element("div", "divider", line.text);
    const mark = sign("sign", CATEGORY_SIGNS[line.category] ?? " ", line.category === "stderr" ? "error output:" : "");
    const shown = element("div", "line", ...mark, element("span", "words", line.text));
    // A category comes from another program, so it is an attribute value and not a class.
    shown.dataset.category = line.category || "remark";
    return shown;
  });
  fill("output", lines);
  if (wasAtEnd) body.scrollTop = body.scrollHeight;
}

/** Shows an entry as it is in the journal. */
export function showWhole(whole) {
  byId("whole-title").textContent = whole.title;
  byId("whole-lines").replaceChildren(...whole.lines.map((line) => element("div", "line", ...pieces(line), "\n")));
  if (!byId("whole").open) byId("whole").showModal();
}

const nothing = (tag, text) => element(tag, "nothing", text);
const fill = (id, children) => byId(id).replaceChildren(...children);
