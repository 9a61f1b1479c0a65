//! The arguments of the bridge's `launch` and `attach`.

use serde_json::{Map, Value, json};

use super::jdk::major;
use super::{AGENT, TOOL_OPTIONS, build};
use crate::adapter::{Host, Runtime};
use crate::model::launch::{Attach, Endpoint, Launch, Program};
use crate::test_reports::TestReports;

/// The first version of Java with virtual threads.
const VIRTUAL_THREADS: u32 = 21;

/// The command line of a program, and the variable with the place of the option that connects its JVMs to the bridge.
pub(super) fn of_launch(host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Map<String, Value> {
    let own: Vec<&str> = launch.runtime_args.iter().chain(&launch.args).map(String::as_str).collect();
    let program = runtime.executable.to_string_lossy();
    let mut words = vec![&*program];
    // Each JVM that the program starts is debugged, too.
    let before = host.env_with(&launch.env, TOOL_OPTIONS);
    // A build tool can start JVMs of other versions, which do not start with an option that they do not know.
    let lists_virtual =
        !matches!(launch.program, Program::Command) && major(&runtime.version) >= Some(VIRTUAL_THREADS);
    let agent = if lists_virtual { format!("{AGENT},includevirtualthreads=y") } else { AGENT.to_owned() };
    let options = format!("{} {agent}", before.unwrap_or_default());
    let name = launch.program.name();
    match &launch.program {
        Program::Command => {
            if program.contains("gradle") {
                // A daemon would outlive the session.
                words.push("--no-daemon");
                // Its progress is drawn over, which output that is kept cannot be.
                let is_chosen = own.iter().any(|word| word.starts_with("--console"));
                words.extend((!is_chosen).then_some("--console=plain"));
            }
            words.extend(own);
        }
        Program::Script(_) | Program::Module(_) | Program::Package(_) => {
            words.extend(launch.runtime_args.iter().map(String::as_str));
            words.extend(matches!(launch.program, Program::Script(_)).then_some("-jar"));
            words.push(&name);
            words.extend(launch.args.iter().map(String::as_str));
        }
    }
    let arguments = json!({
        "args": words, "env": { TOOL_OPTIONS: options.trim() }, "cwd": launch.working_folder(), "justMyCode": launch.just_my_code,
        "stopOnEntry": launch.stop_on_entry, "sources": build::sources_of(host, launch),
        "reports": launch.env.get(TestReports::VARIABLE).cloned().flatten(),
    });
    arguments.as_object().cloned().unwrap_or_default()
}

/// `process` is the number of the JVM, if it is one of this machine.
pub(super) fn of_attach(attach: &Attach, process: Option<u32>) -> Map<String, Value> {
    let (just_my_code, cwd) = (attach.just_my_code, std::env::current_dir().unwrap_or_default());
    let arguments = match &attach.to {
        Endpoint::Process(_) => json!({ "processId": process, "justMyCode": just_my_code, "cwd": cwd }),
        // It is refused before, because no bridge reads it.
        Endpoint::Core { file, .. } => json!({ "coreFile": file }),
        Endpoint::Address { host, port } => {
            json!({ "host": host, "port": port, "processId": process, "justMyCode": just_my_code, "cwd": cwd })
        }
    };
    arguments.as_object().cloned().unwrap_or_default()
}
