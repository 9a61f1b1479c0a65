use super::*;
use crate::host::FakeMachine;
use crate::model::launch::{Endpoint, Stdin};

/// What an interpreter of a version prints when it is asked who it is.
fn answer(executable: &str, version: &str) -> String {
    let tag: String = version.split('.').take(2).collect();
    format!("Python {version}\ncpython-{tag}\n{executable}\n")
}

/// A machine with interpreters at these paths, the first words of each being its version.
fn machine<const N: usize>(interpreters: [(&str, &str); N]) -> FakeMachine {
    let files = interpreters.map(|(path, version)| (PathBuf::from(path), Some(answer(path, version))));
    FakeMachine { files: files.into(), ..FakeMachine::default() }
}

fn runtime() -> Runtime {
    Runtime {
        executable: "/usr/bin/python3".into(),
        version: "3.11.2".to_owned(),
        tag: "cpython-311".to_owned(),
        origin: "`python3` on PATH".to_owned(),
    }
}

fn launch(program: Program) -> Launch {
    Launch {
        program,
        script_as_given: None,
        args: vec!["one two".to_owned(), String::new()],
        runtime_args: Vec::new(),
        cwd: Some("/work".into()),
        env: [("GONE".to_owned(), None), ("OWN".to_owned(), Some("1".to_owned()))].into(),
        stdin: Stdin::Text("typed".to_owned()),
        stop_on_entry: true,
        just_my_code: false,
        child_sources: Vec::new(),
        child_languages: Vec::new(),
        native_too: false,
        muted: &[],
    }
}

fn plan(start: &Start) -> Plan {
    Python.plan(&FakeMachine::default(), &runtime(), Path::new("/cache/python/scripts-1"), start).unwrap()
}

