//! Calls for other machines: those with a `target`, and those of sessions that such a call has opened.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use journal::Journal;
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex as AsyncMutex, OnceCell};
use tools::{Entry, Report, ToolError, Toolset};

use super::engines::Target;
use super::fan_out::{self, Member};
use super::guess;
use super::remote::Remote;
use super::replicas;
use crate::config::Settings;
use crate::one_shot::RunContext;

/// The tools of a server elsewhere.
pub(super) const TOOLSET: &str = "standard";
/// The argument that names a machine.
pub(super) const TARGET: &str = "target";
/// Where a call's session is.
const SESSION: &str = "sessionId";
/// The argument that names the language of a session that is opened to attach.
const LANGUAGE: &str = "language";
/// Tools that open a session, or need none.
const OPENING: [&str; 5] =
    ["create_debug_session", "run_until", "trace_values", "diagnose_hang", "debug_test"];
/// Those of them that attach first, if they are given what to attach to.
const WORKING: [&str; 3] = ["run_until", "trace_values", "diagnose_hang"];
const ENDPOINT: [&str; 3] = ["port", "processId", "host"];
/// Attaches, in a session that is opened for it.
const ATTACHING: &str = "attach_to_process";

/// What the connections of all clients have in common.
#[derive(Clone)]
pub(crate) struct RemoteSetup {
    journal: Journal,
    /// Agents may reach other machines.
    is_allowed: bool,
    settings: Arc<Settings>,
}

impl RemoteSetup {
    /// The rules of this server apply there. None where the tools are not those of `standard`, which a server there has.
    pub(crate) fn new(
        toolsets: &[&'static Toolset],
        settings: &Settings,
        run_context: &RunContext,
    ) -> Option<Self> {
        let is_standard = toolsets.iter().any(|toolset| toolset.name == TOOLSET);
        is_standard.then(|| Self {
            journal: run_context.journal.clone(),
            is_allowed: run_context.policy.safety.remote_attach,
            settings: Arc::new(settings.clone()),
        })
    }

    fn instructions(&self) -> Option<&'static str> {
        self.is_allowed.then_some(
            "`target` in create_debug_session, run_until, trace_values, diagnose_hang, debug_test or attach_to_process \
             (with `language`) debugs on another machine or in a container: ssh://HOST, docker://CONTAINER, \
             podman://CONTAINER, kubectl://NAMESPACE/POD[/CONTAINER], wsl://DISTRIBUTION. Several at once: \
             ssh://HOST,HOST or kubectl://NAMESPACE/deploy/NAME; the session is then all of them, and run_until returns \
             the first stop. With `target`, `language` and `port` or `processId`, run_until, trace_values and \
             diagnose_hang attach first.",
        )
    }
}

/// Whether a tool takes a [`TARGET`].
pub(super) fn is_opening(tool: &str) -> bool {
    tool == ATTACHING || OPENING.contains(&tool)
}

/// The machines that one client uses.
pub(crate) struct Remotes {
    setup: RemoteSetup,
    open: AsyncMutex<HashMap<String, Arc<OnceCell<Arc<Remote>>>>>,
    /// The members of each session that is elsewhere.
    sessions: Mutex<HashMap<String, Vec<Member>>>,
}

