//! PHP, debugged by Xdebug, whose protocol is translated (`debugger/dbgp/`).
//!
//! A folder of ini files in `PHP_INI_SCAN_DIR` makes each PHP process of a program connect to us, so that the children
//! of a program and the requests of a web server are reached like a script. Facts hold for Xdebug 3.2 on PHP 8.2.

mod commands;
mod interpreter;
mod tracebacks;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::json;

use super::plan::{DapSetup, PORT, Plan, Quirks, StackSampling, StartRequest, TOKEN, Transport};
use super::{
    Adapter, AnalysisRequest, ChildProcesses, Commands, Host, LanguageFacts, Reporting, Runtime, Sample,
    SourceAnalysis, Tracebacks, ValueExpressions,
};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::Code;
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Php;

const QUIRKS: Quirks = Quirks {
    // The translation is configured once it has answered.
    sends_initialized: false,
    configured_within: deadlines::RUN,
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught => &["uncaught"],
        ExceptionMode::UserUnhandled => &["user"],
        ExceptionMode::All => &["all"],
    },
    is_timeout: |text| text.starts_with("Interrupted: "),
    is_unknown_name: |text| {
        text.starts_with("Error: Undefined constant ") || text.starts_with("Undefined variable ")
    },
    // `ValueError: the message`.
    error_type: |text| {
        let (kind, _) = text.split_once(": ").unwrap_or_default();
        let is_name = kind.starts_with(char::is_uppercase) && !kind.contains(' ');
        if is_name { kind } else { "" }
    },
    as_text: |expression| format!("\\Stillframe\\Text::of((\n{expression}\n))"),
    as_condition: |expression| format!("(bool) (\n{expression}\n)"),
    stops_at_bad_conditions: true,
    bounds_evaluations: true,
    takes_limits: true,
    names_exception: true,
    describes_throws: true,
    stack_sampling: Some(StackSampling {
        has_os_threads: false,
        ends_calls: true,
        is_spare: |_| false,
        wait: |_, _| None,
        locks: None,
    }),
    ..Quirks::NONE
};

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["xdebug"],
    extensions: &["php", "phpt", "phtml"],
    sample: Sample { source: "<?php\n$answer = 6 * 7;\necho $answer, \"\\n\";\n", line: 3 },
    passes_definitions: false,
    samples: true,
    reporting: Reporting::Inside,
    ..LanguageFacts::new("php", "PHP")
};

#[async_trait]
impl Adapter for Php {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        interpreter::PHP.locate(host, executable, None).await
    }

    async fn provide(&self, host: &dyn Host, runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        interpreter::settings(host, runtime)
    }

    fn needs_no_program(&self, executable: Option<&Path>, runtime_args: &[String]) -> bool {
        executable.is_some_and(|path| !interpreter::is_php(path))
            || runtime_args.iter().any(|one| one == "-r" || one.starts_with("-S"))
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        match start {
            Start::Launch(launch) => plan_launch(host, runtime, debugger, launch),
            Start::Attach(_) => Err(Error::Unsupported(
                "attaching to a PHP program is not supported: Xdebug connects to a debugger only when a program or \
                 a request starts; start the program in the session"
                    .to_owned(),
            )),
        }
    }

    async fn check(&self, host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Result<()> {
        let Program::Script(path) = &launch.program else { return Ok(()) };
        let question = AnalysisRequest { file: Some(path), ..AnalysisRequest::default() };
        interpreter::analyze(host, runtime, question).await.map(drop)
    }

    fn is_internal(&self, path: &Path) -> bool {
        is_internal(path)
    }

    fn refuses(&self, request: StartRequest) -> Option<String> {
        let reason = "Xdebug connects to a debugger only when a program or a request starts";
        (request == StartRequest::Attach).then(|| reason.to_owned())
    }

    capabilities! {
        source_analysis: SourceAnalysis, value_expressions: ValueExpressions, commands: Commands,
        child_processes: ChildProcesses, tracebacks: Tracebacks
    }
}

