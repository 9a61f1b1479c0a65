//! Debug adapters that the user describes in a configuration file.
//!
//! What starts and what it is sent are templates: `${program}`, `${args}`, `${cwd}`, `${env}`, `${stopOnEntry}` and
//! `${stdin}` for a launch, `${host}`, `${port}` and `${processId}` for an attach. A text that is nothing but one of
//! them becomes its value, such as a list; in a longer text it is written out.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::plan::{ADDRESS, DapSetup, PORT, Plan, Quirks, StartRequest, Transport};
use super::{Adapter, Host, LanguageFacts, Runtime};
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Start, Stdin};
use crate::process::ProcessSpec;

/// Those that were configured. The process has one configuration, which is read before anything is debugged.
static CONFIGURED: OnceLock<Vec<&'static dyn Adapter>> = OnceLock::new();

/// How an adapter is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is started, and speaks on its standard input and output.
    Stdio(Vec<String>),
    /// It is started, and listens: `${port}` or `${address}` in its arguments says where.
    Tcp(Vec<String>),
    /// It is listening already.
    Address {
        /// Name or address of its machine.
        host: String,
        /// Its port.
        port: u16,
    },
}

/// An adapter, as a file describes it.
#[derive(Clone, Debug)]
pub struct Configured {
    /// What it is called as a language.
    pub name: String,
    /// What it debugs, for messages.
    pub about: String,
    /// The extensions of its sources.
    pub extensions: Vec<String>,
    /// How it is reached.
    pub reach: Reach,
    /// The name that `initialize` takes.
    pub adapter_id: String,
    /// The arguments of `launch`; none if it starts no programs.
    pub launch: Option<Map<String, Value>>,
    /// The arguments of `attach`; none if it attaches to none.
    pub attach: Option<Map<String, Value>>,
    /// Its departures from the specification, by their names in [`QUIRKS`].
    pub quirks: Vec<String>,
    /// Where it is described.
    pub origin: String,
}

/// Sets one departure from the specification.
pub type SetQuirk = fn(&mut Quirks);

/// The departures that have names.
pub const QUIRKS: [(&str, SetQuirk); 8] = [
    ("no_initialized_event", |quirks| quirks.sends_initialized = false),
    ("mutes_console", |quirks| quirks.mutes_console = true),
    ("scopes_of_one_frame", |quirks| quirks.scopes_of_one_frame = true),
    ("assigns_by_evaluating", |quirks| quirks.assigns_by_evaluating = true),
    ("stops_at_bad_conditions", |quirks| quirks.stops_at_bad_conditions = true),
    ("removes_only_when_stopped", |quirks| quirks.removes_only_when_stopped = true),
    ("answers_functions_in_any_order", |quirks| quirks.answers_functions_in_any_order = true),
    ("writes_crlf", |quirks| quirks.writes_crlf = true),
];

/// The variables of the templates for `launch` and for `attach`.
pub const VARIABLES: (&[&str], &[&str]) = (
    &[
        "${program}",
        "${args}",
        "${runtimeArgs}",
        "${cwd}",
        "${env}",
        "${stopOnEntry}",
        "${justMyCode}",
        "${stdin}",
    ],
    &["${host}", "${port}", "${processId}"],
);

/// Makes adapters known, once in the life of the process.
pub fn configure(adapters: Vec<Configured>) {
    // They live as long as the process, as those that are built in.
    let known =
        adapters.into_iter().map(|one| &*Box::leak(Box::new(ConfiguredAdapter::new(one))) as &dyn Adapter);
    let _ = CONFIGURED.set(known.collect());
}

pub(super) fn configured() -> &'static [&'static dyn Adapter] {
    CONFIGURED.get().map_or(&[], Vec::as_slice)
}

/// A described adapter, with what it borrows for the life of the process.
#[derive(Debug)]
struct ConfiguredAdapter {
    described: Configured,
    facts: LanguageFacts,
    quirks: &'static Quirks,
    adapter_id: &'static str,
}

