//! Ruby, debugged by our own server on the native part of the debug gem (`rdbg`), inside the program.
//!
//! `RUBYOPT` makes each Ruby process of a program load the server, which connects to us; so `bundle exec`, `rake` and
//! the children of a program are reached like a script. Facts about the gem hold for debug 1.4.0.

mod analysis;
mod commands;
mod interpreter;
mod scripts;
mod tracebacks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::json;

use super::plan::{ADDRESS, DapSetup, Plan, Quirks, StartRequest, TOKEN, Transport};
use super::{
    Adapter, AnalysisRequest, ChildProcesses, Commands, Host, LanguageFacts, ProcessIdentity, Reporting,
    Runtime, Sample, SourceAnalysis, Tracebacks, ValueExpressions,
};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Launch, Program, Start, is_loopback};
use crate::model::source::Code;
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Ruby;

const QUIRKS: Quirks = Quirks {
    // The program itself is the adapter, and is configured once it has answered.
    sends_initialized: false,
    configured_within: deadlines::RUN,
    listens: "`rdbg --open --port PORT program.rb`",
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught => &["uncaught"],
        ExceptionMode::UserUnhandled => &["user"],
        ExceptionMode::All => &["all"],
    },
    is_timeout: |text| text.starts_with("Interrupted: "),
    is_unknown_name: |text| text.starts_with("NameError: undefined local variable or method"),
    // `KeyError: key not found: 3`.
    error_type: |text| {
        let (kind, _) = text.split_once(": ").unwrap_or_default();
        let is_name = kind.starts_with(char::is_uppercase) && !kind.contains(' ');
        if is_name { kind } else { "" }
    },
    as_text: |expression| format!("::Stillframe::Text.new((\n{expression}\n))"),
    stops_at_bad_conditions: true,
    bounds_evaluations: true,
    takes_limits: true,
    names_exception: true,
    describes_throws: true,
    samples: true,
    ..Quirks::NONE
};

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["rb", "rdbg"],
    editor_type: "rdbg",
    extensions: &["rb", "rake", "ru", "gemspec"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile"],
    sample: Sample { source: "answer = 6 * 7\nputs answer\n", line: 2 },
    samples: true,
    reporting: Reporting::Inside,
    ..LanguageFacts::new("ruby", "Ruby")
};

#[async_trait]
impl Adapter for Ruby {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime> {
        interpreter::locate(host, executable, near).await
    }

    async fn provide(&self, host: &dyn Host, _runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        scripts::provide(host)
    }

    fn needs_no_program(&self, executable: Option<&Path>, runtime_args: &[String]) -> bool {
        executable.is_some_and(|path| !interpreter::is_ruby(path))
            || runtime_args.iter().any(|one| one == "-e")
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        match start {
            Start::Launch(launch) => plan_launch(host, runtime, debugger, launch),
            Start::Attach(attach) => plan_attach(host, runtime, debugger, attach),
        }
    }

    async fn check(&self, host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Result<()> {
        let Program::Script(path) = &launch.program else { return Ok(()) };
        let question = AnalysisRequest { file: Some(path), ..AnalysisRequest::default() };
        analysis::analyze(host, runtime, question).await.map(|_| ())
    }

    fn is_internal(&self, path: &Path) -> bool {
        is_internal(path)
    }

    capabilities! {
        source_analysis: SourceAnalysis, value_expressions: ValueExpressions,
        process_identity: ProcessIdentity, commands: Commands, child_processes: ChildProcesses,
        tracebacks: Tracebacks
    }
}

#[async_trait]
impl SourceAnalysis for Ruby {
    /// Templates, such as those of ERB, are compiled to Ruby with their own lines.
    fn has_other_sources(&self) -> bool {
        true
    }

    async fn analyze(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code> {
        analysis::analyze(host, runtime, question).await
    }
}

impl ValueExpressions for Ruby {
    fn as_json(&self, expression: &str, longest: usize) -> String {
        format!("::Stillframe::AsJson.of((\n{expression}\n), {longest})")
    }

    fn is_of_type(&self, type_name: &str) -> String {
        format!(
            "error.class.ancestors.any? {{ |kind| kind.name == {type_name:?} || \
             kind.name.to_s.end_with?(\"::\" + {type_name:?}) }}"
        )
    }

