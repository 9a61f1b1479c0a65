//! Which PHP to use, and whether it has Xdebug.

use std::path::{Path, PathBuf};

use super::super::braces::{self, Family};
use super::super::known::Known;
use super::super::{AnalysisRequest, Host, Runtime, analyzer};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::source::Code;
use crate::parts::folder_with;
use crate::process::ProcessSpec;

/// Prints the version of PHP and of Xdebug, and where a debugger that is not loaded may be.
const QUESTION: &str =
    "echo PHP_VERSION, \"\\n\", phpversion('xdebug') ?: '-', \"\\n\", ini_get('extension_dir'), \"\\n\";";

const INSTALL: &str =
    "install Xdebug 3 for it with `apt-get install php-xdebug` or `pecl install xdebug`, and try again";

/// The settings that make PHP connect to us.
const SETTINGS: &str = include_str!("../../debuggee/php/stillframe.ini");

/// Reads a source.
const ANALYZER: (&str, &str) = ("analyze.php", include_str!("../../debuggee/php/analyze.php"));

/// The version, and whether Xdebug has to be loaded.
type Answer = (String, String);

static ANSWERS: Known<Answer> = Known::new();

/// Marks a runtime whose settings do not load Xdebug.
const UNLOADED: &str = "xdebug-unloaded";

/// Finds the program to run: the one that was asked for, else `php` on the search path. An executable other than PHP is
/// a command that starts PHP, such as `composer`.
pub(super) async fn locate(host: &dyn Host, executable: Option<&Path>) -> Result<Runtime> {
    let Some(executable) = executable else {
        let php = find_php(host).ok_or_else(|| missing("no `php` on PATH".to_owned()))?;
        return probe(host, &php, "`php` on PATH".to_owned(), php.clone()).await;
    };
    let path = find(host, executable)?;
    if is_php(&path) {
        return probe(host, &host.permitted(&path)?, "given as `executablePath`".to_owned(), path).await;
    }
    let php = find_php(host)
        .ok_or_else(|| missing(format!("`{}` needs PHP, and no `php` is on PATH", executable.display())))?;
    let origin =
        format!("`{}` given as `executablePath`; the version is that of `php` on PATH", executable.display());
    probe(host, &php, origin, path).await
}

/// Whether a program is PHP by its name: `php`, `php8.2`.
pub(super) fn is_php(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let rest = name.strip_suffix(".exe").unwrap_or(&name).strip_prefix("php");
    rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-')))
}

/// `php`, else one with its version in its name.
fn find_php(host: &dyn Host) -> Option<PathBuf> {
    let versions =
        (8..=9).rev().flat_map(|major| (0..=9).rev().map(move |minor| format!("php{major}.{minor}")));
    std::iter::once("php".to_owned()).chain(versions).find_map(|name| host.which(&name))
}

/// A path is taken as it is; a name is looked for on the search path.
fn find(host: &dyn Host, executable: &Path) -> Result<PathBuf> {
    let found = if executable.components().count() > 1 {
        host.is_file(executable).then(|| executable.to_owned())
    } else {
        host.which(&executable.to_string_lossy())
    };
    found.ok_or_else(|| Error::Environment {
        problem: format!("no program at `{}`", executable.display()),
        remedy:
            "give the path of `php`, or a command such as `composer` that starts it, as `executablePath`, or \
                 leave it out to have `php` found"
                .to_owned(),
    })
}

fn missing(problem: String) -> Error {
    let remedy =
        "install PHP 8 with Xdebug (`apt-get install php-cli php-xdebug`), or give the path of one as \
                  `executablePath`"
            .to_owned();
    Error::Environment { problem, remedy }
}

async fn probe(host: &dyn Host, php: &Path, origin: String, executable: PathBuf) -> Result<Runtime> {
    let (version, tag) = ANSWERS.or_ask(php.to_owned(), php, ask(host, php)).await?;
    Ok(Runtime { executable, version, tag, origin })
}

/// A start of PHP that no debugger takes part in.
fn undebugged(php: &Path, args: &[&str]) -> ProcessSpec {
    ProcessSpec {
        program: php.to_owned(),
        args: args.iter().map(Into::into).collect(),
        env: [("XDEBUG_MODE".to_owned(), Some("off".to_owned()))].into(),
        ..ProcessSpec::default()
    }
}

