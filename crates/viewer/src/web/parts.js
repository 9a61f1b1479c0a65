// Helpers for the other files.

/** The element with an ID. */
export const byId = (id) => document.getElementById(id);

/** Creates an element. Texts of programs are added as text, never as HTML. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A visible text, and a different one for screen readers. */
export function sign(className, seen, spoken) {
  const shown = element("span", className, seen);
  shown.setAttribute("aria-hidden", "true");
  return spoken ? [shown, element("span", "hidden", `${spoken} `)] : [shown];
}

/** The highlighted tokens of a source line. */
export const pieces = (line) => line.map(([kind, text]) => (kind ? element("span", kind, text) : text));

/** Requests a path of the server. Null and undefined parameters are omitted. */
export async function ask(path, wanted = {}) {
  const given = Object.entries(wanted).filter(([, value]) => value !== null && value !== undefined);
  const answer = await fetch(`${path}?${new URLSearchParams(given)}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** Runs `work` on request, never concurrently: requests that arrive meanwhile cause one further run. */
export function latest(work) {
  let running = null;
  let isWanted = false;
  const run = async () => {
    while (isWanted) {
      isWanted = false;
      // The event stream shows that the server does not respond.
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

/** The last component of a path. */
export const fileName = (path) => path.split(/[/\\]/).pop() || path;
