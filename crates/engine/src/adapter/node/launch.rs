//! The plan of a start, and of reaching a process that runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::plan::{ADDRESS, CdpSetup, CdpWire, Entry, Plan};
use super::super::{Host, Runtime};
use super::interpreter::{Version, is_node, stem, takes_script};
use super::typescript::{self, RuntimeRequirements};
use super::{EXTENSIONS, is_internal, options, packages, reporters, runners};
use crate::error::{Error, Result};
use crate::javascript;
use crate::model::launch::{Attach, Endpoint, Launch, Program};
use crate::process::ProcessSpec;
use crate::sources;

/// Where the hook finds the way to tell us of its process.
const ANNOUNCE: &str = "STILLFRAME_ANNOUNCE";

/// Where the hook finds the options for Node that are ours alone.
const OURS: &str = "STILLFRAME_NODE_OPTIONS";

/// What the inspector prints on standard error, on Node 20 to 24.
const MUTED: &[&str] = &[
    "Debugger listening on ws://",
    "For help, see: https://nodejs.org/",
    "Debugger attached.",
    "Waiting for the debugger to disconnect...",
    "Debugger ending on ws://",
];

/// How Node, or a command that ends in it, is started. `hook` is what each process of it loads first.
pub(super) fn plan_launch(host: &dyn Host, runtime: &Runtime, hook: &Path, launch: &Launch) -> Result<Plan> {
    let before = node_options(host, launch);
    check_inspector(host, launch)?;
    check_permissions(host, runtime, launch, before.as_deref())?;
    let CommandLine { script, mut args, mut env } = command_line(host, runtime, launch, before.as_deref())?;
    let reporter = reporters::of_node(host, runtime, hook, launch);
    args.splice(0..0, reporter.args.into_iter().map(OsString::from));
    let transpiles = before.as_deref().is_some_and(|options| !options.trim().is_empty())
        || script.as_ref().is_none_or(|script| {
            let is_first = args.first().is_some_and(|first| first == script.as_os_str());
            !is_first || !is_plain(script) || evaluates_modules(host, script)
        });
    let node_options = options::with_hook(hook, before.as_deref(), &reporter.node_options);
    env.insert("NODE_OPTIONS".to_owned(), Some(node_options));
    env.insert(OURS.to_owned(), Some(options::with_hook(hook, None, &reporter.node_options)));
    env.insert(ANNOUNCE.to_owned(), Some(ADDRESS.to_owned()));
    let process =
        ProcessSpec { muted: MUTED, ..ProcessSpec::of_launch(launch, runtime.executable.clone(), args, env) };
    let setup = CdpSetup {
        entry: launch.stop_on_entry.then(|| entry(script.as_deref(), &launch.args)),
        program: script.or_else(|| mentioned(host, launch)),
        folder: Some(launch.working_folder()),
        hook: hook.to_owned(),
        transpiles,
        just_my_code: launch.just_my_code,
        path_mappings: Vec::new(),
        is_local: true,
    };
    Ok(Plan::Cdp { wire: CdpWire::Announced(process), setup })
}

/// Whether a script is a bundle that holds modules as texts, as `devtool: "eval-source-map"` of webpack makes it.
fn evaluates_modules(host: &dyn Host, script: &Path) -> bool {
    host.read(script).is_some_and(|text| text.contains("sourceURL=webpack-internal:"))
}

/// How processes of Node that a program in another language starts are debugged.
pub(super) fn plan_children(host: &dyn Host, hook: &Path, launch: &Launch) -> Plan {
    let options = options::with_hook(hook, node_options(host, launch).as_deref(), &[]);
    let ours = options::with_hook(hook, None, &[]);
    let env = [("NODE_OPTIONS", options), (OURS, ours), (ANNOUNCE, ADDRESS.to_owned())];
    let env = env.map(|(name, value)| (name.to_owned(), Some(value))).into();
    let process = ProcessSpec { env, muted: MUTED, ..ProcessSpec::default() };
    let setup = CdpSetup {
        entry: None,
        program: None,
        folder: Some(launch.working_folder()),
        hook: hook.to_owned(),
        transpiles: true,
        just_my_code: launch.just_my_code,
        path_mappings: Vec::new(),
        is_local: true,
    };
    Plan::Cdp { wire: CdpWire::Announced(process), setup }
}

/// Kilobytes of V8's stack for a program that is recorded, of which it takes 984 by default: what is recorded needs up to
/// twice as much for a call.
pub const STACK: &str = "--stack-size=2952";

/// Whether the system gives a program much more than that.
fn has_large_stack() -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    limit.is_none_or(|bytes| bytes >= 8_000_000)
}

