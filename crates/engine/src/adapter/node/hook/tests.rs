use super::super::super::Machine;
use super::*;
use crate::deadlines;
use crate::process::ProcessSpec;

/// Fills the map as the debugger would.
const PRELOAD: &str = include_str!("samples/preload.cjs");

/// The environment variable that names another `node` to test with.
const NODE: &str = "STILLFRAME_TEST_NODE";

/// Says where it is, and by which way it came to be run.
const WHERE: &str = "console.log(new Error('here').stack);\n";

/// A folder with a program.
struct Project(tempfile::TempDir);

impl Project {
    fn of(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for (name, text) in FILES.iter().chain(files).chain([&("preload.cjs", PRELOAD)]) {
            std::fs::write(project.0.path().join(name), text).unwrap();
        }
        project
    }

    /// What a program prints when our code is put into some of its files, named with blanks between.
    async fn with(&self, main: &str, files: &str, changed: &str) -> String {
        let options = format!("--require {}", self.0.path().join("preload.cjs").display());
        self.run(main, &[("NODE_OPTIONS", &options), ("IN", files), ("CHANGED", changed)]).await
    }

    async fn run(&self, main: &str, env: &[(&str, &str)]) -> String {
        let folder = self.0.path().canonicalize().unwrap();
        let spec = ProcessSpec {
            program: std::env::var_os(NODE).map_or_else(|| Machine.which("node").unwrap(), Into::into),
            args: vec![folder.join(main).into()],
            env: env.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect(),
            cwd: Some(folder),
            ..ProcessSpec::default()
        };
        let finished = Machine.run(&spec, deadlines::HELPER).await.unwrap();
        assert!(finished.success, "{}{}", finished.stdout, finished.stderr);
        finished.stdout
    }

    /// Runs a program with and without our code. Apart from what that says, both print the same, stacks and
    /// places too. What it says comes back.
    async fn compare(&self, main: &str, files: &str) -> Vec<String> {
        let (ours, rest): (Vec<_>, Vec<_>) = self
            .with(main, files, "")
            .await
            .lines()
            .map(str::to_owned)
            .partition(|line| line.starts_with("inserted ") || line.starts_with("passed "));
        let expected: Vec<_> = self.run(main, &[]).await.lines().map(str::to_owned).collect();
        assert_eq!(rest, expected);
        ours
    }
}

#[tokio::test]
async fn code_is_inserted_into_commonjs_modules_and_nothing_else_changes() {
    let project = Project::of(&[
        (
            "main.cjs",
            &format!(
                "#!/usr/bin/env node\n'use strict';\nconst part = require('./part'); // @first\n{WHERE}\
                 console.log(require.main === module, module.children.length, part.name); // @last\n\
                 console.log(part.fail().stack);\n"
            ),
        ),
        (
            "part.js",
            &format!(
                "\u{feff}{WHERE}exports.name = __filename.slice(-7); // @part\r\n\
                 exports.fail = () => {{\r\n  return new Error('é𝄞'); // @fail\r\n}};\r\n"
            ),
        ),
    ]);
    let ours = project.compare("main.cjs", "main.cjs part.js").await;
    let expected = [
        "inserted main.cjs",
        "passed first",
        "inserted part.js",
        "passed part",
        "passed last",
        "passed fail",
    ];
    assert_eq!(ours, expected);
    assert_eq!(
        project.compare("main.cjs", "part.js").await,
        ["inserted part.js", "passed part", "passed fail"]
    );
}

#[tokio::test]
async fn code_is_inserted_into_modules_of_all_kinds() {
    let project = Project::of(&[
        (
            "main.mjs",
            &format!(
                "import {{ name }} from './part.mjs';\nimport old from './old.cjs';\n{WHERE}\
                 console.log(name, old, import.meta.url.slice(-8)); // @main\n\
                 const again = await import('./part.mjs?again');\nconsole.log(again.name === name); // @again\n"
            ),
        ),
        ("part.mjs", &format!("\u{feff}{WHERE}\nexport const name = 'é'; // @part\n{WHERE}")),
        ("old.cjs", &format!("{WHERE}\nmodule.exports = 5; // @old\n")),
    ]);
    let ours = project.compare("main.mjs", "main.mjs part.mjs old.cjs").await;
    let passed: Vec<&str> = ours.iter().filter_map(|line| line.strip_prefix("passed ")).collect();
    assert_eq!(passed, ["part", "old", "main", "part", "again"]);
    for name in ["main.mjs", "part.mjs", "old.cjs"] {
        assert!(ours.contains(&format!("inserted {name}")), "{ours:?}");
    }
}

#[tokio::test]
async fn workers_load_files_too() {
    let project = Project::of(&[
        (
            "main.cjs",
            "const { Worker } = require('node:worker_threads');\nnew Worker(__dirname + '/worker.mjs'); // @main\n",
        ),
        (
            "worker.mjs",
            "import { threadId } from 'node:worker_threads';\nconsole.log(threadId); // @worker\n",
        ),
    ]);
    let ours = project.compare("main.cjs", "main.cjs worker.mjs").await;
    assert_eq!(ours, ["inserted main.cjs", "passed main", "inserted worker.mjs", "passed worker"]);
}

