//! Which Ruby to use, or which command that ends in one.

use std::path::{Path, PathBuf};

use super::super::known::Known;
use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// Prints the version, and where the debug gem is: the newest that this Ruby has.
const QUESTION: &str = "puts RUBY_VERSION, RUBY_ENGINE; \
    puts((Gem::Specification.find_all_by_name('debug').map { |gem| gem.full_gem_path + '/lib/debug' }.last).to_s)";

const INSTALL: &str = "install it with `gem install debug`, or Ruby with its bundled gems (`apt-get install ruby`, \
                       `brew install ruby`)";

/// The version, and the folder of the debug gem.
type Answer = (String, String);

static ANSWERS: Known<Answer> = Known::new();

/// Finds the program to run: the one that was asked for, else `ruby` on the search path, else the Ruby of an `rdbg`.
/// An executable other than Ruby is a command that starts Ruby, such as `bundle`.
pub(super) async fn locate(
    host: &dyn Host,
    executable: Option<&Path>,
    near: Option<&Path>,
) -> Result<Runtime> {
    let Some(executable) = executable else {
        let ruby = find_ruby(host).ok_or_else(|| missing("no `ruby` on PATH".to_owned()))?;
        return probe(host, &ruby, "`ruby` on PATH".to_owned(), ruby.clone()).await;
    };
    let path = find(host, executable, near)?;
    if is_rdbg(&path) {
        let ruby = ruby_of_script(host, &path).or_else(|| find_ruby(host));
        let ruby =
            ruby.ok_or_else(|| missing(format!("`{}` does not name an installed Ruby", path.display())))?;
        return probe(host, &ruby, format!("the Ruby of `{}`", path.display()), ruby.clone()).await;
    }
    if is_ruby(&path) {
        return probe(host, &host.permitted(&path)?, "given as `executablePath`".to_owned(), path).await;
    }
    let ruby = find_ruby(host)
        .ok_or_else(|| missing(format!("`{}` needs Ruby, and no `ruby` is on PATH", executable.display())))?;
    let origin = format!(
        "`{}` given as `executablePath`; the version is that of `ruby` on PATH",
        executable.display()
    );
    probe(host, &ruby, origin, path).await
}

/// The Ruby that a runtime ends in.
pub(super) fn ruby_of(host: &dyn Host, runtime: &Runtime) -> PathBuf {
    let found = if is_ruby(&runtime.executable) { None } else { find_ruby(host) };
    found.unwrap_or_else(|| runtime.executable.clone())
}

/// Whether a program is Ruby by its name: `ruby`, `ruby3.1`.
pub(super) fn is_ruby(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let rest = name.strip_suffix(".exe").unwrap_or(&name).strip_prefix("ruby");
    rest.is_some_and(is_version)
}

fn is_rdbg(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("rdbg").is_some_and(is_version)
}

fn is_version(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-'))
}

/// `ruby`, else one with its version in its name, else the one that an `rdbg` runs on.
fn find_ruby(host: &dyn Host) -> Option<PathBuf> {
    let versions =
        || (2..=4).rev().flat_map(|major| (0..=9).rev().map(move |minor| format!("{major}.{minor}")));
    let names = |program: &'static str| {
        std::iter::once(program.to_owned())
            .chain(versions().map(move |version| format!("{program}{version}")))
    };
    let ruby = names("ruby").find_map(|name| host.which(&name));
    ruby.or_else(|| names("rdbg").find_map(|name| ruby_of_script(host, &host.which(&name)?)))
}

/// The Ruby in the first line of a script.
fn ruby_of_script(host: &dyn Host, script: &Path) -> Option<PathBuf> {
    let head = host.head(script);
    let line =
        String::from_utf8_lossy(head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?).into_owned();
    let path = PathBuf::from(line.split_whitespace().next()?);
    (is_ruby(&path) && host.is_file(&path)).then_some(path)
}

/// A path is taken as it is; a name is looked for on the search path, then in `bin` of the project.
fn find(host: &dyn Host, executable: &Path, near: Option<&Path>) -> Result<PathBuf> {
    let found = if executable.components().count() > 1 {
        host.is_file(executable).then(|| executable.to_owned())
    } else {
        let folders = near.into_iter().flat_map(|near| near.ancestors().skip(1));
        let mut binstubs = folders.map(|folder| folder.join("bin").join(executable));
        host.which(&executable.to_string_lossy()).or_else(|| binstubs.find(|path| host.is_file(path)))
    };
    found.ok_or_else(|| Error::Environment {
        problem: format!("no program at `{}`", executable.display()),
        remedy: "give the path of `ruby`, or a command such as `bundle` that starts it, as `executablePath`, or leave \
                 it out to have `ruby` found"
            .to_owned(),
    })
}

fn missing(problem: String) -> Error {
    let remedy = "install Ruby 3.1 or newer (`apt-get install ruby`, `brew install ruby`), or give the path of one as \
                  `executablePath`"
        .to_owned();
    Error::Environment { problem, remedy }
}

async fn probe(host: &dyn Host, ruby: &Path, origin: String, executable: PathBuf) -> Result<Runtime> {
    let (version, tag) = ANSWERS.or_ask(ruby.to_owned(), ruby, ask(host, ruby)).await?;
    Ok(Runtime { executable, version, tag, origin })
}

async fn ask(host: &dyn Host, ruby: &Path) -> Result<Answer> {
    let broken = |problem: String| Error::Environment {
        problem: format!("`{}` {problem}", ruby.display()),
        remedy: "give the path of a working Ruby as `executablePath`".to_owned(),
    };
    let spec = ProcessSpec {
        program: ruby.to_owned(),
        args: vec!["-e".into(), QUESTION.into()],
        env: [("RUBYOPT".to_owned(), None)].into(),
        ..ProcessSpec::default()
    };
    let finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
    let lines: Vec<&str> = finished.stdout.lines().map(str::trim).collect();
    let [version, engine, gem] = lines[..] else {
        return Err(broken(format!("does not report its version: {}", finished.stderr.trim())));
    };
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
    Ok((version.to_owned(), gem.to_owned()))
}
