use engine::adapter::Machine;

use super::*;

/// `LANGUAGE executable [options] program [arguments]` of a command that is run in `/w`.
fn read(command: &str) -> String {
    let read =
        Command::read(&Machine, &command.into(), None, Some("/w".into())).map_err(|error| error.message);
    let Command { adapter, executable, launch, .. } = match read {
        Ok(command) => command,
        Err(message) => return message,
    };
    let executable = executable.map_or_else(|| "-".to_owned(), |path| path.display().to_string());
    let Launch { runtime_args, args, program, .. } = launch;
    format!("{} {executable} {runtime_args:?} {} {args:?}", adapter.name(), program.name())
}

#[test]
fn arguments_determine_the_program() {
    let table = [
        ("node app.js a b", r#"javascript node [] /w/app.js ["a", "b"]"#),
        (
            "node --import tsx -r ./x.js app.ts",
            r#"javascript node ["--import", "tsx", "-r", "./x.js"] /w/app.ts []"#,
        ),
        (
            "node --inspect-port 0 --watch-path src app.js",
            r#"javascript node ["--inspect-port", "0", "--watch-path", "src"] /w/app.js []"#,
        ),
        ("node --test t.js", r#"javascript node ["--test", "t.js"] the command []"#),
        ("./n/node22 app.js", r"javascript /w/./n/node22 [] /w/app.js []"),
        ("app.mjs x", r#"javascript - [] /w/app.mjs ["x"]"#),
        ("python -u app.py x", r#"python - ["-u"] /w/app.py ["x"]"#),
        ("python3.11 -m pytest -x", r#"python python3.11 [] pytest ["-x"]"#),
        ("env A=1 python app.py", r"python - [] /w/app.py []"),
        ("uv run python app.py", r"python - [] /w/app.py []"),
        ("uv run --frozen --extra web -- python app.py", r"python - [] /w/app.py []"),
        ("uv run -q --group=test -m pytest -x", r#"python - [] pytest ["-x"]"#),
        ("pdm run python app.py", r"python - [] /w/app.py []"),
        ("app.py", r"python - [] /w/app.py []"),
        ("'python -u app.py x'", r#"python - ["-u"] /w/app.py ["x"]"#),
        ("/bin/cat x", r#"c - [] /bin/cat ["x"]"#),
    ];
    for (command, expected) in table {
        assert_eq!(read(command), expected, "{command}");
    }
    // Where it is depends on the machine.
    let wrapped = read("timeout 5 python app.py");
    assert!(wrapped.ends_with(r#"/timeout ["5", "python", "app.py"]"#), "{wrapped}");
}

#[test]
fn unparsable_commands_are_refused_with_the_reason() {
    let table = [
        ("", "`command` is empty"),
        ("node 'app.js", "has an unclosed quote"),
        ("cd web && pytest -x", "give `cwd`: \"web\" and `command`: \"pytest -x\""),
        ("node app.js | cat", "needs a shell: it has several commands or a redirection"),
        ("node $FILE", "needs a shell to expand `$FILE`"),
        ("no-such-command-here x", "`no-such-command-here` was not found"),
        ("/etc/passwd x", "cannot tell which language `/etc/passwd` runs"),
        ("make -C web test", "`make` runs other commands, so the language to debug is unknown"),
        ("uv run --with flask python app.py", "has `uv run --with`, which may change the environment"),
        ("make -C web test", "such as `pytest` or `npm test` (`make -n -C web test` prints it)"),
    ];
    for (command, problem) in table {
        let answer = read(command);
        assert!(answer.contains(problem), "{command}: {answer}");
    }
}

#[test]
fn the_name_of_a_file_is_not_split_at_its_spaces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my app.py");
    std::fs::write(&file, "").unwrap();
    let arguments = || Some(ArgumentList(vec!["x".to_owned()]));
    let table = [
        (CommandLine::from("my app.py"), None),
        (CommandLine::from("my app.py"), arguments()),
        (CommandLine::from("python 'my app.py'"), None),
        (CommandLine::Words(vec!["my app.py".to_owned()]), None),
        (CommandLine::Words(vec!["python".to_owned(), "my app.py".to_owned()]), arguments()),
    ];
    for (command, args) in table {
        let read = Command::read(&Machine, &command, args, Some(folder.path().to_owned())).unwrap();
        assert_eq!(read.launch.program, Program::Script(file.clone()), "{command:?}");
    }
}
