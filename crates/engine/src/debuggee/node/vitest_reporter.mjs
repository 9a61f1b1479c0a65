// Reports Vitest's results; see `tests.cjs`. Thrown values come from another process or thread, without their mark.
import path from 'node:path';
import tests from './tests.cjs';

const { tell, idOf, described } = tests;

export default class {
  onInit(vitest) {
    this.pattern = vitest.config?.testNamePattern;
    this.vitest = vitest;
    this.ended = new Set();
  }

  onTestRunStart() {
    this.hasRun = true;
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

  // Vitest 3 does not report the end of a module that cannot be loaded.
  onTestRunEnd(modules, unhandled = []) {
    for (const module of modules) if (!this.ended.has(module)) this.onTestModuleEnd(module);
    for (const error of unhandled) {
      const module = modules.find(({ moduleId }) => moduleId === error.VITEST_TEST_PATH);
      const test = [...(module?.children.allTests() ?? [])].find(({ name }) => name === error.VITEST_TEST_NAME);
      tellOfUnhandled(error, test && id(test));
    }
  }

  onTestModuleEnd(module) {
    this.ended.add(module);
    for (const error of module.errors()) {
      const name = path.relative(process.cwd(), module.moduleId);
      tell({ kind: 'problem', name, file: module.moduleId, ...thrown(error) });
    }
  }

  isChosen(test) {
    return this.isNamed(test.fullName.split(' > '));
  }

  isNamed(names) {
    return !this.pattern || this.pattern.test(names.join(' '));
  }

  // Vitest 1 and 2, whose reporters get files with their tasks.

  onTaskUpdate(packs) {
    if (this.hasRun) return;
    for (const [number, result] of packs) {
      const task = this.vitest.state?.idMap?.get(number);
      if (result?.state === 'run' && task?.file && !task.tasks) {
        tell({ kind: 'begins', test: idOf(task.file.filepath, namesOf(task)) });
      }
    }
  }

  onFinished(files = [], unhandled = []) {
    if (this.hasRun) return;
    for (const error of unhandled) tellOfUnhandled(error);
    for (const file of files) {
      const [error] = file.result?.errors ?? [];
      const name = path.relative(process.cwd(), file.filepath);
      if (error) tell({ kind: 'problem', name, file: file.filepath, ...thrown(error) });
      const all = [...tasksIn(file)];
      const tests = all.filter((task) => !task.tasks);
      const chosen = tests.filter((test) => this.isNamed(namesOf(test)));
      const names = tests.slice(0, 1000).map((test) => idOf(file.filepath, namesOf(test)));
      tell({ kind: 'collected', count: chosen.length, deselected: tests.length - chosen.length, names });
      for (const task of all) this.tellOfTask(file, task);
    }
  }

  tellOfTask(file, task) {
    const { state, errors } = task.result ?? {};
    const [error] = errors ?? [];
    const names = namesOf(task);
    const report = { kind: 'result', id: idOf(file.filepath, names), file: file.filepath, ...thrown(error) };
    if (task.tasks) {
      if (error) tell({ ...report, outcome: 'error', phase: 'setup' });
    } else if (this.isNamed(names)) {
      tell({ ...report, outcome: state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : 'skipped' });
    }
  }
}

/** The tests and suites in a file or suite. */
function* tasksIn({ tasks }) {
  for (const task of tasks) {
    yield task;
    if (task.tasks) yield* tasksIn(task);
  }
}

/** The names of a task, behind those of its suites. A file is one too, and Vitest 1 has one without a name. */
function namesOf(task) {
  const names = [];
  for (let each = task; each && !each.filepath; each = each.suite) if (each.name) names.unshift(each.name);
  return names;
}

const id = (test) => idOf(test.module.moduleId, test.fullName.split(' > '));

/** An error that no test has caught fails the run, but no test. Vitest names the latest test before it. */
function tellOfUnhandled(error, test) {
  const { VITEST_TEST_NAME: name, VITEST_TEST_PATH: file } = error;
  const id = test ?? idOf(file, [name]);
  tell({ kind: 'result', id, file, outcome: 'error', phase: 'unhandled', ...thrown(error) });
}

/** The error, from Vitest's serialized form. */
function thrown(error) {
  return error ? { ...described(error), exception: error.name } : {};
}
