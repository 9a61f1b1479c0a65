// Makes the list of `Adapter::as_json`. One expression, because it is evaluated in a frame of the program.
// Only what JSON says in full is written as JSON: plain data and the fields of objects that are nothing more.
(value, longest) => {
  let left = longest;
  const isData = (value) => {
    // Every value takes a character at least, so that a huge one is given up early.
    if (--left < 0) return false;
    if (value === null || typeof value === "string" || typeof value === "boolean") return true;
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value !== "object" || typeof value.toJSON === "function") return false;
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) if (!isData(value[at])) return false;
      return true;
    }
    if (Object.prototype.toString.call(value) !== "[object Object]") return false;
    for (const key of Object.keys(value)) if (!isData(value[key])) return false;
    return true;
  };
  const written = () => {
    if (!isData(value)) return 0;
    const text = JSON.stringify(value);
    if (text.length > longest) return 0;
    const escaped = (letter) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0");
    return text.replace(/[^\x20-\x7d]|\x27/g, escaped).replace(/\\/g, "~");
  };
  let text = 0;
  // A cycle is too deep, and a getter may throw.
  try { text = written(); } catch {}
  return [typeof value, text, value];
}
