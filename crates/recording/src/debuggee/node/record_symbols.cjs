// Symbols as keys of properties. Only those that the program itself has had in a variable or used as a key are
// recorded: libraries, and Node itself, keep what is internal under others.
'use strict';

class Symbols {
  // Their texts, and the other way round.
  texts = new Map();
  keys = new Map();

  /** How a symbol is written as a key. It is known from here on. */
  textOf(symbol) {
    const known = this.texts.get(symbol);
    if (known !== undefined) return known;
    const name = String(symbol);
    let text = `[${name}]`;
    for (let number = 2; this.keys.has(text); number += 1) text = `[${name} ${number}]`;
    this.texts.set(symbol, text);
    this.keys.set(text, symbol);
    return text;
  }

  /** The same for one that is known. */
  known(symbol) {
    return this.texts.size === 0 ? undefined : this.texts.get(symbol);
  }

  /** The key that a text means. */
  keyOf(text) {
    return text[0] === '[' ? this.keys.get(text) ?? text : text;
  }
}

module.exports = { Symbols };
