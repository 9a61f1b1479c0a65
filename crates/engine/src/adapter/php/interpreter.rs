//! Which PHP to use, and whether it has Xdebug.

use std::path::{Path, PathBuf};

use super::super::braces::{self, Family};
use super::super::interpreter::{Answer, Interpreter, is_called, on_path};
use super::super::{AnalysisRequest, Host, Runtime, analyzer};
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

/// Marks a runtime whose settings do not load Xdebug.
const UNLOADED: &str = "xdebug-unloaded";

/// How PHP is found.
pub(super) const PHP: Interpreter = Interpreter {
    language: "PHP",
    name: "php",
    command: "composer",
    install: "PHP 8 with Xdebug (`apt-get install php-cli php-xdebug`)",
    find: |host| on_path(host, "php", 8..=9).next(),
    question: |php| undebugged(php, &["-r", QUESTION]),
    read,
};

/// Whether a program is PHP.
pub(super) fn is_php(path: &Path) -> bool {
    is_called(path, PHP.name)
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

fn read(host: &dyn Host, php: &Path, [version, xdebug, folder]: [String; 3]) -> Result<Answer> {
    if version.split('.').next().and_then(|major| major.parse().ok()).is_none_or(|major: u32| major < 8) {
        return Err(Error::Unsupported(format!(
            "`{}` is PHP {version}: debugging needs PHP 8.0 or newer; give another one as `executablePath`",
            php.display()
        )));
    }
    if xdebug == "-" {
        if host.is_file(&Path::new(&folder).join("xdebug.so")) {
            return Ok((version, UNLOADED.to_owned()));
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
    Ok((version, format!("xdebug-{xdebug}")))
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
    let php = own.or_else(|| (PHP.find)(host)).ok_or_else(|| PHP.missing("no `php` on PATH".to_owned()))?;
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
    fn options_that_switch_the_debugger_off_are_refused() {
        let options = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(keeps_debugger(&options(&["-d", "memory_limit=1G"])).is_ok());
        assert!(keeps_debugger(&options(&["-n"])).is_err());
        assert!(keeps_debugger(&options(&["-dxdebug.mode=off"])).is_err());
    }
}
