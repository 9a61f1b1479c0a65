//! The bridge: our own debug adapter for Java, compiled into the cache by the user's JDK.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::jdk::Jdk;
use crate::adapter::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::parts::{folder_with, part_of, put};
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// What it prints before where it listens.
pub(super) const ANNOUNCES: &str = "stillframe-java ";
const MAIN: &str = "stillframe.Bridge";

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../debuggee/java/stillframe/", $name)))),+]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "Breakpoints.java",
    "Bridge.java",
    "Calls.java",
    "Containers.java",
    "Debuggee.java",
    "Escapes.java",
    "Evaluator.java",
    "Exceptions.java",
    "Failure.java",
    "Frames.java",
    "JdkValues.java",
    "Json.java",
    "Lambda.java",
    "Lexer.java",
    "Names.java",
    "Operators.java",
    "Overloads.java",
    "Place.java",
    "Proxies.java",
    "Pump.java",
    "Rules.java",
    "Session.java",
    "Sources.java",
    "Start.java",
    "StaticTypes.java",
    "Steps.java",
    "Syntax.java",
    "TestReports.java",
    "Threads.java",
    "Typed.java",
    "Types.java",
    "Values.java",
    "Waits.java",
    "Wire.java",
];

/// Where it is in the cache, by its sources and the version of the JDK.
fn folder(host: &dyn Host, jdk: &Jdk) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (SOURCES, &jdk.version).hash(&mut hasher);
    host.cache_dir().join("java").join(format!("bridge-{:016x}", hasher.finish()))
}

pub(super) fn is_there(host: &dyn Host, jdk: &Jdk) -> bool {
    host.is_file(&folder(host, jdk).join("stillframe/Bridge.class"))
}

/// Compiles it unless that was done before.
pub(super) async fn provide(host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
    let jdk = Jdk::find(host, Some(&runtime.executable))?;
    let folder = folder(host, &jdk);
    if is_there(host, &jdk) {
        return Ok(folder);
    }
    progress.say(format!("compiling the debugger for Java {}", jdk.version));
    let part = part_of(&folder);
    let sources = folder_with(&part, SOURCES)?;
    let mut args = vec!["-d".into(), part.clone().into()];
    args.extend(SOURCES.iter().map(|(name, _)| sources.join(name).into_os_string()));
    let compiled = host.run(&compiler(&jdk, args), deadlines::BUILD).await?;
    if !compiled.success {
        let _ = std::fs::remove_dir_all(&part);
        return Err(Error::StartFailed {
            problem: format!("the debugger cannot be compiled by Java {}", jdk.version),
            output: format!("{}{}", compiled.stdout, compiled.stderr),
        });
    }
    put(&part, &folder, || is_there(host, &jdk))?;
    Ok(folder)
}

/// Runs the compiler as a module: a JDK without development files has no `javac`.
pub(super) fn compiler(jdk: &Jdk, args: Vec<std::ffi::OsString>) -> ProcessSpec {
    let mut words =
        vec!["-XX:TieredStopAtLevel=1".into(), "-m".into(), "jdk.compiler/com.sun.tools.javac.Main".into()];
    words.extend(args);
    ProcessSpec { program: jdk.java(), args: words, ..ProcessSpec::default() }
}

/// How it is started. The options make it start fast.
pub(super) fn process(jdk: &Jdk, folder: &Path, secret: &str) -> ProcessSpec {
    let options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto", "-cp"];
    let mut args: Vec<_> = options.iter().map(Into::into).collect();
    args.extend([folder.into(), MAIN.into()]);
    let mut env: std::collections::BTreeMap<_, _> =
        [("STILLFRAME_BRIDGE_SECRET".to_owned(), Some(secret.to_owned()))].into();
    // They are for the program.
    for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        env.insert(name.to_owned(), None);
    }
    ProcessSpec { program: jdk.java(), args, env, ..ProcessSpec::default() }
}
