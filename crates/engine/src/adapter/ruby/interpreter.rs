//! Which Ruby to use, or which command that ends in one.

use std::path::{Path, PathBuf};

use super::super::interpreter::{Answer, Interpreter, is_called, on_path};
use super::super::{Host, Runtime};
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// Prints the version, and where the debug gem is: the newest that this Ruby has.
const QUESTION: &str = "puts RUBY_VERSION, RUBY_ENGINE; \
    puts((Gem::Specification.find_all_by_name('debug').map { |gem| gem.full_gem_path + '/lib/debug' }.last).to_s)";

const INSTALL: &str = "install it with `gem install debug`, or Ruby with its bundled gems (`apt-get install ruby`, \
                       `brew install ruby`)";

const RUBY: Interpreter = Interpreter {
    language: "Ruby",
    name: "ruby",
    command: "bundle",
    install: "Ruby 3.1 or newer (`apt-get install ruby`, `brew install ruby`)",
    find: find_ruby,
    question: |ruby| ProcessSpec {
        program: ruby.to_owned(),
        args: vec!["-e".into(), QUESTION.into()],
        env: [("RUBYOPT".to_owned(), None)].into(),
        ..ProcessSpec::default()
    },
    read,
};

/// Finds the program to run. For `rdbg`, that is its Ruby.
pub(super) async fn locate(
    host: &dyn Host,
    executable: Option<&Path>,
    near: Option<&Path>,
) -> Result<Runtime> {
    let Some(rdbg) = executable.filter(|path| is_called(path, "rdbg")) else {
        return RUBY.locate(host, executable, near).await;
    };
    let path = RUBY.program(host, rdbg, near)?;
    let ruby = ruby_of_script(host, &path).or_else(|| find_ruby(host));
    let ruby =
        ruby.ok_or_else(|| RUBY.missing(format!("`{}` does not name an installed Ruby", path.display())))?;
    RUBY.probe(host, &ruby, format!("the Ruby of `{}`", path.display()), ruby.clone()).await
}

/// The Ruby that a runtime ends in.
pub(super) fn ruby_of(host: &dyn Host, runtime: &Runtime) -> PathBuf {
    let found = if is_ruby(&runtime.executable) { None } else { find_ruby(host) };
    found.unwrap_or_else(|| runtime.executable.clone())
}

/// Whether a program is Ruby.
pub(super) fn is_ruby(path: &Path) -> bool {
    is_called(path, RUBY.name)
}

/// Ruby on the search path, or else the one that an `rdbg` there runs on.
fn find_ruby(host: &dyn Host) -> Option<PathBuf> {
    let programs = |name| on_path(host, name, 2..=4);
    programs("ruby").next().or_else(|| programs("rdbg").find_map(|rdbg| ruby_of_script(host, &rdbg)))
}

/// The Ruby in the first line of a script.
fn ruby_of_script(host: &dyn Host, script: &Path) -> Option<PathBuf> {
    let head = host.head(script);
    let line =
        String::from_utf8_lossy(head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?).into_owned();
    let path = PathBuf::from(line.split_whitespace().next()?);
    (is_ruby(&path) && host.is_file(&path)).then_some(path)
}

fn read(_host: &dyn Host, ruby: &Path, [version, engine, gem]: [String; 3]) -> Result<Answer> {
    let is_old =
        version.split('.').next().and_then(|major| major.parse().ok()).is_none_or(|major: u32| major < 3)
            || version.starts_with("3.0");
    if engine != "ruby" || is_old {
        return Err(Error::Unsupported(format!(
            "`{}` is {engine} {version}: debugging needs Ruby 3.1 or newer (CRuby); give another one as \
             `executablePath`",
            ruby.display()
        )));
    }
    if gem.is_empty() {
        return Err(Error::Environment {
            problem: format!(
                "Ruby {version} (`{}`) has no debugger: the gem `debug` (rdbg) is not installed",
                ruby.display()
            ),
            remedy: INSTALL.to_owned(),
        });
    }
    Ok((version, gem))
}
