// The picture of a run: calls by depth over the numbers of events, exceptions, and the values of a variable.

const SVG = "http://www.w3.org/2000/svg";
/** Heights in pixels. */
const ROW = 18;
const TICKS = 18;
const VALUES = 46;
/** A character is about as wide, in pixels. */
const LETTER = 6.2;
/** The width that is drawn, in pixels; the picture is stretched to that of its place only when that changes. */
const NARROWEST = 320;
/** A pointer that moves less has clicked. */
const DRAG = 4;

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Draws into a place. `choose` gets an event, `zoom` two of them. */
export class Flame {
  constructor(place, choose, zoom) {
    this.place = place;
    this.choose = choose;
    this.zoom = zoom;
    this.cursor = null;
    this.pictures = [];
  }

  /** Shows a timeline and series of values, as the server gives them. */
  show(timeline, series) {
    this.from = timeline.from;
    this.to = timeline.to;
    this.width = Math.max(NARROWEST, this.place.clientWidth - 16);
    this.pictures = [];
    this.place.replaceChildren();
    for (const thread of timeline.threads) this.add(thread.name, this.calls(thread));
    for (const one of series) this.add(`${one.name} of ${one.owner}${one.isCut ? " (some of its values)" : ""}`, this.values(one));
    this.mark(this.cursor);
  }

  add(title, picture) {
    const heading = document.createElement("h3");
    heading.textContent = title;
    this.place.append(heading, picture);
    this.pictures.push(picture);
  }

  x(event) {
    return ((event - this.from) / (this.to - this.from)) * this.width;
  }

  picture(height, ...children) {
    const picture = shape("svg", { viewBox: `0 0 ${this.width} ${height}`, height, role: "img" }, ...children);
    const eventAt = (pointer) => {
      const box = picture.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (pointer.clientX - box.left) / box.width));
      return Math.round(this.from + part * (this.to - this.from));
    };
    let begin = null;
    const dragged = shape("rect", { class: "dragged", y: 0, height, width: 0 });
    picture.append(dragged);
    picture.addEventListener("pointerdown", (pointer) => {
      begin = { x: pointer.clientX, event: eventAt(pointer) };
      picture.setPointerCapture(pointer.pointerId);
    });
    picture.addEventListener("pointermove", (pointer) => {
      if (begin === null) return;
      const ends = [begin.event, eventAt(pointer)].sort((one, other) => one - other);
      dragged.setAttribute("x", this.x(ends[0]));
      dragged.setAttribute("width", this.x(ends[1]) - this.x(ends[0]));
    });
    picture.addEventListener("pointerup", (pointer) => {
      if (begin === null) return;
      const [from, to] = [begin.event, eventAt(pointer)].sort((one, other) => one - other);
      const isClick = Math.abs(pointer.clientX - begin.x) < DRAG || to - from < 2;
      begin = null;
      dragged.setAttribute("width", 0);
      if (isClick) this.choose(to);
      else this.zoom(from, to);
    });
    return picture;
  }

  calls(thread) {
    const depth = Math.max(...thread.spans.map((span) => span.depth)) + 1;
    const height = TICKS + depth * ROW + 2;
    const spans = thread.spans.map((span) => this.span(span));
    const thrown = thread.thrown.map(({ at, text }) => {
      const x = this.x(at);
      const points = `${x - 4},${TICKS - 1} ${x + 4},${TICKS - 1} ${x},${TICKS - 9}`;
      return shape("polygon", { class: "thrown", points }, titled(`${text} at event ${at}`));
    });
    return this.picture(height, this.ticks(height), ...spans, ...thrown);
  }

  span({ depth, begin, end, name, place, count }) {
    const [from, to] = [Math.max(0, this.x(begin)), Math.min(this.width, this.x(end))];
    const width = Math.max(0.5, to - from);
    const y = TICKS + depth * ROW;
    const text = count > 1 ? `${count} calls` : name;
    const label = labelled(text, from, y + 12, width);
    const about = count > 1 ? `${count} calls, events ${begin} to ${end}` : `${name} (${place}), events ${begin} to ${end}`;
    const box = shape("rect", { x: from, y, width, height: ROW - 1, rx: 2 });
    return shape("g", { class: count > 1 ? "span many" : "span" }, box, label, titled(about));
  }

  ticks(height) {
    const step = niceStep((this.to - this.from) / Math.max(2, this.width / 90));
    const marks = [];
    for (let at = Math.ceil(this.from / step) * step; at < this.to; at += step) {
      const x = this.x(at);
      const text = shape("text", { x: x + 3, y: 11 });
      text.textContent = String(at);
      marks.push(shape("line", { x1: x, x2: x, y1: 0, y2: height }), text);
    }
    return shape("g", { class: "ticks" }, ...marks);
  }

  /** Numbers as a line of steps, other values as boxes with their texts. */
  values({ steps, name, until }) {
    const shown = steps.map((step, at) => ({ ...step, end: steps[at + 1]?.at ?? until ?? this.to })).filter((step) => step.end > this.from && step.at < this.to);
    const numbers = shown.map((step) => step.number).filter((number) => number !== null);
    const isLine = numbers.length === shown.length && numbers.length > 0;
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const y = (number) => (high === low ? VALUES / 2 : 8 + (1 - (number - low) / (high - low)) * (VALUES - 16));
    const parts = [];
    if (isLine) {
      const points = shown.map((step) => `${Math.max(0, this.x(step.at))},${y(step.number)} ${Math.min(this.width, this.x(step.end))},${y(step.number)}`);
      parts.push(shape("path", { d: `M${points.join(" L")}` }));
      for (const [text, at] of low === high ? [[low, VALUES / 2 - 4]] : [[high, 10], [low, VALUES - 2]]) {
        const label = shape("text", { x: 2, y: at });
        label.textContent = String(text);
        parts.push(label);
      }
    }
    for (const step of shown) {
      const from = Math.max(0, this.x(step.at));
      const width = Math.max(0.5, Math.min(this.width, this.x(step.end)) - from);
      const box = { x: from, y: 6, width, height: VALUES - 12 };
      const about = titled(`${name} = ${step.text} after event ${step.at}`);
      if (isLine) parts.push(shape("rect", { ...box, "fill-opacity": 0, "stroke-opacity": 0 }, about));
      else {
        parts.push(shape("rect", box, about), labelled(step.text, from, VALUES / 2 + 4, width));
      }
    }
    return this.picture(VALUES, shape("g", { class: "series" }, ...parts));
  }

  /** Shows where the selected event is. */
  mark(event) {
    this.cursor = event;
    for (const picture of this.pictures) {
      picture.querySelector(".cursor")?.remove();
      if (event === null || event < this.from || event > this.to) continue;
      const x = this.x(event);
      picture.append(shape("line", { class: "cursor", x1: x, x2: x, y1: 0, y2: picture.viewBox.baseVal.height }));
    }
  }
}

/** A text in a box, as much of it as has room. */
function labelled(text, from, y, width) {
  const label = shape("text", { x: from + 3, y });
  const room = Math.floor((width - 6) / LETTER);
  label.textContent = room < 2 ? "" : text.length > room ? `${text.slice(0, room - 1)}…` : text;
  return label;
}

/** What a pointer that rests on something sees. */
function titled(text) {
  const title = shape("title", {});
  title.textContent = text;
  return title;
}

/** 1, 2 or 5 with zeros behind. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? power * 10;
}