fn words(spec: &ProcessSpec) -> Vec<&str> {
    spec.args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

#[test]
fn a_script_is_started_by_our_launcher_which_connects_back() {
    let plan = plan(&Start::Launch(launch(Program::Script("/project/main.py".into()))));
    let process = plan.process().unwrap().clone();
    assert_eq!(process.program, Path::new("/usr/bin/python3"));
    let expected = [
        "-X",
        "frozen_modules=off",
        "/cache/python/scripts-1/stillframe_launch.py",
        ADDRESS,
        "/cache/python/debugpy-1.8.22-cpython-311",
        "file",
        "/project/main.py",
        "one two",
        "",
    ];
    assert_eq!(words(&process), expected);
    assert_eq!(
        (process.cwd.as_deref(), &process.stdin),
        (Some(Path::new("/work")), &Stdin::Text("typed".to_owned()))
    );
    let Plan::Dap { transport: Transport::Listen { injector: None, .. }, setup } = plan else {
        panic!("{plan:?}")
    };
    assert!(setup.request == StartRequest::Launch && setup.is_local);
    assert_eq!(setup.adapter_id, "debugpy");
    assert_eq!(setup.arguments["stopOnEntry"], true);
    assert_eq!(setup.arguments["justMyCode"], false);
    // Without a debugger, a child would wait forever.
    assert_eq!(setup.arguments["subProcess"], true);
}

#[test]
fn a_module_is_started_by_its_name() {
    let plan = plan(&Start::Launch(launch(Program::Module("pytest".to_owned()))));
    let process = plan.process().unwrap().clone();
    assert_eq!(words(&process)[5..7], ["module", "pytest"]);
}

#[test]
fn interpreter_options_come_first() {
    let options = vec!["-W".to_owned(), "error".to_owned()];
    let launch = Launch { runtime_args: options, ..launch(Program::Module("m".to_owned())) };
    let process = plan(&Start::Launch(launch)).process().unwrap().clone();
    assert_eq!(words(&process)[..4], ["-W", "error", "-X", "frozen_modules=off"]);
}

#[test]
fn launch_without_script_or_module_is_refused() {
    let start = Start::Launch(launch(Program::Command));
    let error = Python.plan(&FakeMachine::default(), &runtime(), Path::new("/x"), &start).unwrap_err();
    assert_eq!(error.to_string(), "Python needs a script or a module to run");
    assert!(!Python.needs_no_program(Some(Path::new("npm")), &["run".to_owned()]));
}

#[test]
fn user_environment_is_kept_and_output_is_unbuffered_by_default() {
    let program = || Program::Module("m".to_owned());
    let env = plan(&Start::Launch(launch(program()))).process().unwrap().clone().env;
    let expected = [("GONE", None), ("OWN", Some("1")), ("PYTHONUNBUFFERED", Some("1"))];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    for (name, value) in expected {
        assert_eq!(env.get(&name), Some(&value), "{name}");
    }
    for own in [None, Some("0".to_owned())] {
        let mut launch = launch(program());
        launch.env.insert("PYTHONUNBUFFERED".to_owned(), own.clone());
        assert_eq!(plan(&Start::Launch(launch)).process().unwrap().clone().env["PYTHONUNBUFFERED"], own);
    }
}

#[test]
fn listening_debugger_is_connected_to_with_path_mappings() {
    let attach = Attach {
        to: Endpoint::Address { host: "there".to_owned(), port: 5678 },
        path_mappings: vec![("/here".to_owned(), "/there".to_owned())],
        just_my_code: true,
    };
    let plan = plan(&Start::Attach(attach));
    let Plan::Dap { transport, setup } = plan else { panic!("{plan:?}") };
    assert_eq!(transport, Transport::Connect { host: "there".to_owned(), port: 5678 });
    assert!(
        setup.request == StartRequest::Attach && !setup.is_local,
        "its process numbers are another machine's"
    );
    let mappings = json!([{ "localRoot": "/here", "remoteRoot": "/there" }]);
    assert_eq!(setup.arguments["pathMappings"], mappings);
    assert_eq!(setup.arguments["redirectOutput"], true, "its pipes are not ours");
}

#[test]
fn helper_makes_a_process_connect_back() {
    let attach = Attach { to: Endpoint::Process(4711), path_mappings: Vec::new(), just_my_code: true };
    let plan = plan(&Start::Attach(attach));
    let Plan::Dap { transport: Transport::Listen { process: None, injector: Some(injector) }, setup } = plan
    else {
        panic!("{plan:?}")
    };
    let [script, words @ ..] = &words(&injector)[..] else { panic!("{injector:?}") };
    assert!(script.ends_with("/stillframe_attach.py"), "{script}");
    let modules = words[3];
    assert_eq!(words, [ADDRESS, TOKEN, "/cache/python/debugpy-1.8.22-cpython-311", modules, "4711"]);
    assert!(modules.starts_with("stillframe_state,") && modules.contains(",stillframe_agent"), "{modules}");
    assert!(setup.request == StartRequest::Attach && setup.is_local);
}

#[tokio::test]
async fn given_interpreter_comes_first() {
    let mut machine = machine([
        ("/own/python", "3.9.1"),
        ("/project/.venv/bin/python", "3.10.1"),
        ("/bin/python3", "3.11.1"),
    ]);
    machine.path.insert("python3".to_owned(), "/bin/python3".into());
    let near = Path::new("/project/main.py");
    let found = Python.locate(&machine, Some(Path::new("/own/python")), Some(near)).await.unwrap();
    assert_eq!((found.version.as_str(), found.origin.as_str()), ("3.9.1", "given as `executablePath`"));
    assert_eq!(found.tag, "cpython-39");
    let by_name = Python.locate(&machine, Some(Path::new("python3")), Some(near)).await.unwrap();
    assert_eq!(by_name.executable, Path::new("/bin/python3"), "a plain name is looked up");
}

#[tokio::test]
async fn nearest_environment_comes_before_active_one_and_search_path() {
    let all = [
        ("/project/app/.venv/bin/python", "3.8.1"),
        ("/project/venv/bin/python", "3.9.1"),
        ("/active/bin/python", "3.10.1"),
        ("/bin/python3", "3.11.1"),
        ("/bin/python", "3.12.1"),
    ];
    let mut machine = machine(all);
    machine.env.insert("VIRTUAL_ENV".to_owned(), "/active".to_owned());
    machine.path.insert("python3".to_owned(), "/bin/python3".into());
    machine.path.insert("python".to_owned(), "/bin/python".into());
    let near = Path::new("/project/app/deep/main.py");
    for (path, version) in all {
        let found = Python.locate(&machine, None, Some(near)).await.unwrap();
        assert_eq!((found.executable.as_path(), found.version.as_str()), (Path::new(path), version));
        machine.files.remove(Path::new(path));
        machine.path.retain(|_, known| known != Path::new(path));
    }
    let error = Python.locate(&machine, None, Some(near)).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("environment", "no Python interpreter was found")
    );
}