impl ConfiguredAdapter {
    fn new(described: Configured) -> Self {
        let forever = |text: &String| &*Box::leak(text.clone().into_boxed_str());
        let mut quirks = Quirks { default_filters: true, ..Quirks::NONE };
        for (name, set) in QUIRKS {
            if described.quirks.iter().any(|wanted| wanted == name) {
                set(&mut quirks);
            }
        }
        let facts = LanguageFacts {
            extensions: Box::leak(described.extensions.iter().map(forever).collect()),
            is_configured: true,
            ..LanguageFacts::new(forever(&described.name), forever(&described.about))
        };
        Self {
            facts,
            quirks: Box::leak(Box::new(quirks)),
            adapter_id: forever(&described.adapter_id),
            described,
        }
    }

    fn command(&self) -> Option<&[String]> {
        match &self.described.reach {
            Reach::Stdio(command) | Reach::Tcp(command) => Some(command),
            Reach::Address { .. } => None,
        }
    }

    fn missing(&self, what: &str) -> Error {
        let Configured { name, origin, .. } = &self.described;
        Error::Unsupported(format!(
            "the adapter `{name}` has no `{what}` arguments; add `[adapters.{name}.{what}]` in {origin}"
        ))
    }

    /// Refuses to attach by a process where the template has only an address, and the other way round.
    fn check_given(&self, template: &Map<String, Value>, known: &[(&'static str, Value)]) -> Result<()> {
        let text = Value::Object(template.clone()).to_string();
        let (given, lacking): (Vec<_>, Vec<_>) = known.iter().partition(|(_, value)| !value.is_null());
        let is_used = |(name, _): &&&(&'static str, Value)| text.contains(name);
        let names = |of: &[&(&'static str, Value)]| {
            of.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
        };
        let needed: Vec<_> = lacking.iter().filter(is_used).copied().collect();
        if needed.is_empty() || given.iter().any(|one| is_used(&one)) {
            return Ok(());
        }
        let Configured { name, origin, .. } = &self.described;
        Err(Error::Unsupported(format!(
            "the adapter `{name}` attaches by {}, which this call does not give; give it, or use {} in \
             `[adapters.{name}.attach]` in {origin}",
            names(&needed),
            names(&given),
        )))
    }
}

#[async_trait]
impl Adapter for ConfiguredAdapter {
    fn facts(&self) -> &LanguageFacts {
        &self.facts
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        let described = &self.described;
        let named = executable.map(|path| path.to_string_lossy().into_owned());
        let origin = if named.is_some() { "executablePath".to_owned() } else { described.origin.clone() };
        let version = "unknown".to_owned();
        let tag = String::new();
        let Some(program) = named.or_else(|| self.command()?.first().cloned()) else {
            return Ok(Runtime { executable: PathBuf::new(), version, tag, origin });
        };
        let found = host.which(&program).ok_or_else(|| Error::Environment {
            problem: format!("the adapter `{}` was not found: no `{program}`", described.name),
            remedy: format!(
                "install it, or correct `adapters.{}.command` in {}",
                described.name, described.origin
            ),
        })?;
        Ok(Runtime { executable: host.permitted(&found)?, version, tag, origin })
    }

    fn refuses(&self, request: StartRequest) -> Option<String> {
        let (template, what) = match request {
            StartRequest::Launch => (&self.described.launch, "launch"),
            StartRequest::Attach => (&self.described.attach, "attach"),
        };
        template.is_none().then(|| self.missing(what).to_string())
    }

    fn plan(&self, _host: &dyn Host, runtime: &Runtime, _debugger: &Path, start: &Start) -> Result<Plan> {
        let (request, template, what) = match start {
            Start::Launch(_) => (StartRequest::Launch, &self.described.launch, "launch"),
            Start::Attach(_) => (StartRequest::Attach, &self.described.attach, "attach"),
        };
        let template = template.as_ref().ok_or_else(|| self.missing(what))?;
        let known = known(start)?;
        if matches!(start, Start::Attach(_)) {
            self.check_given(template, &known)?;
        }
        let spec = |command: &[String]| {
            let args = command.iter().skip(1).map(|word| {
                let word = word.replace("${port}", PORT).replace("${address}", ADDRESS);
                filled_text(&word, &known).into()
            });
            ProcessSpec {
                program: runtime.executable.clone(),
                args: args.collect(),
                ..ProcessSpec::default()
            }
        };
        let transport = match &self.described.reach {
            Reach::Stdio(command) => Transport::Stdio(spec(command)),
            Reach::Tcp(command) => {
                Transport::Spawn { process: spec(command), announces: None, is_program: false }
            }
            Reach::Address { host, port } => Transport::Connect { host: host.clone(), port: *port },
        };
        let (stdin, env, stops_on_entry) = match start {
            Start::Launch(launch) => (launch.stdin.clone(), launch.env.clone(), launch.stop_on_entry),
            Start::Attach(_) => (Stdin::Empty, std::collections::BTreeMap::new(), false),
        };
        let arguments = template.iter().map(|(key, value)| (key.clone(), filled(value, &known))).collect();
        let setup = DapSetup {
            stdin,
            env,
            stops_on_entry,
            is_local: !matches!(self.described.reach, Reach::Address { .. }),
            ..DapSetup::new(self.adapter_id, request, arguments, self.quirks)
        };
        Ok(Plan::Dap { transport, setup })
    }

    /// What it debugs is for the user to say.
    fn debugs(&self, _other: &dyn Adapter) -> bool {
        true
    }

    fn is_internal(&self, path: &Path) -> bool {
        path.starts_with("/usr/lib") || path.starts_with("/usr/include")
    }
}

/// What templates may name, and its value.
fn known(start: &Start) -> Result<Vec<(&'static str, Value)>> {
    Ok(match start {
        Start::Launch(launch) => {
            let stdin = match &launch.stdin {
                Stdin::File(file) => json!(file),
                _ => Value::Null,
            };
            let env: Map<String, Value> = launch
                .env
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), json!(value.as_ref()?))))
                .collect();
            vec![
                ("${program}", json!(launch.program.name())),
                ("${args}", json!(launch.args)),
                ("${runtimeArgs}", json!(launch.runtime_args)),
                ("${cwd}", json!(launch.working_folder())),
                ("${env}", Value::Object(env)),
                ("${stopOnEntry}", json!(launch.stop_on_entry)),
                ("${justMyCode}", json!(launch.just_my_code)),
                ("${stdin}", stdin),
            ]
        }
        Start::Attach(Attach { to: Endpoint::Address { host, port }, .. }) => {
            vec![("${host}", json!(host)), ("${port}", json!(port)), ("${processId}", Value::Null)]
        }
        Start::Attach(Attach { to: Endpoint::Process(pid), .. }) => {
            vec![("${processId}", json!(pid)), ("${host}", Value::Null), ("${port}", Value::Null)]
        }
        Start::Attach(Attach { to: Endpoint::Core { .. }, .. }) => {
            return Err(Error::Unsupported("a configured adapter cannot open crash dumps".to_owned()));
        }
    })
}

