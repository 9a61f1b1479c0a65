use std::collections::HashMap;
use std::ffi::OsStr;

use super::super::plan::{ADDRESS, CdpSetup, CdpWire, Entry, addressed};
use super::*;
use crate::host::FakeMachine;
use crate::model::launch::{Attach, Endpoint, Stdin};
use crate::process::ProcessSpec;

const HOOK: &str = "/cache/node/1/hook.cjs";

/// A machine with these files, each with what it prints or holds.
fn machine<const N: usize>(files: [(&str, &str); N]) -> FakeMachine {
    let files = files.map(|(path, text)| (PathBuf::from(path), Some(text.to_owned())));
    let path =
        HashMap::from([("node".to_owned(), "/bin/node".into()), ("npm".to_owned(), "/bin/npm".into())]);
    let mut machine = FakeMachine { files: files.into(), path, ..FakeMachine::default() };
    for (program, says) in [("/bin/node", "v20.11.1\n"), ("/bin/npm", "10.2.4\n")] {
        machine.files.entry(program.into()).or_insert_with(|| Some(says.to_owned()));
    }
    machine
}

fn runtime(executable: &str, version: &str) -> Runtime {
    Runtime {
        executable: executable.into(),
        version: version.to_owned(),
        tag: "node-20".to_owned(),
        origin: String::new(),
    }
}

fn launch(program: Program) -> Launch {
    Launch { cwd: Some("/project".into()), ..Launch::new(program) }
}

