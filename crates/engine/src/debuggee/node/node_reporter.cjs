// Reports the results of `node --test`; see `tests.cjs`. Thrown values come from another process, without their mark.
// It yields no output of its own.
'use strict';
const path = require('path');
const { tell, idOf, described } = require('./tests.cjs');

module.exports = async function* (events) {
  const names = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names[data.nesting] = data.name;
      if (!isFile(data)) tell({ kind: 'begins', test: idOf(data.file, names) });
    }
    if (type === 'test:pass' || type === 'test:fail') {
      names.length = data.nesting;
      ended(type, data, idOf(data.file, [...names, data.name]));
    }
  }
  // Even if there was none to report.
  tell({ kind: 'collected', count: 0 });
};

/** Whether it is a whole file, which Node runs as a test. */
const isFile = ({ name, file, nesting }) => nesting === 0 && (!file || path.resolve(name) === file) && path.extname(name) !== '';

function ended(type, data, id) {
  const { file, line, details } = data;
  const error = details?.error;
  const reason = error?.failureType;
  if (isFile(data)) {
    if (type === 'test:fail' && reason !== 'subtestsFailed') {
      const name = path.relative(process.cwd(), path.resolve(data.name));
      const message = `its process ended with code ${error?.exitCode ?? 'unknown'}`;
      tell({ kind: 'problem', name, file: path.resolve(data.name), message });
    }
    return;
  }
  // A suite that fails because of its tests is reported with them.
  if (reason === 'subtestsFailed' || (details?.type === 'suite' && type === 'test:pass')) return;
  if (typeof data.skip === 'string' && data.skip.includes('does not match pattern')) {
    return tell({ kind: 'collected', count: 0, deselected: 1, names: [id] });
  }
  if (data.skip !== undefined && data.skip !== false) return tell({ kind: 'result', id, file, line, outcome: 'skipped' });
  const isTodo = data.todo !== undefined && data.todo !== false;
  const failed = isTodo ? 'xfailed' : reason === 'hookFailed' ? 'error' : 'failed';
  const outcome = type === 'test:pass' ? 'passed' : failed;
  const phase = reason === 'hookFailed' ? 'setup' : 'call';
  tell({ kind: 'result', id, file, line, outcome, phase, ...described(cause(error)) });
}

/** The value that the test threw, without Node's wrapper. */
const cause = (error) => (error?.code === 'ERR_TEST_FAILURE' && error.cause !== undefined ? error.cause : error);
