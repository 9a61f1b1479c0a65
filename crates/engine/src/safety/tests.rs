use std::os::unix::fs::symlink;

use super::*;
use crate::adapter::commands;
use crate::host::Machine;
use crate::model::breakpoint::HitCondition;

/// A folder that is allowed, and one beside it that is not, with a file each.
fn scene() -> (tempfile::TempDir, PathBuf, PathBuf, Safety) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (inside, outside) = (base.join("in"), base.join("in-not"));
    for one in [&inside, &outside] {
        std::fs::create_dir(one).unwrap();
        std::fs::write(one.join("main.py"), "x = 1\n").unwrap();
    }
    let safety = Safety { roots: Some(vec![inside.clone()]), ..Safety::default() };
    (folder, inside, outside, safety)
}

#[test]
fn paths_outside_are_refused_after_resolving_links() {
    let (_folder, inside, outside, safety) = scene();
    symlink(outside.join("main.py"), inside.join("link.py")).unwrap();
    symlink(&outside, inside.join("folder")).unwrap();
    symlink(outside.join("later.py"), inside.join("nowhere.py")).unwrap();
    symlink(inside.join("main.py"), outside.join("back.py")).unwrap();
    let table = [
        (inside.join("main.py"), true),
        (inside.clone(), true),
        (inside.join("new/file.py"), true),
        (inside.join("x/../main.py"), false),
        (inside.join("../in/main.py"), true),
        (outside.join("back.py"), true),
        (inside.join("link.py"), false),
        (inside.join("folder/main.py"), false),
        (inside.join("folder/new.py"), false),
        (inside.join("nowhere.py"), false),
        (inside.join("../in-not/main.py"), false),
        (outside.join("main.py"), false),
        (outside.join("missing.py"), false),
        (PathBuf::from("/etc/passwd"), false),
        (PathBuf::from("/"), false),
    ];
    for (path, allowed) in table {
        assert_eq!(safety.check_path(&path).is_ok(), allowed, "{}", path.display());
        assert!(Safety::default().check_path(&path).is_ok());
    }
    let refused = safety.read_lines(&inside.join("link.py")).unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
    assert_eq!(safety.read_lines(&inside.join("main.py")), Ok(vec!["x = 1".to_owned()]));
}

#[test]
fn a_link_changed_after_the_check_is_detected() {
    let (_folder, inside, outside, safety) = scene();
    let path = inside.join("main.py");
    assert_eq!(safety.check_path(&path), Ok(()));
    std::fs::remove_file(&path).unwrap();
    symlink(outside.join("main.py"), &path).unwrap();
    let file = File::open(&path).unwrap();
    assert_eq!(safety.check_open(&file, &path).unwrap_err().code(), "not_allowed");
}

#[test]
fn missing_file_suggests_only_names_inside() {
    let (_folder, inside, _, safety) = scene();
    let Error::NoFile { similar, .. } = safety.read_lines(&inside.join("mian.py")).unwrap_err() else {
        panic!("there is no such file")
    };
    assert_eq!(similar, [inside.join("main.py")]);
}

#[test]
fn programs_folders_inputs_and_arguments_are_checked() {
    let (_folder, inside, outside, safety) = scene();
    let script = |path: &Path| Launch::new(Program::Script(path.to_owned()));
    let good = script(&inside.join("main.py"));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let far = outside.join("main.py").display().to_string();
    let command = |args: &[&str]| Launch {
        args: words(args),
        cwd: Some(inside.clone()),
        ..Launch::new(Program::Module("pytest".to_owned()))
    };
    let (far_folder, near_folder) = (outside.display().to_string(), inside.display().to_string());
    let in_folder = |launch: &Launch| Launch { cwd: Some(inside.clone()), ..launch.clone() };
    let with = |launch: &Launch, name: &str, value: &str| Launch {
        env: [(name.to_owned(), Some(value.to_owned()))].into(),
        ..launch.clone()
    };
    let shell = |args: &[&str]| Launch {
        runtime_args: words(&[&["env", "bash"], args].concat()),
        cwd: Some(inside.clone()),
        ..Launch::new(Program::Command)
    };
    let table = [
        (good.clone(), true),
        (script(&outside.join("main.py")), false),
        (Launch { cwd: Some(inside.clone()), ..good.clone() }, true),
        (Launch { cwd: Some(outside.clone()), ..good.clone() }, false),
        (Launch { stdin: Stdin::File("/dev/null".into()), ..good.clone() }, true),
        (Launch { stdin: Stdin::File(outside.join("main.py")), ..good.clone() }, false),
        (Launch { args: words(&[&far]), ..good.clone() }, true),
        (Launch { runtime_args: words(&["--require", &far]), ..good.clone() }, false),
        (Launch { runtime_args: words(&[&format!("--require={far}")]), ..good.clone() }, false),
        (Launch { runtime_args: words(&["--require", "../in-not/main"]), ..in_folder(&good) }, false),
        (Launch { runtime_args: words(&["--import", &format!("FILE:{far}?x")]), ..good.clone() }, false),
        (Launch { runtime_args: words(&["--require", "./main"]), ..in_folder(&good) }, true),
        (with(&good, "NODE_OPTIONS", &format!("--enable-source-maps --require {far}")), false),
        (with(&good, "NODE_OPTIONS", "--enable-source-maps"), true),
        (with(&good, "PYTHONPATH", &far_folder), false),
        (with(&good, "PYTHONPATH", &format!("{near_folder}:{near_folder}/lib")), true),
        (with(&good, "PATH", &format!("{near_folder}:{}", std::env::var("PATH").unwrap())), true),
        (with(&good, "PATH", &far_folder), false),
        (with(&good, "DATA", &far_folder), true),
        (with(&good, "HOME", &far_folder), false),
        (with(&in_folder(&good), "HOME", "../in-not"), false),
        (with(&good, "HOME", &near_folder), true),
        (with(&in_folder(&good), "HOME", "."), true),
        (with(&good, "XDG_CONFIG_DIRS", &format!("{near_folder}:{far_folder}")), false),
        (with(&good, "PYENV_ROOT", &far_folder), false),
        (with(&good, "PYENV_VERSION", "3.12.1"), true),
        (with(&good, "PYDEVD_DEBUG_FILE", &far), false),
        (with(&good, "PYDEVD_USE_CYTHON", "NO"), true),
        (with(&good, "DEBUGPY_LOG_DIR", &far_folder), false),
        (with(&good, "TSX_TSCONFIG_PATH", &far), false),
        (with(&good, "GCONV_PATH", &far_folder), false),
        (with(&good, "OPENSSL_CONF", &far), false),
        (with(&good, "OPENSSL_MODULES", &far_folder), false),
        (with(&good, "OPENSSL_ENGINES", &near_folder), true),
        (command(&["-c../in-not/pytest.ini"]), false),
        (command(&["-c", "main.ini", "-k", "not slow and x", "main.py::TestOne::test[a:b]"]), true),
        (shell(&["-c", "cat x"]), false),
        (shell(&["x.sh"]), true),
        (command(&["-q", "main.py", "main.py::test"]), true),
        (command(&[&far]), false),
        (command(&["../in-not/main.py"]), false),
        (command(&["../in-not/main.py::test_one"]), false),
        (command(&["-c", &format!("python {far}")]), false),
    ];
    for (launch, allowed) in table {
        let checked = safety.check_launch(&Machine, None, &launch, commands::names_files);
        assert_eq!(checked.is_ok(), allowed, "{launch:?}");
    }
}