fn script(path: &str) -> Launch {
    launch(Program::Script(path.into()))
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn plan_with(machine: &FakeMachine, runtime: &Runtime, launch: Launch) -> Result<Plan> {
    Node.plan(machine, runtime, Path::new(HOOK), &Start::Launch(launch))
}

fn process(machine: &FakeMachine, launch: Launch) -> ProcessSpec {
    plan_with(machine, &runtime("/bin/node", "20.11.1"), launch).unwrap().process().unwrap().clone()
}

fn words(process: &ProcessSpec) -> Vec<&str> {
    process.args.iter().filter_map(|word| word.to_str()).collect()
}

#[test]
fn a_script_is_started_as_typed_with_the_hook_added() {
    let launch = Launch {
        args: strings(["one two", ""]),
        runtime_args: strings(["--max-old-space-size=100"]),
        stdin: Stdin::Text("typed".to_owned()),
        stop_on_entry: true,
        just_my_code: false,
        ..script("/project/main.js")
    };
    let plan = plan_with(&machine([]), &runtime("/bin/node", "20.11.1"), launch).unwrap();
    let process = plan.process().unwrap().clone();
    assert_eq!(process.program, Path::new("/bin/node"));
    assert_eq!(words(&process), ["--max-old-space-size=100", "/project/main.js", "one two", ""]);
    assert_eq!(process.cwd.as_deref(), Some(Path::new("/project")));
    assert_eq!(process.stdin, Stdin::Text("typed".to_owned()));
    assert_eq!(
        process.env["NODE_OPTIONS"].as_deref(),
        Some("--inspect-publish-uid=http --require /cache/node/1/hook.cjs")
    );
    assert_eq!(process.env["STILLFRAME_ANNOUNCE"].as_deref(), Some(ADDRESS));
    let setup = CdpSetup {
        entry: Some(Entry::Script("/project/main.js".into())),
        program: Some("/project/main.js".into()),
        folder: Some("/project".into()),
        hook: "/cache/node/1/hook.cjs".into(),
        transpiles: true,
        just_my_code: false,
        path_mappings: Vec::new(),
        is_local: true,
    };
    assert_eq!(plan, Plan::Cdp { wire: CdpWire::Announced(process.clone()), setup });
    let reported = addressed(process, "/tmp/pipe");
    assert_eq!(reported.env["STILLFRAME_ANNOUNCE"].as_deref(), Some("/tmp/pipe"));
}

#[test]
fn a_script_in_a_command_is_the_source() {
    let table = [
        (vec!["-c", "A=1 node --no-warnings dist/main.js x | cat"], Some("/project/dist/main.js")),
        (vec!["-c", "node '/project/dist/main.js'"], Some("/project/dist/main.js")),
        (vec!["run", "dev"], None),
        (vec!["-c", "node dist/gone.js"], None),
    ];
    for (words, expected) in table {
        let runtime_args = words.iter().map(|word| (*word).to_owned()).collect();
        let launch = Launch { runtime_args, ..launch(Program::Command) };
        let machine = machine([("/project/dist/main.js", "")]);
        let plan = plan_with(&machine, &runtime("/bin/sh", "20.11.1"), launch).unwrap();
        let Plan::Cdp { setup, .. } = plan else { panic!("{plan:?}") };
        assert_eq!(setup.program.as_deref(), expected.map(Path::new), "{words:?}");
    }
}

#[test]
fn node_options_are_kept_after_the_hook_without_inspector_options() {
    let ours = "--inspect-publish-uid=http --require /cache/node/1/hook.cjs";
    let inherited = Some("--no-warnings --inspect-brk=9230 -r \"./my setup.js\"");
    let table = [
        (None, None, ours.to_owned()),
        (inherited, None, format!("{ours} --no-warnings -r \"./my setup.js\"")),
        (inherited, Some(Some("--inspect-port 0 --trace-warnings")), format!("{ours} --trace-warnings")),
        (inherited, Some(None), ours.to_owned()),
    ];
    for (inherited, own, expected) in table {
        let mut machine = machine([]);
        machine.env.extend(inherited.map(|value| ("NODE_OPTIONS".to_owned(), value.to_owned())));
        let mut launch = script("/project/main.js");
        launch.env.extend(own.map(|value| ("NODE_OPTIONS".to_owned(), value.map(str::to_owned))));
        let env = process(&machine, launch).env;
        assert_eq!(env["NODE_OPTIONS"].as_deref(), Some(expected.as_str()));
        assert_eq!(env["STILLFRAME_NODE_OPTIONS"].as_deref(), Some(ours));
    }
}

#[test]
fn node_options_are_quoted_as_node_parses_them() {
    let table = [
        ("/plain/hook.cjs", "/plain/hook.cjs"),
        ("/with blank/hook.cjs", "\"/with blank/hook.cjs\""),
        ("C:\\cache\\hook.cjs", "\"C:\\\\cache\\\\hook.cjs\""),
        ("/say \"hi\"/hook.cjs", "\"/say \\\"hi\\\"/hook.cjs\""),
        ("/käse/hook.cjs", "\"/käse/hook.cjs\""),
    ];
    for (path, quoted) in table {
        let options = options::with_hook(Path::new(path), None, &[]);
        assert_eq!(options, format!("--inspect-publish-uid=http --require {quoted}"));
        assert_eq!(options::split(&options), ["--inspect-publish-uid=http", "--require", path]);
    }
    assert_eq!(options::split("  a\"b c\"d   \"\" e "), ["ab cd", "", "e"]);
}

/// Node itself reads what was quoted.
#[tokio::test]
async fn hook_loads_from_a_folder_of_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it's a \"folder\" \\ ä");
    std::fs::create_dir(&folder).unwrap();
    let hook = folder.join("hook.cjs");
    std::fs::write(&hook, "console.log('hooked');").unwrap();
    let node = super::super::Machine.which("node").expect("these tests need Node.js");
    let spec = ProcessSpec {
        program: node,
        args: vec!["-e".into(), "0".into()],
        env: [("NODE_OPTIONS".to_owned(), Some(options::with_hook(&hook, None, &[])))].into(),
        ..ProcessSpec::default()
    };
    let finished = super::super::Machine.run(&spec, crate::deadlines::HELPER).await.unwrap();
    assert_eq!(finished.stdout, "hooked\n", "{}", finished.stderr);
}