/// How Node, or a command that ends in it, is started without a debugger. `preload` is what each process of it loads
/// first.
pub fn plain_launch(
    host: &dyn Host,
    runtime: &Runtime,
    preload: &Path,
    launch: &Launch,
) -> Result<ProcessSpec> {
    let before = node_options(host, launch);
    check_inspector(host, launch)?;
    let CommandLine { mut args, mut env, .. } = command_line(host, runtime, launch, before.as_deref())?;
    if is_node(&runtime.executable) && has_large_stack() {
        args.insert(0, STACK.into());
    }
    let node_options = options::with_preload(preload, before.as_deref());
    env.insert("NODE_OPTIONS".to_owned(), Some(node_options));
    Ok(ProcessSpec::of_launch(launch, runtime.executable.clone(), args, env))
}

/// The options for Node that the program has without us.
fn node_options(host: &dyn Host, launch: &Launch) -> Option<String> {
    host.env_with(&launch.env, "NODE_OPTIONS")
}

/// Refuses a command that would open an inspector to other machines and wait there: one of its words, or the script
/// of `package.json` that one of them names.
fn check_inspector(host: &dyn Host, launch: &Launch) -> Result<()> {
    if !matches!(launch.program, Program::Command) {
        return Ok(());
    }
    let scripts = named_scripts(host, launch);
    let inside = scripts.iter().map(String::as_str);
    let given = options::without_inspector(&launch.runtime_args);
    let given = given.iter().chain(&launch.args).map(String::as_str);
    match options::open_to_others(given.chain(inside)) {
        Some(option) => Err(Error::Unsupported(format!(
            "`{option}` opens a debugger port that other machines can reach; remove it: stillframe opens the \
             inspector itself, for this machine only"
        ))),
        None => Ok(()),
    }
}

/// Refuses a program that would keep its inspector closed, as far as the option is certainly one of Node.
fn check_permissions(
    host: &dyn Host,
    runtime: &Runtime,
    launch: &Launch,
    before: Option<&str>,
) -> Result<()> {
    let mut words = options::split(before.unwrap_or_default());
    if takes_script(&runtime.executable) {
        words.extend_from_slice(options::before_script(&launch.runtime_args));
    } else {
        let mut texts = launch.runtime_args.iter().chain(&launch.args).cloned().collect::<Vec<_>>();
        texts.extend(named_scripts(host, launch));
        words.extend(options::of_node_in(&texts.join(" ")));
    }
    match options::closes_inspector(words.iter().map(String::as_str)) {
        Some(option) => Err(Error::Unsupported(format!(
            "with `{option}`, Node.js does not open its inspector, which stillframe needs; leave the option out \
             while debugging"
        ))),
        None => Ok(()),
    }
}

/// The scripts of `package.json` that words of a command name.
fn named_scripts(host: &dyn Host, launch: &Launch) -> Vec<String> {
    let words: Vec<&str> = launch.runtime_args.iter().chain(&launch.args).map(String::as_str).collect();
    let scripts = packages::scripts(host, &launch.working_folder()).into_iter();
    let named = scripts.filter(|(name, _)| {
        let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
        words.iter().any(|word| word == name || *word == plain)
    });
    named.map(|(_, script)| script).collect()
}

/// A script among the words of a command, as in `sh -c "node dist/main.js"`: what it was made of is looked for
/// around it.
fn mentioned(host: &dyn Host, launch: &Launch) -> Option<PathBuf> {
    let folder = launch.working_folder();
    let words = launch.runtime_args.iter().chain(&launch.args);
    let words =
        words.flat_map(|text| text.split(|letter: char| letter.is_whitespace() || "'\"".contains(letter)));
    let mut scripts = words.map(|word| folder.join(word)).filter(|path| javascript::is_plain(path));
    scripts.find(|script| host.is_file(script)).map(|script| sources::absolute(&script))
}

/// Node runs it unchanged: nothing else is loaded that could compile it, or what it loads.
fn is_plain(script: &Path) -> bool {
    !script.components().any(|part| part.as_os_str() == "node_modules") && javascript::is_plain(script)
}

/// How a program is started.
struct CommandLine {
    /// The script among the arguments; none for a command that needs none.
    script: Option<PathBuf>,
    args: Vec<OsString>,
    env: BTreeMap<String, Option<String>>,
}

