// What the other files are made with.

/** The element of that id. */
export const byId = (id) => document.getElementById(id);

/** A new element. Texts of programs come in here, as text and never as HTML. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A text that is seen on the screen, and for those who hear the page, another one. */
export function sign(className, seen, heard) {
  const shown = element("span", className, seen);
  shown.setAttribute("aria-hidden", "true");
  return heard ? [shown, element("span", "hidden", `${heard} `)] : [shown];
}

/** The pieces of a line of source, each in its colour. */
export const pieces = (line) => line.map(([kind, text]) => (kind ? element("span", kind, text) : text));

/** Asks the server. What is null or undefined is not asked for. */
export async function ask(path, wanted = {}) {
  const given = Object.entries(wanted).filter(([, value]) => value !== null && value !== undefined);
  const answer = await fetch(`${path}?${new URLSearchParams(given)}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** Does something again and again, never twice at once: what is asked for meanwhile is done once, afterwards. */
export function latest(work) {
  let running = null;
  let isWanted = false;
  const run = async () => {
    while (isWanted) {
      isWanted = false;
      // The events show that a server does not answer.
      await work().catch(() => {});
    }
    running = null;
  };
  return () => {
    isWanted = true;
    running ??= run();
    return running;
  };
}

/** The last part of a path. */
export const fileName = (path) => path.split(/[/\\]/).pop() || path;