#[test]
fn inspector_options_are_removed() {
    let launch = Launch {
        runtime_args: strings([
            "--inspect",
            "--inspect-brk=0",
            "--inspect-port",
            "9230",
            "--inspect-wait",
            "--expose-gc",
        ]),
        ..script("/project/main.js")
    };
    assert_eq!(words(&process(&machine([]), launch)), ["--expose-gc", "/project/main.js"]);
}

#[test]
fn a_command_ending_in_node_needs_no_script() {
    let npm = runtime("/bin/npm", "20.11.1");
    let run = Launch { runtime_args: strings(["run", "start"]), ..launch(Program::Command) };
    let plan = plan_with(&machine([]), &npm, Launch { stop_on_entry: true, ..run }).unwrap();
    let process = plan.process().unwrap().clone();
    assert_eq!((process.program.as_path(), words(&process)), (Path::new("/bin/npm"), vec!["run", "start"]));
    let Plan::Cdp { setup, .. } = plan else { panic!("{plan:?}") };
    assert_eq!(setup.entry, Some(Entry::First));

    let with_script =
        plan_with(&machine([]), &npm, script("/project/main.ts")).unwrap().process().unwrap().clone();
    assert_eq!(words(&with_script), ["/project/main.ts"], "whoever is given it knows how to run it");
    let module = plan_with(&machine([]), &npm, launch(Program::Module("vitest".to_owned()))).unwrap_err();
    assert!(module.to_string().starts_with("`npm` cannot run the module `vitest`"), "{module}");
    let nothing = plan_with(&machine([]), &runtime("/bin/node", "20.1.0"), launch(Program::Command));
    assert_eq!(nothing.unwrap_err().to_string(), "Node.js needs a script or a module to run");
}

#[test]
fn a_script_of_a_package_is_the_entry_unless_it_runs_others() {
    let table = [
        ("tool/cli.js", "--check", true),
        ("tool/cli.js", "src/main.ts", false),
        ("vitest/vitest.mjs", "run", false),
        ("tsx/dist/cli.mjs", ".", false),
    ];
    for (path, argument, is_entry) in table {
        let path = format!("/project/node_modules/{path}");
        let launch = Launch { args: strings([argument]), stop_on_entry: true, ..script(&path) };
        let plan = plan_with(&machine([]), &runtime("/bin/node", "20.11.1"), launch).unwrap();
        let Plan::Cdp { setup, .. } = plan else { panic!("{plan:?}") };
        let entry = if is_entry { Entry::Script(path.clone().into()) } else { Entry::First };
        assert_eq!(setup.entry, Some(entry), "{path} {argument}");
    }
}

#[test]
fn options_that_need_no_script_are_known() {
    let table: [(Option<&str>, &[&str], bool); 11] = [
        (None, &[], false),
        (None, &["--test"], true),
        (None, &["--expose-gc"], false),
        (Some("/opt/node22/bin/node"), &["--run", "start"], true),
        (Some("npm"), &["run", "start"], true),
        (Some("/project/node_modules/.bin/vitest"), &[], true),
        (Some("tsx"), &["--no-cache"], false),
        (Some("tsx"), &["watch", "main.ts"], true),
        (Some("nodemon"), &["-q", "main.js"], true),
        (Some("node"), &["--require", "before.js"], false),
        (Some("node"), &["-e", "1"], true),
    ];
    for (executable, args, alone) in table {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        assert_eq!(Node.needs_no_program(executable.map(Path::new), &args), alone, "{executable:?} {args:?}");
    }
}