/// The arguments and the environment, without the hook. `before` are the `NODE_OPTIONS` that there are already.
fn command_line(
    host: &dyn Host,
    runtime: &Runtime,
    launch: &Launch,
    before: Option<&str>,
) -> Result<CommandLine> {
    let script = script(host, runtime, launch)?;
    let mut env = launch.env.clone();
    let given = options::without_inspector(&launch.runtime_args);
    let mut args: Vec<OsString> = given.iter().map(OsString::from).collect();
    if let Some(script) = &script {
        let given = given.into_iter().chain(options::split(before.unwrap_or_default())).collect::<Vec<_>>();
        let needs = own_needs(host, runtime, script, launch, &given)?;
        args.extend(needs.options);
        for (name, value) in needs.env.into_iter().filter(|(name, _)| host.env(name).is_none()) {
            env.entry(name.to_owned()).or_insert(Some(value));
        }
        args.push(script.clone().into());
    }
    let run = script.as_deref().unwrap_or(&runtime.executable);
    let all: Vec<String> = launch.runtime_args.iter().chain(&launch.args).cloned().collect();
    args.extend(runners::options(run, &all).into_iter().map(OsString::from));
    args.extend(launch.args.iter().map(OsString::from));
    Ok(CommandLine { script, args, env })
}

/// A command, a test runner or another script of a package that runs the user's files begins in code that is none of
/// the user's.
fn entry(script: Option<&Path>, args: &[String]) -> Entry {
    match script {
        Some(path) if !is_internal(path) || !runs_scripts(path, args) => Entry::Script(path.to_owned()),
        _ => Entry::First,
    }
}

/// Whether a script of a package runs others, as far as its name and arguments show.
fn runs_scripts(script: &Path, args: &[String]) -> bool {
    runners::is_runner(script)
        || runners::name(script).is_some_and(|name| takes_script(Path::new(&name)))
        || args.iter().any(|arg| is_script(arg))
}

/// The script on the command line; none for a command that needs none.
fn script(host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Result<Option<PathBuf>> {
    match &launch.program {
        Program::Script(path) => Ok(Some(packages::behind_shim(host, path).unwrap_or_else(|| path.clone()))),
        Program::Module(name) if takes_script(&runtime.executable) => {
            packages::script(host, &launch.working_folder(), name).map(Some)
        }
        Program::Module(name) => Err(Error::Unsupported(format!(
            "`{}` cannot run the module `{name}`; leave out `executablePath`, or give the name in `args`",
            stem(&runtime.executable)
        ))),
        Program::Command if needs_no_program(&runtime.executable, &launch.runtime_args) => Ok(None),
        Program::Command | Program::Package(_) => {
            Err(Error::Unsupported("Node.js needs a script or a module to run".to_owned()))
        }
    }
}

/// Whether a command line runs something without a script.
pub(super) fn needs_no_program(executable: &Path, runtime_args: &[String]) -> bool {
    const RUN: [&str; 7] = ["--test", "--run", "-e", "--eval", "-p", "--print", "-pe"];
    let runs = |option: &String| RUN.contains(&option.split('=').next().unwrap_or_default());
    if is_node(executable) {
        return runtime_args.iter().any(runs);
    }
    // `tsx watch main.ts`, `nodemon -q main.js`: Node's own options may name scripts that it only loads first.
    !takes_script(executable) || runtime_args.iter().any(|word| is_script(word))
}

fn is_script(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// What Node itself needs for the script.
fn own_needs(
    host: &dyn Host,
    runtime: &Runtime,
    script: &Path,
    launch: &Launch,
    given: &[String],
) -> Result<RuntimeRequirements> {
    match Version::read(&runtime.version) {
        Some(version) if is_node(&runtime.executable) => {
            typescript::needs(host, version, script, &launch.working_folder(), given)
        }
        _ => Ok(RuntimeRequirements::default()),
    }
}

/// How a program that runs is reached: at the address of its inspector, or by the signal that opens it.
pub(super) fn plan_attach(host: &dyn Host, hook: &Path, attach: &Attach) -> Result<Plan> {
    let setup = |is_local| CdpSetup {
        entry: None,
        program: None,
        folder: None,
        hook: hook.to_owned(),
        transpiles: true,
        just_my_code: attach.just_my_code,
        path_mappings: attach.path_mappings.clone(),
        is_local,
    };
    Ok(match &attach.to {
        Endpoint::Address { host, port } => {
            Plan::Cdp { wire: CdpWire::Connect { host: host.clone(), port: *port }, setup: setup(false) }
        }
        Endpoint::Core { .. } => {
            return Err(Error::Unsupported("Node.js cannot open crash dumps".to_owned()));
        }
        Endpoint::Process(pid) => {
            check_program(host, *pid)?;
            Plan::Cdp { wire: CdpWire::Signal { pid: *pid }, setup: setup(true) }
        }
    })
}

/// The signal opens the inspector of Node, and ends any other program.
fn check_program(host: &dyn Host, pid: u32) -> Result<()> {
    match host.program_of(pid) {
        Some(program) if !is_node(&program) => Err(Error::Environment {
            problem: format!("process {pid} runs `{}`, which is not Node.js", program.display()),
            remedy: "give the process ID of a `node` process, such as a child of that one".to_owned(),
        }),
        _ => Ok(()),
    }
}