async fn ask(host: &dyn Host, php: &Path) -> Result<Answer> {
    let broken = |problem: String| Error::Environment {
        problem: format!("`{}` {problem}", php.display()),
        remedy: "give the path of a working PHP as `executablePath`".to_owned(),
    };
    let spec = undebugged(php, &["-r", QUESTION]);
    let finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
    let lines: Vec<&str> = finished.stdout.lines().map(str::trim).collect();
    let [.., version, xdebug, folder] = lines[..] else {
        return Err(broken(format!("does not report its version: {}", finished.stderr.trim())));
    };
    if version.split('.').next().and_then(|major| major.parse().ok()).is_none_or(|major: u32| major < 8) {
        return Err(Error::Unsupported(format!(
            "`{}` is PHP {version}: debugging needs PHP 8.0 or newer; give another one as `executablePath`",
            php.display()
        )));
    }
    if xdebug == "-" {
        if host.is_file(&Path::new(folder).join("xdebug.so")) {
            return Ok((version.to_owned(), UNLOADED.to_owned()));
        }
        return Err(Error::Environment {
            problem: format!("PHP {version} (`{}`) has no debugger: Xdebug is not installed", php.display()),
            remedy: INSTALL.to_owned(),
        });
    }
    if xdebug.starts_with(['1', '2']) {
        return Err(Error::Environment {
            problem: format!("PHP {version} (`{}`) has Xdebug {xdebug}, which is too old", php.display()),
            remedy: INSTALL.to_owned(),
        });
    }
    Ok((version.to_owned(), format!("xdebug-{xdebug}")))
}

/// The folder with our settings, in our cache.
pub(super) fn settings(host: &dyn Host, runtime: &Runtime) -> Result<PathBuf> {
    let load = if runtime.tag == UNLOADED { "zend_extension = xdebug\n" } else { "" };
    let text = format!("{SETTINGS}{load}");
    // Last of all, so that it overrides the others.
    folder_with(&host.cache_dir().join("php"), &[("zz-stillframe.ini", &text)])
}

/// Refuses options of the interpreter that keep it from connecting to us.
pub(super) fn keeps_debugger(options: &[String]) -> Result<()> {
    let mut settings = options.iter().filter(|option| option.contains("xdebug."));
    let found = options.iter().find(|option| *option == "-n").or_else(|| settings.next());
    match found {
        None => Ok(()),
        Some(option) => Err(Error::Unsupported(format!(
            "`{option}` keeps Xdebug from connecting to this session; leave it out of the options of PHP"
        ))),
    }
}

/// What a file holds, and whether the expressions can be compiled, by the program's own PHP.
pub(super) async fn analyze(
    host: &dyn Host,
    runtime: &Runtime,
    question: AnalysisRequest<'_>,
) -> Result<Code> {
    let own = Some(&runtime.executable).filter(|path| is_php(path)).cloned();
    let php = own.or_else(|| find_php(host)).ok_or_else(|| missing("no `php` on PATH".to_owned()))?;
    let folder = folder_with(&host.cache_dir().join("php"), &[ANALYZER])?;
    let mut spec = undebugged(&php, &[]);
    spec.args.push(folder.join(ANALYZER.0).into());
    let text = question.file.and_then(|file| host.read(file));
    let mut code = analyzer::analyze(host, spec, question).await?;
    code.loops = text.map(|text| braces::loops(&text, Family::Php)).unwrap_or_default();
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_names() {
        for (name, expected) in
            [("php", true), ("/usr/bin/php8.2", true), ("phpunit", false), ("php-cgi", false)]
        {
            assert_eq!(is_php(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn options_that_switch_the_debugger_off_are_refused() {
        let options = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(keeps_debugger(&options(&["-d", "memory_limit=1G"])).is_ok());
        assert!(keeps_debugger(&options(&["-n"])).is_err());
        assert!(keeps_debugger(&options(&["-dxdebug.mode=off"])).is_err());
    }
}