impl Remotes {
    pub(crate) fn new(setup: RemoteSetup) -> Self {
        Self { setup, open: AsyncMutex::default(), sessions: Mutex::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Vec<Member>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What models should know of it.
    pub(crate) fn instructions(&self) -> Option<&'static str> {
        self.setup.instructions()
    }

    /// What a tool takes besides its own arguments where agents may reach other machines: properties of a JSON Schema.
    pub(crate) fn properties(&self, tool: &str) -> Map<String, Value> {
        let mut properties = Map::new();
        if !self.setup.is_allowed || !is_opening(tool) {
            return properties;
        }
        let mut add = |name: &str, kind: &str, description: &str| {
            properties.insert(name.to_owned(), json!({ "type": kind, "description": description }));
        };
        add(TARGET, "string", "where to do it: ssh://HOST, docker://CONTAINER");
        if tool == ATTACHING {
            add(LANGUAGE, "string", "with target");
        }
        if WORKING.contains(&tool) {
            add("port", "integer", "with target: attach there first");
            add("processId", "integer", "with target: attach there first");
            add("host", "string", "of the port");
        }
        properties
    }

    /// Whether a call is for another machine.
    pub(crate) fn has(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let opens = is_opening(tool);
        let is_of_session = |id: &Value| id.as_str().is_some_and(|id| self.sessions().contains_key(id));
        opens && arguments.contains_key(TARGET) || arguments.get(SESSION).is_some_and(is_of_session)
    }

    /// Checks the arguments of a call that is for another machine, or for several, before any of them is reached.
    pub(crate) fn check(entry: &Entry, given: &Map<String, Value>) -> Result<(), ToolError> {
        let mut arguments = given.clone();
        if arguments.remove(TARGET).is_none() {
            return entry.check(arguments);
        }
        if attach_arguments(entry.name, &mut arguments).is_some() || entry.name == ATTACHING {
            arguments.remove(LANGUAGE);
            // That of the session which is opened for it.
            arguments.entry(SESSION).or_insert_with(|| json!(""));
        }
        entry.check(arguments)
    }

    /// Makes a call that is for another machine. Returns the result of the tool.
    pub(crate) async fn call(
        &self,
        tool: &str,
        mut arguments: Map<String, Value>,
        report: Option<Report>,
    ) -> Value {
        let result = match arguments.remove(TARGET) {
            Some(target) => self.call_on(tool, arguments, &target, report).await,
            None => self.call_in_session(tool, &arguments, report).await,
        };
        result.unwrap_or_else(|problem| {
            fan_out::result(&json!({ "success": false, "code": "target_unusable", "error": problem }), true)
        })
    }

    async fn call_in_session(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        report: Option<Report>,
    ) -> Result<Value, String> {
        let id = arguments.get(SESSION).and_then(Value::as_str).unwrap_or_default();
        let members = self.sessions().get(id).cloned();
        let members = members.ok_or_else(|| format!("session `{id}` was closed by another call"))?;
        let result = fan_out::call(tool, arguments, &members, report).await;
        let is_closed = fan_out::closes(arguments) && !fan_out::is_error(&result);
        if tool == "close_debug_session" || is_closed {
            self.forget(id, &members);
            return Ok(result);
        }
        Ok(if members.len() > 1 { named(result, id) } else { result })
    }

    async fn call_on(
        &self,
        tool: &str,
        mut arguments: Map<String, Value>,
        target: &Value,
        report: Option<Report>,
    ) -> Result<Value, String> {
        let target = target.as_str().ok_or("`target` must be a string, such as `ssh://HOST`")?;
        if !self.setup.is_allowed {
            return Err(format!(
                "`{target}` is not this machine; `stillframe serve --allow-remote-attach` allows other machines"
            ));
        }
        if self.setup.settings.uses_client_roots() {
            return Err(format!(
                "`{target}` is not this machine, and files are restricted to the client's roots \
                 (`--allow-client-roots`), which are here"
            ));
        }
        if arguments.contains_key(SESSION) {
            return Err("a session stays on its machine; leave out `target` or `sessionId`".to_owned());
        }
        let targets = replicas::targets(target).await?;
        let named = named_paths(&arguments);
        let connecting = targets.into_iter().map(|target| self.connected(target, &named));
        let remotes: Vec<Arc<Remote>> =
            join_all(connecting).await.into_iter().collect::<Result<_, String>>()?;
        let mut members: Vec<Member> =
            remotes.into_iter().map(|remote| Member { remote, session: None }).collect();
        let attach = attach_arguments(tool, &mut arguments);
        if tool == ATTACHING || attach.is_some() {
            let language = arguments.remove(LANGUAGE).ok_or("add `language`, such as `python`")?;
            match attached(&members, language, attach.as_ref()).await {
                Ok(attached) => members = attached,
                Err(result) => return Ok(with_mappings(result, &members)),
            }
        }
        let result = with_mappings(fan_out::call(tool, &arguments, &members, report).await, &members);
        let has_failed = fan_out::is_error(&result);
        if tool == ATTACHING && has_failed {
            close(members).await;
            return Ok(result);
        }
        if members.iter().all(|member| member.session.is_none()) {
            members = fan_out::sessions(&result, &members);
            members.retain(|member| member.session.is_some());
        } else if fan_out::closes(&arguments) && !has_failed {
            return Ok(result);
        }
        Ok(self.register(result, &members))
    }

    /// A result with the ID of its session, which is a new one for several members.
    fn register(&self, result: Value, members: &[Member]) -> Value {
        let id = match members {
            [] => return result,
            [Member { session: Some(id), .. }] => id.clone(),
            _ => new_id(),
        };
        let mut sessions = self.sessions();
        for member in members {
            if let Some(id) = &member.session {
                sessions.insert(id.clone(), vec![member.clone()]);
            }
        }
        sessions.insert(id.clone(), members.to_owned());
        drop(sessions);
        named(result, &id)
    }

    fn forget(&self, id: &str, members: &[Member]) {
        let mut sessions = self.sessions();
        sessions.remove(id);
        for session in members.iter().filter_map(|member| member.session.as_ref()) {
            sessions.remove(session);
        }
    }

    /// The server on a target, started at the first call, which may say where the sources are there.
    async fn connected(&self, target: Target, named: &[String]) -> Result<Arc<Remote>, String> {
        let cell = Arc::clone(self.open.lock().await.entry(target.to_string()).or_default());
        let connect = || async {
            let journal = self.setup.journal.clone();
            let remote = Remote::connect(target, named, journal, &self.setup.settings).await;
            remote.map(Arc::new).map_err(|error| format!("{error:#}"))
        };
        cell.get_or_try_init(connect).await.cloned()
    }

    /// Adds the sessions elsewhere to the answer of `list_debug_sessions`. Whether there are any.
    pub(crate) async fn add_sessions(&self, list: &mut Value) -> bool {
        let cells: Vec<_> = self.open.lock().await.values().cloned().collect();
        let remotes: Vec<Arc<Remote>> = cells.iter().filter_map(|cell| cell.get().cloned()).collect();
        let no_arguments = Map::new();
        let lists = remotes.iter().map(|remote| remote.call("list_debug_sessions", &no_arguments, None));
        let mut added = Vec::new();
        for (remote, list) in remotes.iter().zip(join_all(lists).await) {
            let sessions = list.as_ref().ok().and_then(|list| list.pointer("/structuredContent/sessions"));
            for mut session in sessions.and_then(Value::as_array).cloned().unwrap_or_default() {
                if let Some(session) = session.as_object_mut() {
                    session.insert(TARGET.to_owned(), json!(remote.target.to_string()));
                }
                added.push(session);
            }
        }
        let has_any = !added.is_empty();
        if let Some(Value::Array(sessions)) = list.get_mut("sessions").filter(|_| has_any) {
            sessions.extend(added);
            let count = sessions.len();
            if let Some(list) = list.as_object_mut() {
                list.insert("count".to_owned(), json!(count));
            }
        }
        has_any
    }

    /// Ends all servers elsewhere, and waits.
    pub(crate) async fn close(&self) {
        let cells: Vec<_> = self.open.lock().await.drain().map(|(_, cell)| cell).collect();
        join_all(cells.iter().filter_map(|cell| cell.get()).map(|remote| remote.close())).await;
    }
}

/// A result names its session, unless it does already: that of the member that stopped first, where there are several.
fn named(mut result: Value, id: &str) -> Value {
    fan_out::set(&mut result, |body| {
        body.entry(SESSION).or_insert_with(|| json!(id));
    });
    result
}

/// Where the program of a call is: its own path, its working directory, or that of the process that it attaches to.
fn named_paths(arguments: &Map<String, Value>) -> Vec<String> {
    let texts = |name: &str| match arguments.get(name) {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let paths = ["program", "scriptPath", "cwd"].into_iter().flat_map(texts);
    let paths = paths.filter(|path| path.starts_with('/')).map(str::to_owned);
    let process =
        arguments.get("processId").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let process = process.map(|id| format!("/proc/{}/cwd", id.trim()));
    paths.chain(guess::program_paths(texts("command"))).chain(process).collect()
}

/// A result with notes on how the paths of its machines are mapped.
fn with_mappings(mut result: Value, members: &[Member]) -> Value {
    let mappings = members.iter().filter_map(|member| member.remote.mapping.as_deref());
    let mappings: Vec<Value> = mappings.map(Value::from).collect();
    if !mappings.is_empty() {
        fan_out::set(&mut result, |body| match body.get_mut("notes") {
            Some(Value::Array(notes)) => notes.extend(mappings),
            _ => drop(body.insert("notes".to_owned(), Value::Array(mappings))),
        });
    }
    result
}

/// Closes the sessions that were opened for a call which has failed.
async fn close(members: Vec<Member>) {
    let open: Vec<Member> = members.into_iter().filter(|member| member.session.is_some()).collect();
    fan_out::call("close_debug_session", &Map::new(), &open, None).await;
}

/// What of a call that is not an attach says to attach first.
fn attach_arguments(tool: &str, arguments: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    if !WORKING.contains(&tool) {
        return None;
    }
    let named = ENDPOINT.into_iter().filter_map(|name| arguments.remove_entry(name));
    let mut attach: Map<String, Value> = named.collect();
    if attach.is_empty() {
        return None;
    }
    attach.insert("stopOnEntry".to_owned(), json!(false));
    Some(attach)
}

/// The members with new sessions, attached if there are arguments for it; otherwise why not, and nothing is left.
async fn attached(
    members: &[Member],
    language: Value,
    attach: Option<&Map<String, Value>>,
) -> Result<Vec<Member>, Value> {
    let create = Map::from_iter([(LANGUAGE.to_owned(), language)]);
    let created = fan_out::call("create_debug_session", &create, members, None).await;
    let members = fan_out::sessions(&created, members);
    let mut result = created;
    if members.iter().all(|member| member.session.is_some()) {
        let Some(attach) = attach else { return Ok(members) };
        result = fan_out::call(ATTACHING, attach, &members, None).await;
        if fan_out::succeeded(&result) {
            return Ok(members);
        }
    }
    close(members).await;
    Err(result)
}

/// An ID that no other session has.
fn new_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("all-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_its_folder_and_a_process_say_which_copy_is_meant() {
        let table = [
            (
                json!({ "program": "/srv/2/main.py", "args": ["--config", "/home/me/conf.yml"] }),
                "/srv/2/main.py",
            ),
            (json!({ "cwd": "/srv/2", "program": "main.py", "env": { "HOME": "/home/me" } }), "/srv/2"),
            (json!({ "command": ["python3", "/srv/2/main.py", "/home/me"] }), "/srv/2/main.py"),
            (json!({ "command": "pytest /srv/2/test_a.py::test_b" }), "/srv/2/test_a.py"),
            (json!({ "processId": 12 }), "/proc/12/cwd"),
            (json!({ "processId": "12" }), "/proc/12/cwd"),
        ];
        for (arguments, named) in table {
            assert_eq!(named_paths(arguments.as_object().unwrap()), [named], "{arguments}");
        }
    }
}