    fn is_like(&self, pattern: &str) -> String {
        let pattern = json!(pattern).to_string().replace('#', "\\#");
        format!("Regexp.new({pattern}).match?(\"#{{error.class}}: #{{error.message}}\")")
    }
}

impl ProcessIdentity for Ruby {
    fn may_be_interpreter(&self, program: &Path) -> bool {
        interpreter::is_ruby(program)
    }
}

impl ChildProcesses for Ruby {
    fn plan_children(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        debugger: &Path,
        launch: &Launch,
    ) -> Result<Plan> {
        let env = scripts::environment(host, debugger, runtime, launch);
        let process = ProcessSpec { env, ..ProcessSpec::default() };
        let arguments = [("justMyCode".to_owned(), json!(launch.just_my_code))].into_iter().collect();
        let transport = Transport::Listen { process: Some(process), injector: None };
        Ok(Plan::Dap { transport, setup: setup(StartRequest::Launch, arguments) })
    }
}

fn plan_launch(host: &dyn Host, runtime: &Runtime, server: &Path, launch: &Launch) -> Result<Plan> {
    let mut args: Vec<OsString> = launch.runtime_args.iter().map(OsString::from).collect();
    match &launch.program {
        Program::Script(path) => args.push(path.into()),
        // A program of a gem.
        Program::Module(name) => args.extend(["-S".into(), name.into()]),
        Program::Command => {}
        Program::Package(folder) => {
            let problem =
                format!("`{}` is a folder: Ruby needs a script or a command to run", folder.display());
            return Err(Error::Unsupported(problem));
        }
    }
    args.extend(launch.args.iter().map(OsString::from));
    let mut env = launch.env.clone();
    env.extend(scripts::environment(host, server, runtime, launch));
    let process = ProcessSpec::of_launch(launch, runtime.executable.clone(), args, env);
    let transport = Transport::Listen { process: Some(process), injector: None };
    let arguments = [
        ("justMyCode".to_owned(), json!(launch.just_my_code)),
        ("stopOnEntry".to_owned(), json!(launch.stop_on_entry)),
    ];
    Ok(Plan::Dap { transport, setup: setup(StartRequest::Launch, arguments.into_iter().collect()) })
}

/// `rdbg` in the program loads our server into it, and detaches.
fn plan_attach(host: &dyn Host, runtime: &Runtime, server: &Path, attach: &Attach) -> Result<Plan> {
    let at = match &attach.to {
        Endpoint::Address { host, port } if is_loopback(host) => format!("{host}:{port}"),
        Endpoint::Address { host, .. } => {
            return Err(Error::Unsupported(format!(
                "attaching to Ruby on `{host}` is not supported: the program connects back to this machine; run \
                 stillframe there"
            )));
        }
        Endpoint::Process(pid) => pid.to_string(),
        Endpoint::Core { .. } => return Err(Error::Unsupported("Ruby reads no crash dumps".to_owned())),
    };
    let args = [OsString::from(scripts::injector(server)), at.into(), ADDRESS.into(), TOKEN.into()];
    let injector = ProcessSpec {
        program: interpreter::ruby_of(host, runtime),
        args: args.into(),
        ..ProcessSpec::default()
    };
    let arguments = [("justMyCode".to_owned(), json!(attach.just_my_code))];
    let transport = Transport::Listen { process: None, injector: Some(injector) };
    Ok(Plan::Dap { transport, setup: setup(StartRequest::Attach, arguments.into_iter().collect()) })
}

fn setup(request: StartRequest, arguments: serde_json::Map<String, serde_json::Value>) -> DapSetup {
    DapSetup::new("stillframe", request, arguments, &QUIRKS)
}

/// Ruby's own library, and gems.
fn is_internal(path: &Path) -> bool {
    let text = path.to_string_lossy();
    !path.is_absolute()
        || [
            "/usr/lib/ruby",
            "/usr/share/ruby",
            "/usr/share/rubygems-integration",
            "/usr/bin",
            "/usr/local/bin",
        ]
        .iter()
        .any(|folder| path.starts_with(folder))
        || text.contains("/gems/")
        || text.contains("/lib/ruby/")
        || text.contains("/stillframe/ruby/")
}