fn filled(template: &Value, known: &[(&str, Value)]) -> Value {
    match template {
        Value::String(text) => match known.iter().find(|(name, _)| name == text) {
            Some((_, value)) => value.clone(),
            None => Value::String(filled_text(text, known)),
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, known)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), filled(value, known))).collect())
        }
        other => other.clone(),
    }
}

fn filled_text(text: &str, known: &[(&str, Value)]) -> String {
    known.iter().fold(text.to_owned(), |text, (name, value)| {
        let written = match value {
            Value::String(value) => value.clone(),
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
            }
            other => other.to_string(),
        };
        text.replace(name, &written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::FakeMachine;
    use crate::model::launch::{Launch, Program};

    #[test]
    fn templates_are_filled_with_values_and_texts() {
        let template = json!({ "program": "${program}", "args": "${args}", "line": "run ${program} ${args}", "stop": "${stopOnEntry}", "deep": [{ "in": "${cwd}" }], "kept": "${other}" });
        let launch = Launch {
            args: vec!["a".to_owned(), "b".to_owned()],
            cwd: Some("/shop".into()),
            ..Launch::new(Program::Script("/shop/main.kt".into()))
        };
        let known = known(&Start::Launch(launch)).unwrap();
        let expected = json!({ "program": "/shop/main.kt", "args": ["a", "b"], "line": "run /shop/main.kt a b", "stop": false, "deep": [{ "in": "/shop" }], "kept": "${other}" });
        assert_eq!(filled(&template, &known), expected);
    }

    #[test]
    fn the_variables_that_a_template_may_have_are_filled() {
        let launch = Start::Launch(Launch::new(Program::Script("/a.kt".into())));
        let to = Endpoint::Process(1);
        let attach = Start::Attach(Attach { to, path_mappings: Vec::new(), just_my_code: true });
        for (start, expected) in [(launch, VARIABLES.0), (attach, VARIABLES.1)] {
            let mut names: Vec<&str> = known(&start).unwrap().iter().map(|(name, _)| *name).collect();
            let mut expected = expected.to_vec();
            names.sort_unstable();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
    }

    #[tokio::test]
    async fn a_port_is_chosen_and_missing_values_are_named() {
        let described = Configured {
            name: "kotlin".to_owned(),
            about: "Kotlin".to_owned(),
            extensions: vec!["kt".to_owned()],
            reach: Reach::Tcp(vec!["kotlin-debug".to_owned(), "--listen=${address}".to_owned()]),
            adapter_id: "kotlin".to_owned(),
            launch: Some(Map::new()),
            attach: None,
            quirks: vec!["writes_crlf".to_owned()],
            origin: "stillframe.toml:1".to_owned(),
        };
        let adapter = ConfiguredAdapter::new(described);
        assert_eq!((adapter.facts().extensions, adapter.quirks.writes_crlf), (&["kt"][..], true));
        let machine = FakeMachine::default();
        let missing = adapter.locate(&machine, None, None).await.unwrap_err().to_string();
        assert!(missing.contains("`kotlin-debug`"), "{missing}");
        let path = [("kotlin-debug".to_owned(), PathBuf::from("/bin/kotlin-debug"))].into();
        let machine = FakeMachine { path, ..FakeMachine::default() };
        let runtime = adapter.locate(&machine, None, None).await.unwrap();
        let start = Start::Launch(Launch::new(Program::Script("/a.kt".into())));
        let plan = adapter.plan(&machine, &runtime, Path::new(""), &start).unwrap();
        let process = plan.process().unwrap();
        assert_eq!(process.args, [std::ffi::OsString::from(format!("--listen={ADDRESS}"))]);
        let attach = Attach { to: Endpoint::Process(1), path_mappings: Vec::new(), just_my_code: true };
        let refused = adapter.plan(&machine, &runtime, Path::new(""), &Start::Attach(attach)).unwrap_err();
        assert!(refused.to_string().contains("[adapters.kotlin.attach]"), "{refused}");
    }

    #[test]
    fn an_attach_gives_what_the_template_needs() {
        let mut described = Configured {
            name: "kotlin".to_owned(),
            about: "Kotlin".to_owned(),
            extensions: Vec::new(),
            reach: Reach::Address { host: "127.0.0.1".to_owned(), port: 1 },
            adapter_id: "kotlin".to_owned(),
            launch: None,
            attach: None,
            quirks: Vec::new(),
            origin: "stillframe.toml:1".to_owned(),
        };
        let (executable, version, tag, origin) = Default::default();
        let runtime = Runtime { executable, version, tag, origin };
        let process = Endpoint::Process(1);
        let address = Endpoint::Address { host: "127.0.0.1".to_owned(), port: 2 };
        for (template, to, problem) in [
            (json!({ "pid": "${processId}" }), &process, None),
            (json!({ "pid": "${processId}" }), &address, Some("attaches by `${processId}`, which")),
            (
                json!({ "at": "${host}:${port}" }),
                &process,
                Some("attaches by `${host}` and `${port}`, which"),
            ),
            (json!({ "pid": "${processId}", "port": "${port}" }), &process, None),
            (json!({ "justMyCode": true }), &process, None),
        ] {
            described.attach = template.as_object().cloned();
            let adapter = ConfiguredAdapter::new(described.clone());
            let start =
                Start::Attach(Attach { to: to.clone(), path_mappings: Vec::new(), just_my_code: true });
            let plan = adapter.plan(&FakeMachine::default(), &runtime, Path::new(""), &start);
            match problem {
                Some(part) => assert!(plan.unwrap_err().to_string().contains(part), "{template}"),
                None => assert!(plan.is_ok(), "{template}"),
            }
        }
    }
}