#[test]
fn commands_on_the_search_path_are_allowed_and_others_must_be_inside() {
    let (_folder, inside, outside, safety) = scene();
    let python = which::which("python3").unwrap().canonicalize().unwrap();
    let copy = outside.join("python3");
    std::fs::write(&copy, "").unwrap();
    symlink(&python, inside.join("python")).unwrap();
    let table = [
        (PathBuf::from("python3"), true),
        (inside.join("python"), words::is_on_search_path(&Machine, &python)),
        (inside.join("main.py"), true),
        (copy, false),
    ];
    for (executable, allowed) in table {
        assert_eq!(
            safety.check_executable(&Machine, &executable).is_ok(),
            allowed,
            "{}",
            executable.display()
        );
    }
}

#[test]
fn read_only_starts_listed_programs_without_changes() {
    let (_folder, inside, outside, _) = scene();
    let main = inside.join("main.py");
    let safety = Safety { read_only: true, programs: vec![main.clone()], ..Safety::default() };
    symlink(&main, inside.join("link.py")).unwrap();
    let script = |path: &Path| Launch::new(Program::Script(path.to_owned()));
    let own = |name: &str| [(name.to_owned(), Some("1".to_owned()))].into();
    let table = [
        (script(&main), None, true),
        (script(&inside.join("link.py")), None, true),
        (script(&outside.join("main.py")), None, false),
        (Launch { args: vec!["--x".to_owned()], ..script(&main) }, None, true),
        (Launch { runtime_args: vec!["-i".to_owned()], ..script(&main) }, None, false),
        (Launch { env: own("NODE_OPTIONS"), ..script(&main) }, None, false),
        (script(&main), Some(outside.join("python")), false),
        (Launch::new(Program::Module("pytest".to_owned())), None, false),
        (Launch::new(Program::Command), None, false),
    ];
    for (launch, executable, allowed) in table {
        let checked = safety.check_launch(&Machine, executable.as_deref(), &launch, commands::names_files);
        assert_eq!(checked.is_ok(), allowed, "{launch:?}");
    }
    let none = Safety { read_only: true, ..Safety::default() };
    assert!(none.check_launch(&Machine, None, &script(&main), commands::names_files).is_err());
}

#[test]
fn read_only_allows_hit_counts_and_no_evaluation() {
    let safety = Safety { read_only: true, ..Safety::default() };
    let count: HitCondition = ">= 3".parse().unwrap();
    let text = || Some("x".to_owned());
    let table = [
        (Rule::default(), true),
        (Rule { hit_condition: Some(count), ..Rule::default() }, true),
        (Rule { condition: text(), ..Rule::default() }, false),
        (Rule { log_message: text(), ..Rule::default() }, false),
    ];
    for (rule, allowed) in table {
        assert_eq!(safety.check_rule(&rule).is_ok(), allowed, "{rule:?}");
        assert!(Safety::default().check_rule(&rule).is_ok());
    }
    assert!(safety.check_assignment().is_err());
    assert!(safety.check_condition(Some("error.code == 3")).is_err());
    assert!(safety.check_condition(None).is_ok());
}

#[test]
fn languages_are_all_or_the_listed_ones() {
    let safety = Safety { languages: Some(vec!["python".to_owned()]), ..Safety::default() };
    assert!(safety.check_language("python").is_ok());
    let Error::Forbidden { rule, .. } = safety.check_language("javascript").unwrap_err() else {
        panic!("it is forbidden")
    };
    assert_eq!(rule, "allowed languages: python");
}