#[tokio::test]
async fn broken_interpreter_is_skipped_but_an_old_one_is_reported() {
    let mut machine = machine([("/bin/python", "3.12.1")]);
    machine.files.insert("/bin/python3".into(), None);
    for name in ["python3", "python"] {
        machine.path.insert(name.to_owned(), PathBuf::from("/bin").join(name));
    }
    let found = Python.locate(&machine, None, None).await.unwrap();
    assert_eq!(found.executable, Path::new("/bin/python"), "the first is a shim with nothing behind it");

    machine.files.insert("/bin/python3".into(), Some(answer("/bin/python3", "3.7.16")));
    let error = Python.locate(&machine, None, None).await.unwrap_err();
    let message = "`/bin/python3` is Python 3.7.16, but debugging needs Python 3.8 or newer; give a newer \
                   one as `executablePath`";
    assert_eq!((error.code(), error.to_string().as_str()), ("unsupported", message));
}

#[tokio::test]
async fn python_3_8_is_the_oldest_supported() {
    for (version, taken) in
        [("2.7.18", false), ("3.6.15", false), ("3.7.16", false), ("3.8.0", true), ("3.14.0", true)]
    {
        let machine = machine([("/own/python", version)]);
        let found = Python.locate(&machine, Some(Path::new("/own/python")), None).await;
        assert_eq!(found.is_ok(), taken, "{version}");
    }
}

#[tokio::test]
async fn missing_or_foreign_interpreter_fails_at_once() {
    let mut machine = FakeMachine::default();
    machine.files.insert("/bin/sh".into(), Some("hello".to_owned()));
    for (path, problem) in [
        ("/no/python", "no Python interpreter `/no/python`"),
        ("/bin/sh", "`/bin/sh` is not a Python interpreter"),
    ] {
        let error = Python.locate(&machine, Some(Path::new(path)), None).await.unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), ("environment", problem));
    }
}

#[test]
fn attaching_by_pid_needs_ptrace_permission() {
    let mut machine = FakeMachine::default();
    assert_eq!(Python.attach_obstacle(&machine), None);
    machine.forbids_tracing = true;
    let obstacle = Python.attach_obstacle(&machine).unwrap();
    assert!(obstacle.contains("`echo 0 > /proc/sys/kernel/yama/ptrace_scope`"), "{obstacle}");
}

#[test]
fn libraries_are_distinguished_from_user_code() {
    let table = [
        ("/usr/lib/python3.11/json/decoder.py", true),
        ("/project/.venv/lib/python3.12/site-packages/pytest/main.py", true),
        ("/usr/lib/python3/dist-packages/apt.py", true),
        ("/project/main.py", false),
        ("/project/python3/main.py", false),
        ("/project/python3.12-app/main.py", false),
        ("/c/python/debugpy-1.8.22-cpython-311/debugpy/_vendored/pydevd/_pydev_bundle/pydev_monkey.py", true),
    ];
    for (path, internal) in table {
        assert_eq!(Python.is_internal(Path::new(path)), internal, "{path}");
    }
}

#[test]
fn exception_modes_map_to_pydevd_filters() {
    let Plan::Dap { setup, .. } = plan(&Start::Launch(launch(Program::Module("m".to_owned())))) else {
        panic!()
    };
    let modes = [ExceptionMode::None, ExceptionMode::Uncaught, ExceptionMode::All];
    let filters = modes.map(|mode| (setup.quirks.exception_filters)(mode).to_vec());
    assert_eq!(filters, [vec![], vec!["uncaught"], vec!["raised", "uncaught"]]);
}