#[async_trait]
impl SourceAnalysis for Php {
    async fn analyze(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code> {
        interpreter::analyze(host, runtime, question).await
    }
}

impl ValueExpressions for Php {
    fn as_json(&self, expression: &str, longest: usize) -> String {
        format!("\\Stillframe\\AsJson::of((\n{expression}\n), {longest})")
    }

    fn is_of_type(&self, type_name: &str) -> String {
        format!("\\Stillframe\\Throws::isA({})", literal(type_name))
    }

    fn is_like(&self, pattern: &str) -> String {
        format!("\\Stillframe\\Throws::isLike({})", literal(pattern))
    }
}

impl ChildProcesses for Php {
    fn plan_children(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        debugger: &Path,
        launch: &Launch,
    ) -> Result<Plan> {
        let env = environment(host, debugger, launch);
        let process = ProcessSpec { env, ..ProcessSpec::default() };
        Ok(Plan::Dap { transport: Transport::Dbgp { process, serves: false }, setup: setup(false) })
    }
}

/// A string of PHP with this text.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn plan_launch(host: &dyn Host, runtime: &Runtime, settings: &Path, launch: &Launch) -> Result<Plan> {
    let mut args: Vec<OsString> = launch.runtime_args.iter().map(OsString::from).collect();
    interpreter::keeps_debugger(&launch.runtime_args)?;
    match &launch.program {
        Program::Script(path) => args.push(path.into()),
        Program::Module(name) => {
            return Err(Error::Unsupported(format!(
                "PHP has no modules to run, such as `{name}`: give a script"
            )));
        }
        Program::Command => {}
        Program::Package(folder) => {
            let problem =
                format!("`{}` is a folder: PHP needs a script or a command to run", folder.display());
            return Err(Error::Unsupported(problem));
        }
    }
    args.extend(launch.args.iter().map(OsString::from));
    let mut env = launch.env.clone();
    env.extend(environment(host, settings, launch));
    let process = ProcessSpec::of_launch(launch, runtime.executable.clone(), args, env);
    // A script is then what answers the requests.
    let serves = interpreter::is_php(&runtime.executable)
        && launch.runtime_args.iter().any(|one| one.starts_with("-S"));
    Ok(Plan::Dap { transport: Transport::Dbgp { process, serves }, setup: setup(launch.stop_on_entry) })
}

/// What makes PHP and each of its child processes load Xdebug with our settings and connect to us.
fn environment(host: &dyn Host, settings: &Path, launch: &Launch) -> BTreeMap<String, Option<String>> {
    let own = host.env_with(&launch.env, "PHP_INI_SCAN_DIR");
    let ours = [
        // An empty part is the folder that PHP was built for.
        ("PHP_INI_SCAN_DIR", Some(format!("{}:{}", own.unwrap_or_default(), settings.display()))),
        ("STILLFRAME_PHP_PORT", Some(PORT.to_owned())),
        ("STILLFRAME_PHP_TOKEN", Some(TOKEN.to_owned())),
        // These two go before the settings.
        ("XDEBUG_MODE", None),
        ("XDEBUG_CONFIG", None),
        // Without it, Composer starts itself again without Xdebug.
        ("COMPOSER_ALLOW_XDEBUG", Some("1".to_owned())),
    ];
    ours.map(|(name, value)| (name.to_owned(), value)).into()
}

fn setup(stop_on_entry: bool) -> DapSetup {
    let arguments = [("stopOnEntry".to_owned(), json!(stop_on_entry))];
    DapSetup::new("stillframe", StartRequest::Launch, arguments.into_iter().collect(), &QUIRKS)
}

/// Packages of Composer, and what the system has installed.
fn is_internal(path: &Path) -> bool {
    !path.is_absolute()
        || ["/usr/share/php", "/usr/bin", "/usr/local/bin"].iter().any(|folder| path.starts_with(folder))
        || path.components().any(|part| part.as_os_str() == "vendor")
}
