// What is shown of a moment.

import { byId, element, fileName, pieces, sign } from "./parts.js";

const STATE_SIGNS = { paused: "■", running: "▸", created: "◆" };
const CATEGORY_SIGNS = { stderr: "┃", log: "»", console: "·" };

/** The sessions, the newest first, below a button for all of them. */
export function showSessions(news, only, shown) {
  byId("sessions-title").textContent = `Sessions ${news.sessionCount}`;
  const all = element("button", "", element("span", "text", "all, whichever acts"));
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

/** The line at the top. Gives the same as a text, for those who hear the page. */
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
  if (at) {
    parts.push(element("span", "faint", " at "), element("span", "place", `${fileName(at.file)}:${at.line}`));
    if (at.function) parts.push(element("span", "faint", " in "), at.function);
  }
  const why = [moment.reason, moment.description].filter(Boolean).join(", ");
  if (why) parts.push(element("span", moment.reason === "exception" ? "wrong" : "", `: ${why}`));
  state.replaceChildren(...parts);
  return state.textContent;
}

/** Everything about a moment but the line at the top. */
export function showMoment(moment) {
  showSource(moment);
  showVariables(moment);
  showStack(moment);
  showOutput(moment);
}

function showSource(moment) {
  const at = moment.location;
  byId("source-title").textContent = at ? `Source ${at.file}:${at.line}` : "Source";
  if (!moment.source.length) {
    return fill("source", [nothing("p", moment.state ? moment.withoutSource : "appears when a program is suspended")]);
  }
  const digits = String(moment.source.at(-1).number).length;
  const lines = moment.source.map((line) => {
    const mark = line.breakpoint === null ? [" "] : sign("breakpoint", line.breakpoint ? "●" : "○", "breakpoint");
    const number = `${String(line.number).padStart(digits)}${line.isCurrent ? "▶" : " "}`;
    const gutter = element("span", "gutter", ...mark, number);
    const shown = element("div", "line", gutter, element("span", "words", ...pieces(line.pieces)));
    shown.classList.toggle("is-current", line.isCurrent);
    if (line.isCurrent) shown.setAttribute("aria-current", "true");
    return shown;
  });
  if (moment.description) {
    lines.push(element("p", moment.reason === "exception" ? "wrong" : "strong", `▲ ${moment.description}`));
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
  const rows = moment.variables.map((one) => {
    const isChanged = one.before !== null || one.isNew;
    const [mark, heard] = one.before !== null ? ["~", "changed"] : one.isNew ? ["+", "new"] : [" ", ""];
    const value = element("dd", isChanged ? "changed" : "");
    if (one.before !== null) value.append(element("del", "", one.before), element("span", "faint", " → "));
    value.append(element("span", "value", one.value));
    if (one.type) value.append(" ", element("span", "type", one.type));
    return element("div", "", element("dt", "", ...sign("sign", mark, heard), element("span", "name", one.name)), value);
  });
  fill("variables", [element("dl", "values", ...rows)]);
}

function showStack(moment) {
  const count = moment.stack.length;
  byId("stack-title").textContent = `Stack${count ? ` ${count}` : ""}`;
  if (!count) return fill("stack", [nothing("p", "appears when a program is suspended")]);
  const frames = moment.stack.map((frame, number) => {
    const place = element("span", "took", `${fileName(frame.file)}:${frame.line}`);
    place.title = frame.file;
    const mark = sign("sign", number === 0 ? "▶" : " ");
    return element("li", number === 0 ? "is-current" : "", ...mark, element("span", "text", frame.function || "?"), place);
  });
  fill("stack", [element("ol", "frames", ...frames)]);
}

function showOutput(moment) {
  if (!moment.output.length) return fill("output", [nothing("p", "what the program writes appears here")]);
  const body = byId("output");
  const wasAtEnd = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
  const lines = moment.output.map((line) => {
    const mark = sign("sign", CATEGORY_SIGNS[line.category] ?? " ", line.category === "stderr" ? "error output:" : "");
    const shown = element("div", "line", ...mark, element("span", "words", line.text));
    // A category is a word of another program, so it is a value here and no class.
    shown.dataset.category = line.category || "remark";
    return shown;
  });
  fill("output", lines);
  if (wasAtEnd) body.scrollTop = body.scrollHeight;
}

/** An entry as it is in the journal. */
export function showWhole(whole) {
  byId("whole-title").textContent = whole.title;
  byId("whole-lines").replaceChildren(...whole.lines.map((line) => element("div", "line", ...pieces(line), "\n")));
  byId("whole").showModal();
}

const nothing = (tag, text) => element(tag, "nothing", text);
const fill = (id, children) => byId(id).replaceChildren(...children);