#[tokio::test]
async fn source_changed_by_a_loader_is_left_alone() {
    let files =
        [("main.cjs", "'use strict';\nconsole.log(1); // @a\n"), ("main.mjs", "\nconsole.log(2); // @b\n")];
    let project = Project::of(&files);
    assert_eq!(project.with("main.cjs", "main.cjs", "main.cjs").await, "1\n");
    assert_eq!(project.with("main.mjs", "main.mjs", "main.mjs").await, "2\n");
}

/// What a loader makes of a text may be kept for runs without us, and what it gives to the compiler counts.
#[tokio::test]
async fn loaders_see_the_source_on_disk() {
    let extension = "const own = require.extensions['.js'];
require.extensions['.js'] = (module, filename) => {
  const compile = module._compile;
  module._compile = (text, ...rest) => {
    console.log('sees', text.includes('__passed'));
    return compile.call(module, text.replace('x', process.argv[2] ?? 'y'), ...rest);
  };
  return own(module, filename);
};
require('./part');
";
    let compiler = "const Module = require('module');
const compile = Module.prototype._compile;
Module.prototype._compile = function (text, ...rest) {
  console.log('sees', text.includes('__passed'));
  return compile.call(this, text.replace('x', 'y'), ...rest);
};
require('./part');
";
    let part = ("part.js", "console.log('x');\nconsole.log('z'); // @part\n");
    for (main, text) in [("extension.cjs", extension), ("compiler.cjs", compiler)] {
        let printed = Project::of(&[(main, text), part]).with(main, "part.js", "").await;
        assert_eq!(printed, "sees false\ny\nz\n", "{main}");
    }
    let same = extension.replace("process.argv[2] ?? 'y'", "'x'");
    let printed = Project::of(&[("same.cjs", &same), part]).with("same.cjs", "part.js", "").await;
    assert_eq!(printed, "sees false\ninserted part.js\nx\npassed part\nz\n");
}

#[tokio::test]
async fn module_compiled_from_a_string_keeps_its_source() {
    let main = "const made = new module.constructor('made');
made.filename = __dirname + '/part.js';
made._compile(\"console.log('from a string')\", made.filename);
require('./part');
";
    let part = "'use strict';\nconsole.log('from a file'); // @part\n";
    let printed = Project::of(&[("main.cjs", main), ("part.js", part)]).with("main.cjs", "part.js", "").await;
    assert_eq!(printed, "from a string\ninserted part.js\npassed part\nfrom a file\n");
}

#[tokio::test]
async fn program_reads_its_own_files_unchanged() {
    let main = "import fs from 'node:fs';
import { readFile } from 'node:fs/promises';
const url = new URL(import.meta.url); // @main
const texts = [fs.readFileSync(url), await readFile(url), await fs.promises.readFile(url, 'utf8')];
console.log(texts.map((text) => String(text).includes('__passed' + '(')));
";
    let printed = Project::of(&[("main.mjs", main)]).with("main.mjs", "main.mjs", "").await;
    assert_eq!(printed, "inserted main.mjs\npassed main\n[ false, false, false ]\n");
}

/// Node 20 has no such hooks.
#[tokio::test]
async fn hooks_of_the_program_run_before_ours() {
    let main = "const { registerHooks = () => {} } = require('node:module');
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const source = String(loaded.source);
    if (url.endsWith('part.mjs') && source.includes('__passed')) console.log('seen');
    return url.endsWith('part.js') ? { ...loaded, source: source.replace('x', 'y') } : loaded;
  },
});
if (!registerHooks.length) console.log('y');
else require('./part.js');
import('./part.mjs');
";
    let project = Project::of(&[
        ("main.cjs", main),
        ("part.js", "console.log('x');\n0; // @old\n"),
        ("part.mjs", "console.log('z');\nexport {}; // @new\n"),
    ]);
    let printed = project.with("main.cjs", "part.js part.mjs", "").await;
    assert_eq!(printed, "y\ninserted part.mjs\nz\npassed new\n");
}

/// Its thread loads our script, too.
#[tokio::test]
async fn loaders_in_a_separate_thread_see_the_source_on_disk() {
    let main = "import { register } from 'node:module';
register('./loader.mjs', import.meta.url); // @main
await import('./part.mjs');
";
    let loader = "import fs from 'node:fs';
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context); // @loader
  fs.writeSync(1, `sees ${String(loaded.source).includes('__passed')}\\n`);
  return loaded;
}
";
    let files = [
        ("main.mjs", main),
        ("loader.mjs", loader),
        ("part.mjs", "console.log('a');\nconsole.log('b'); // @part\n"),
    ];
    let printed = Project::of(&files).with("main.mjs", "main.mjs loader.mjs part.mjs", "").await;
    // Where Node has no other hooks than those, the modules that they see are not compiled from what it has read.
    let is_ours = |line: &&str| !line.ends_with("part.mjs") && !line.ends_with("part");
    let others: Vec<&str> = printed.lines().filter(is_ours).collect();
    assert_eq!(others, ["inserted main.mjs", "passed main", "sees false", "a", "b"]);
}
