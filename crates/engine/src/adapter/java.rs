//! Java, debugged by a bridge on the Java Debug Interface that we compile into the cache.
//!
//! Every JVM of a program connects to the bridge, by the option `AGENT` in `JAVA_TOOL_OPTIONS`: no port of it is open. A
//! source file is compiled into the cache.

mod arguments;
mod bridge;
mod build;
mod commands;
mod functions;
mod jdk;
mod tracebacks;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::json;

use self::jdk::Jdk;
use super::braces::{self, Family};
use super::commands::debuggee_of;
use super::plan::{DapSetup, Plan, Quirks, StartRequest, Transport};
use super::{
    Adapter, Commands, Driver, Host, LanguageFacts, ProcessIdentity, RecordingSide, Reporting, Runtime,
    Sample, Tracebacks,
};
use crate::error::{Error, Result};
use crate::model::launch::{Endpoint, Launch, Start, is_loopback};
use crate::model::source::Loop;
use crate::model::stop::ExceptionMode;
use crate::progress::Progress;

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Java;

/// A placeholder for the option that connects a JVM to the bridge, in the variables of a launch.
const AGENT: &str = "{agent}";
/// Build tools: each JVM that they start is debugged.
const BUILD_TOOLS: [&str; 4] = ["mvn", "mvnw", "gradle", "gradlew"];
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

const QUIRKS: Quirks = Quirks {
    listens: "`java -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:PORT`",
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught => &["uncaught"],
        ExceptionMode::UserUnhandled => &["uncaught", "userUnhandled"],
        ExceptionMode::All => &["caught", "uncaught"],
    },
    is_timeout: |text| text.starts_with("the expression did not end within"),
    is_unknown_name: |text| text.starts_with("cannot find symbol"),
    bounds_evaluations: true,
    muted: &["Picked up JAVA_TOOL_OPTIONS: "],
    ..Quirks::NONE
};

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["jvm", "jdk"],
    extensions: &["java", "jar", "class"],
    sample: Sample {
        source: "class Main {\n    public static void main(String[] arguments) {\n        int answer = 6 * 7;\n        \
                 System.out.println(answer);\n    }\n}\n",
        line: 4,
    },
    driver: Driver::Java,
    records: Some(RecordingSide::Debugger),
    samples: true,
    reporting: Reporting::Inside,
    ..LanguageFacts::new("java", "Java")
};

#[async_trait]
impl Adapter for Java {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        let jdk = Jdk::find(host, executable)?;
        let chosen = executable.map(|path| {
            host.which(&path.to_string_lossy()).ok_or_else(|| Error::Environment {
                problem: format!("no program at `{}`", path.display()),
                remedy: "give the path of a `java`, or of a build tool, as `executablePath`".to_owned(),
            })
        });
        let executable = host.permitted(&chosen.transpose()?.unwrap_or_else(|| jdk.found.clone()))?;
        Ok(Runtime { executable, version: jdk.version, tag: "jdk".to_owned(), origin: jdk.origin })
    }

    async fn provide(&self, host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
        bridge::provide(host, runtime, progress).await
    }

    fn is_provided(&self, host: &dyn Host, runtime: &Runtime) -> bool {
        Jdk::find(host, Some(&runtime.executable)).is_ok_and(|jdk| bridge::is_there(host, &jdk))
    }

    async fn build(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        launch: Launch,
        progress: &Progress,
    ) -> Result<Launch> {
        build::build(host, runtime, launch, progress).await
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        let jdk = Jdk::find(host, Some(&runtime.executable))?;
        let secret = uuid::Uuid::new_v4().simple().to_string();
        let process = match start {
            Start::Attach(attach) => process_of(host, &attach.to),
            Start::Launch(_) => None,
        };
        let (request, mut arguments, launch) = match start {
            Start::Launch(launch) => {
                (StartRequest::Launch, arguments::of_launch(host, runtime, launch), Some(launch))
            }
            Start::Attach(attach) => (StartRequest::Attach, arguments::of_attach(attach, process), None),
        };
        arguments.insert("secret".to_owned(), json!(secret));
        let mut env = launch.map(|launch| launch.env.clone()).unwrap_or_default();
        // It is in the arguments.
        env.remove(TOOL_OPTIONS);
        let setup = DapSetup {
            stdin: launch.map(|launch| launch.stdin.clone()).unwrap_or_default(),
            env,
            is_local: launch.is_some() || process.is_some(),
            ..DapSetup::new("java", request, arguments, &QUIRKS)
        };
        let transport = Transport::Spawn {
            process: bridge::process(&jdk, debugger, &secret),
            announces: Some(bridge::ANNOUNCES),
            is_program: false,
        };
        Ok(Plan::Dap { transport, setup })
    }

    /// Sources of the JDK and of libraries are rarely there; the bridge marks their frames.
    fn is_internal(&self, path: &Path) -> bool {
        !path.is_absolute()
    }

    fn has_exception_conditions(&self) -> bool {
        true
    }

    fn functions_instead_of(&self, text: &str, name: &str) -> Option<Vec<String>> {
        functions::names_without(text, name)
    }

    fn loops(&self, text: &str) -> Vec<Loop> {
        braces::loops(text, Family::Java)
    }

    fn needs_no_program(&self, executable: Option<&Path>, _runtime_args: &[String]) -> bool {
        executable.is_some_and(|program| !self.may_be_interpreter(program))
    }

    capabilities! {
        tracebacks: Tracebacks, process_identity: ProcessIdentity, commands: Commands
    }
}

impl ProcessIdentity for Java {
    fn may_be_interpreter(&self, program: &Path) -> bool {
        program.file_stem().is_some_and(|stem| stem == "java")
    }
}

/// The JVM of this machine that is attached to. What listens at a port may be a tunnel to another one.
fn process_of(host: &dyn Host, endpoint: &Endpoint) -> Option<u32> {
    match endpoint {
        Endpoint::Process(pid) => Some(*pid),
        Endpoint::Address { host: address, .. } if is_loopback(address) => {
            let (pid, _) = debuggee_of(endpoint)?;
            host.program_of(pid).is_some_and(|program| Java.may_be_interpreter(&program)).then_some(pid)
        }
        Endpoint::Address { .. } | Endpoint::Core { .. } => None,
    }
}

#[cfg(test)]
mod tests;