#[test]
fn a_module_is_a_package_with_a_command() {
    let machine = machine([
        ("/project/node_modules/vitest/package.json", r#"{"name":"vitest","bin":{"vitest":"./vitest.mjs"}}"#),
        (
            "/node_modules/mocha/package.json",
            r#"{"name":"mocha","bin":{"mocha":"./bin/mocha.js","_mocha":"x"}}"#,
        ),
        ("/project/node_modules/@scope/tool/package.json", r#"{"name":"@scope/tool","bin":"cli.js"}"#),
        (
            "/project/node_modules/typescript/package.json",
            r#"{"name":"typescript","bin":{"tsc":"./bin/tsc"}}"#,
        ),
        ("/project/node_modules/.bin/tsc", "#!/bin/sh"),
        ("/project/node_modules/.bin/vitest", "#!/bin/sh"),
        ("/project/node_modules/plain/package.json", r#"{"name":"plain"}"#),
        ("/project/node_modules/plain/run.js", ""),
    ]);
    let table = [
        ("vitest", "/project/node_modules/vitest/vitest.mjs"),
        ("mocha", "/node_modules/mocha/bin/mocha.js"),
        ("@scope/tool", "/project/node_modules/@scope/tool/cli.js"),
        ("tsc", "/project/node_modules/typescript/bin/tsc"),
        ("typescript", "/project/node_modules/typescript/bin/tsc"),
        ("plain/run", "/project/node_modules/plain/run.js"),
    ];
    for (name, expected) in table {
        let process = process(&machine, launch(Program::Module(name.to_owned())));
        assert!(process.args.iter().any(|word| word == OsStr::new(expected)), "{name}: {:?}", process.args);
        assert!(Node.has_module(&machine, Path::new("/project/src"), name), "{name}");
    }
    for name in ["vitset", "plain"] {
        let error =
            plan_with(&machine, &runtime("/bin/node", "20.1.0"), launch(Program::Module(name.to_owned())));
        let crate::error::Error::Environment { problem, remedy } = error.unwrap_err() else {
            panic!("{name}")
        };
        let expected = format!("no package `{name}` with a command is installed for `/project`; installed: ");
        assert!(problem.starts_with(&expected) && problem.contains("`vitest`"), "{problem}");
        assert!(remedy.contains(&format!("npm install --save-dev {name}")), "{remedy}");
    }
}

#[test]
fn shims_are_replaced_by_their_script() {
    let machine = machine([
        ("/project/node_modules/.bin/vitest", "#!/bin/sh\nexec node ..."),
        ("/project/node_modules/vitest/package.json", r#"{"name":"vitest","bin":"vitest.mjs"}"#),
    ]);
    let process = process(&machine, script("/project/node_modules/.bin/vitest"));
    assert_eq!(words(&process)[0], "/project/node_modules/vitest/vitest.mjs");
}

#[test]
fn test_runner_time_limits_are_disabled_unless_given() {
    let folder = "/project/node_modules";
    let table: [(&str, &[&str], &[&str]); 9] = [
        ("jest/bin/jest.js", &[], &["--runInBand", "--testTimeout=2147483647"]),
        ("jest/bin/jest.js", &["-i", "--testTimeout", "9"], &[]),
        ("jest/bin/jest.js", &["--maxWorkers=2"], &["--testTimeout=2147483647"]),
        ("mocha/bin/mocha.js", &["a.js"], &["--timeout=0"]),
        ("mocha/bin/mocha.js", &["--timeout", "9"], &[]),
        ("vitest/vitest.mjs", &["run"], &["--testTimeout=0", "--hookTimeout=0"]),
        ("vitest/vitest.mjs", &["--test-timeout=9"], &["--hookTimeout=0"]),
        (".bin/mocha", &[], &["--timeout=0"]),
        ("other/index.js", &[], &[]),
    ];
    for (path, args, expected) in table {
        let path = format!("{folder}/{path}");
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let process = process(&machine([]), Launch { args: args.clone(), ..script(&path) });
        let mut all = vec![path.as_str()];
        all.extend(expected);
        all.extend(args.iter().map(String::as_str));
        assert_eq!(words(&process), all);
    }
}

#[test]
fn typescript_runs_with_the_projects_runner() {
    const TSX: &str = "/project/node_modules/tsx/package.json";
    const TS_NODE: &str = "/project/node_modules/ts-node/package.json";
    const SWC: &str = "/project/node_modules/@swc-node/register/package.json";
    const MODULE: &str = "/project/package.json";
    let loader = "file:///project/node_modules/tsx/dist/loader.mjs";
    let ts_node = "/project/node_modules/ts-node/register/index.js";
    let table: [(&str, &str, &[&str], &[&str]); 15] = [
        ("main.ts", "20.11.1", &[TSX, TS_NODE], &["--import", loader]),
        ("main.tsx", "24.0.0", &[TSX], &["--import", loader]),
        ("main.jsx", "24.0.0", &[TSX], &["--import", loader]),
        ("main.ts", "18.18.0", &[TSX], &["--loader", loader]),
        ("main.ts", "18.19.0", &[TSX], &["--import", loader]),
        ("main.ts", "20.5.0", &[TSX], &["--loader", loader]),
        ("main.ts", "22.18.0", &[TS_NODE], &[]),
        ("main.mts", "23.6.0", &[], &[]),
        ("main.ts", "23.5.0", &[TS_NODE], &["--require", ts_node]),
        ("main.ts", "22.17.0", &[TS_NODE, SWC], &["--require", ts_node]),
        ("main.mts", "20.11.1", &[TS_NODE], &["--loader", "file:///project/node_modules/ts-node/esm.mjs"]),
        ("main.ts", "20.11.1", &[SWC], &["--require", "/project/node_modules/@swc-node/register/index.js"]),
        (
            "main.ts",
            "20.11.1",
            &[SWC, MODULE],
            &["--import", "file:///project/node_modules/@swc-node/register/esm/esm-register.mjs"],
        ),
        ("main.js", "20.11.1", &[TSX], &[]),
        ("main", "20.11.1", &[TSX], &[]),
    ];
    for (name, version, installed, expected) in table {
        let mut machine = machine([]);
        for path in installed {
            let text = match *path {
                TSX => r#"{"name":"tsx","exports":{".":"./dist/loader.mjs"}}"#,
                MODULE => r#"{"type":"module"}"#,
                _ => "{}",
            };
            machine.files.insert(path.into(), Some(text.to_owned()));
        }
        // The folder of the script counts, and the working directory beside it.
        for (folder, cwd) in [("/project/src", "/project"), ("/elsewhere", "/project/src")] {
            if folder == "/elsewhere" && installed.contains(&SWC) {
                continue;
            }
            let path = format!("{folder}/{name}");
            let launch = Launch { cwd: Some(cwd.into()), ..script(&path) };
            let plan = plan_with(&machine, &runtime("/bin/node", version), launch).unwrap();
            let process = plan.process().unwrap().clone();
            assert_eq!(words(&process), [expected, &[path.as_str()]].concat(), "{version} {installed:?}");
        }
    }
}

#[test]
fn ts_node_settings_are_set_unless_given() {
    let ts_node = ("/project/node_modules/ts-node/package.json", "{}");
    let settings = |machine: &FakeMachine, own: Option<&str>| {
        let mut launch = Launch { cwd: Some("/".into()), ..script("/project/src/main.ts") };
        launch.env.extend(own.map(|own| ("TS_NODE_PROJECT".to_owned(), Some(own.to_owned()))));
        let env = process(machine, launch).env;
        ["TS_NODE_PROJECT", "TS_NODE_COMPILER_OPTIONS"].map(|name| env.get(name).cloned().flatten())
    };
    let with = machine([ts_node, ("/project/tsconfig.json", "{}")]);
    assert_eq!(settings(&with, None), [Some("/project/tsconfig.json".to_owned()), None]);
    assert_eq!(settings(&with, Some("/own.json")), [Some("/own.json".to_owned()), None]);
    let commonjs = r#"{"module":"commonjs"}"#.to_owned();
    assert_eq!(settings(&machine([ts_node]), None), [None, Some(commonjs)]);
}

#[test]
fn swc_is_skipped_for_a_script_that_it_does_not_compile() {
    let machine = machine([("/project/node_modules/@swc-node/register/package.json", "{}")]);
    let launch = Launch { cwd: Some("/elsewhere".into()), ..script("/project/main.ts") };
    let error = plan_with(&machine, &runtime("/bin/node", "20.11.1"), launch).unwrap_err();
    assert_eq!(error.code(), "environment");
}

#[test]
fn only_an_explicit_loader_is_used() {
    let machine = machine([("/project/node_modules/tsx/package.json", "{}")]);
    for given in
        [vec!["--import", "tsx"], vec!["-r", "x"], vec!["--loader=x"], vec!["--experimental-strip-types"]]
    {
        let runtime_args: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
        let process = process(&machine, Launch { runtime_args, ..script("/project/main.ts") });
        assert_eq!(words(&process), [given.as_slice(), &["/project/main.ts"]].concat());
    }
    let mut launch = script("/project/main.ts");
    launch.env.insert("NODE_OPTIONS".to_owned(), Some("--import tsx".to_owned()));
    assert_eq!(words(&process(&machine, launch)), ["/project/main.ts"]);
}

#[test]
fn missing_runner_error_suggests_one_to_install() {
    for (path, version, helps, does_not) in [
        ("/project/main.ts", "20.11.1", "22.18", "nothing of that kind"),
        ("/project/main.tsx", "24.0.0", "npm install --save-dev tsx", "22.18"),
    ] {
        let error = plan_with(&machine([]), &runtime("/bin/node", version), script(path)).unwrap_err();
        let crate::error::Error::Environment { problem, remedy } = error else { panic!("{error}") };
        assert!(problem.contains(&format!("cannot run `{path}` by itself")), "{problem}");
        assert!(remedy.contains(helps) && !remedy.contains(does_not), "{remedy}");
    }
}

#[test]
fn file_urls_escape_special_characters() {
    let url = file_url(Path::new("/a b/100%/ü#?.mjs"));
    assert_eq!(url, "file:///a%20b/100%25/%C3%BC%23%3F.mjs");
}

#[test]
fn running_program_is_attached_to_by_port_or_signal() {
    let attach = |to| Start::Attach(Attach { to, path_mappings: Vec::new(), just_my_code: true });
    let mut machine = machine([]);
    machine.processes = HashMap::from([(1, "/usr/bin/python3.11".into()), (2, "/bin/node".into())]);
    let plan = |to| Node.plan(&machine, &runtime("/bin/node", "20.1.0"), Path::new(HOOK), &attach(to));
    let Plan::Cdp { wire: CdpWire::Connect { host, port }, setup } =
        plan(Endpoint::Address { host: "there".to_owned(), port: 9229 }).unwrap()
    else {
        panic!("no address")
    };
    assert_eq!((host.as_str(), port, setup.is_local, setup.entry), ("there", 9229, false, None));
    let signal = plan(Endpoint::Process(2)).unwrap();
    assert!(matches!(
        signal,
        Plan::Cdp { wire: CdpWire::Signal { pid: 2 }, setup: CdpSetup { is_local: true, .. } }
    ));
    assert!(
        plan(Endpoint::Process(3)).is_ok(),
        "where the system does not tell, the kernel has the last word"
    );
    let error = plan(Endpoint::Process(1)).unwrap_err().to_string();
    assert_eq!(error, "process 1 runs `/usr/bin/python3.11`, which is not Node.js");
}

#[tokio::test]
async fn given_node_comes_before_the_search_path() {
    let machine = machine([("/own/node22", "v22.19.0\n"), ("/project/node_modules/.bin/tsx", "")]);
    let near = Path::new("/project/src/main.ts");
    let table = [
        (None, "/bin/node", "20.11.1", "`node` on PATH"),
        (Some("/own/node22"), "/own/node22", "22.19.0", "given as `executablePath`"),
        (Some("node"), "/bin/node", "20.11.1", "given as `executablePath`"),
    ];
    for (executable, path, version, origin) in table {
        let found = Node.locate(&machine, executable.map(Path::new), Some(near)).await.unwrap();
        assert_eq!((found.executable.as_path(), found.version.as_str()), (Path::new(path), version));
        assert_eq!(found.origin, origin);
    }
    for (command, path) in [("npm", "/bin/npm"), ("tsx", "/project/node_modules/.bin/tsx")] {
        let found = Node.locate(&machine, Some(Path::new(command)), Some(near)).await.unwrap();
        assert_eq!((found.executable.as_path(), found.version.as_str()), (Path::new(path), "20.11.1"));
        assert!(
            found.origin.starts_with(&format!("`{command}` given as `executablePath`")),
            "{}",
            found.origin
        );
    }
}

#[tokio::test]
async fn missing_or_old_node_is_reported() {
    let mut machine = machine([("/old/node", "v16.20.2\n"), ("/bin/bun", "1.1.0\n"), ("/odd/node", "hello")]);
    let table = [
        ("/old/node", "unsupported", "`/old/node` is Node.js 16.20.2, which is too old"),
        ("/no/node", "environment", "no program `/no/node`"),
        ("nope", "environment", "no program `nope`"),
        ("/bin/bun", "unsupported", "`/bin/bun` is not Node.js"),
        ("/odd/node", "environment", "`/odd/node` does not report its version"),
    ];
    for (path, code, message) in table {
        let error = Node.locate(&machine, Some(Path::new(path)), None).await.unwrap_err();
        assert_eq!(error.code(), code, "{path}");
        assert!(error.to_string().starts_with(message), "{error}");
    }
    machine.path.remove("node");
    let error = Node.locate(&machine, None, None).await.unwrap_err();
    let crate::error::Error::Environment { problem, remedy } = error else { panic!("{error}") };
    assert_eq!(problem, "Node.js was not found: no `node` on PATH");
    assert_eq!(remedy, "install Node.js 20 or newer, or give its path as `executablePath`");
}

#[test]
fn program_names_identify_node() {
    let table = [
        ("/bin/node", true),
        ("/bin/nodejs", true),
        ("/bin/node22", true),
        ("/bin/node-v20.11.1", true),
        ("C:/node.exe", true),
        ("/bin/nodemon", false),
        ("/bin/npm", false),
        ("/bin/ts-node", false),
    ];
    for (path, is_node) in table {
        assert_eq!(interpreter::is_node(Path::new(path)), is_node, "{path}");
    }
}

#[test]
fn libraries_are_distinguished_from_user_code() {
    let table = [
        ("/project/node_modules/express/index.js", true),
        ("node:internal/modules/cjs/loader", true),
        ("/project/src/node.js", false),
        ("/project/node_modules.js", false),
    ];
    for (path, internal) in table {
        assert_eq!(Node.is_internal(Path::new(path)), internal, "{path}");
    }
}

#[test]
fn modules_report_where_the_language_is_installed() {
    let machine =
        machine([("/project/node_modules/vitest/package.json", r#"{"name":"vitest","bin":"v.mjs"}"#)]);
    let language = |name| super::super::by_module(&machine, Path::new("/project/src"), name).name();
    assert_eq!((language("vitest"), language("pytest")), ("javascript", "python"));
}

#[test]
fn the_language_has_aliases() {
    for name in ["javascript", "js", "node", "nodejs", "TypeScript", "ts", "Node.js"] {
        assert_eq!(super::super::by_name(name).map(Adapter::name), Some("javascript"), "{name}");
    }
    for extension in EXTENSIONS {
        let path = PathBuf::from(format!("a.{extension}"));
        assert_eq!(super::super::by_extension(&path).map(Adapter::name), Some("javascript"));
    }
    assert_eq!(super::super::by_name("jav").map(Adapter::name), None);
}
