// Runs a program, and prints as a list what it did: what it logs, and the lines that are passed. With lines
// given as JSON, V8 tells of those by the conditions of breakpoints; otherwise the program itself does.
// The second list has the lines where V8 has put the breakpoints.
'use strict';
const fs = require('node:fs');
const { Session } = require('node:inspector');
const { pathToFileURL } = require('node:url');
const { format } = require('node:util');

const [, , file, lines] = process.argv;
const events = [];
const places = [];
globalThis.__pass = (line) => void events.push(line);
console.log = (...parts) => void events.push(format(...parts));
process.on('exit', () => fs.writeSync(1, JSON.stringify([events, places.sort((a, b) => a - b)])));

if (lines) watch(JSON.parse(lines));
if (file.endsWith('.mjs')) import(pathToFileURL(file));
else require(file);

// Has V8 tell of each line, at its first place. Asked for a line, V8 takes the first place behind its begin in the
// order of its instructions, in which the tests of all cases come before what is done in the first.
function watch(wanted) {
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
    if (url !== pathToFileURL(file).href) return;
    for (const line of wanted) {
      const start = { scriptId, lineNumber: line - 1 };
      const range = { start, end: { scriptId, lineNumber: line } };
      session.post('Debugger.getPossibleBreakpoints', range, (error, { locations: [location] }) => {
        const condition = `__pass(${line}), false`;
        session.post('Debugger.setBreakpoint', { location: location ?? start, condition }, (_, { actualLocation }) => {
          places.push(actualLocation.lineNumber + 1);
        });
      });
    }
  });
  session.post('Debugger.enable');
}
