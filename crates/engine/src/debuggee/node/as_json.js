// Returns the list of `Adapter::as_json`. It is one expression, because it is evaluated in a frame of the program. The
// same values become JSON as in `recorder.js`.
(value, longest) => {
  const kinds = ["Map", "Set", "WeakMap", "WeakSet", "RegExp", "Promise", "Error"];
  const isBeyondJson = () => {
    switch (typeof value) {
      case "number":
        return !Number.isFinite(value) || Object.is(value, -0);
      case "object":
        return kinds.includes(Object.prototype.toString.call(value).slice(8, -1));
      case "string":
      case "boolean":
        return false;
      default:
        return true;
    }
  };
  const escaped = (letter) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0");
  let text = 0;
  try {
    const json = isBeyondJson() ? undefined : JSON.stringify(value);
    if (json !== undefined && json.length <= longest) {
      text = json.replace(/[^\x20-\x7d]|\x27/g, escaped).replace(/\\/g, "~");
    }
  } catch {
    // A cycle, a nested bigint, or a `toJSON` that throws.
  }
  return [typeof value, text, value];
}
