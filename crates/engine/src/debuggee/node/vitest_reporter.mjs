// Reports Vitest's results; see `tests.cjs`. Thrown values come from another process or thread, without their mark.
import path from 'node:path';
import tests from './tests.cjs';

const { tell, idOf, described } = tests;

export default class {
  onInit(vitest) {
    this.pattern = vitest.config?.testNamePattern;
  }

  onTestModuleCollected(module) {
    const all = [...module.children.allTests()];
    const chosen = all.filter((test) => this.isChosen(test)).length;
    tell({
      kind: 'collected',
      count: chosen,
      deselected: all.length - chosen,
      names: all.slice(0, 1000).map((test) => id(test)),
    });
  }

  onTestCaseReady(test) {
    if (this.isChosen(test)) tell({ kind: 'begins', test: id(test) });
  }

  onTestCaseResult(test) {
    if (!this.isChosen(test)) return;
    const { state, errors } = test.result();
    const file = test.module.moduleId;
    tell({ kind: 'result', id: id(test), file, line: test.location?.line, outcome: state, ...thrown(errors?.[0]) });
  }

  onTestSuiteResult(suite) {
    const [error] = suite.errors();
    if (!error) return;
    const name = idOf(suite.module.moduleId, suite.fullName.split(' > '));
    tell({ kind: 'result', id: name, file: suite.module.moduleId, outcome: 'error', phase: 'setup', ...thrown(error) });
  }

  onTestModuleEnd(module) {
    for (const error of module.errors()) {
      const name = path.relative(process.cwd(), module.moduleId);
      tell({ kind: 'problem', name, file: module.moduleId, ...thrown(error) });
    }
  }

  isChosen(test) {
    return !this.pattern || this.pattern.test(test.fullName.replaceAll(' > ', ' '));
  }
}

const id = (test) => idOf(test.module.moduleId, test.fullName.split(' > '));

/** The error, from Vitest's serialized form. */
function thrown(error) {
  return error ? { ...described(error), exception: error.name } : {};
}
