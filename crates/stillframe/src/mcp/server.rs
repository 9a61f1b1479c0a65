//! What the server offers, in MCP's terms: the tools of its toolsets, sessions as resources, and prompts.

#![expect(deprecated, reason = "the current revision has log messages, even if a later one may not")]

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use futures_util::future::join_all;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, ConstString as _, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResultType,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{Context, Entry, Reply, ToolError, Toolset, toolsets};

use super::confirm::{self, Consent, Questions};
use super::guarded::{panic_text, without_icons};
use super::icon::icon;
use super::log::{self, ClientLog};
use super::repair::{INVALID, PROBLEM};
use super::roots::{Obstacle, RootsState};
use super::subscriptions::{self, Subscriptions};
use super::{completions, progress, prompts, resources};
use crate::via::Remotes;

/// For how long a client of revision 2026-07-28 may keep the lists that never change, in milliseconds.
const LISTS_LAST: u64 = 3_600_000;

/// The methods that are served, to distinguish bad parameters from an unknown method.
const SERVED: [&str; 14] = [
    "initialize",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
];

/// The field of a result's `_meta` that names the server, since revision 2026-07-28.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Those that revision 2026-07-28 removed.
const OF_HANDSHAKES: [&str; 4] =
    ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// What is offered to every client.
pub(crate) struct ServerFeatures {
    toolsets: Vec<&'static Toolset>,
    /// The user is asked before a call changes something.
    confirms: bool,
    /// What users are asked.
    questions: Questions,
    /// Made when a client first asks: the schemas take longer than all else at a start.
    tools: OnceLock<Vec<Tool>>,
}

impl ServerFeatures {
    pub(crate) fn new(toolsets: Vec<&'static Toolset>, confirms: bool) -> Self {
        Self { toolsets, confirms, questions: Questions::default(), tools: OnceLock::new() }
    }

    fn tools(&self) -> &[Tool] {
        let list = || self.toolsets.iter().flat_map(|toolset| toolset.tools).map(listed).collect();
        self.tools.get_or_init(list)
    }
}

/// The server of one client.
pub(super) struct Server {
    context: Context,
    offer: Arc<ServerFeatures>,
    subscriptions: Subscriptions,
    /// The machines that calls of this client have named.
    remotes: Option<Arc<Remotes>>,
    /// Changes with the sessions that come and go. A client that opens one as soon as it may has missed none.
    changes: watch::Receiver<u64>,
    log: ClientLog,
    roots: RootsState,
}

impl Server {
    pub(super) fn new(context: Context, offer: Arc<ServerFeatures>, remotes: Option<Arc<Remotes>>) -> Self {
        let changes = context.sessions.watch();
        let (log, roots) = (ClientLog::default(), RootsState::default());
        Self { context, offer, subscriptions: Subscriptions::default(), remotes, changes, log, roots }
    }

    /// Whether the client may be asked for something before a call.
    fn asks_first(&self) -> bool {
        self.offer.confirms || self.context.sessions.policy().safety.client_roots.is_some()
    }

    /// What must come before a call: the folders that the client allows, and the consent of its user. An answer, if the
    /// call cannot be made now.
    async fn prepare(
        &self,
        entry: &Entry,
        call: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let refused = |error: &ToolError| {
            let arguments = call.arguments.clone().unwrap_or_default();
            Ok(Some(answer(entry.refuse(&arguments, error, &self.context)).into()))
        };
        let safety = &self.context.sessions.policy().safety;
        match self.roots.learn(cx, safety, call.input_responses.as_ref()).await {
            Ok(()) => {}
            Err(Obstacle::Refused(error)) => return refused(&error),
            Err(Obstacle::Needed(input)) => return Ok(Some(input.into())),
        }
        if !self.offer.confirms {
            return Ok(None);
        }
        let arguments = call.arguments.clone().unwrap_or_default();
        let Some(question) = entry.question(&arguments) else { return Ok(None) };
        match confirm::consent(cx, call, &question, &self.offer.questions).await? {
            Consent::Given => Ok(None),
            Consent::Refused(error) => refused(&error),
            Consent::Needed(input) => Ok(Some(input.into())),
        }
    }

    /// Makes a call.
    async fn call(
        &self,
        entry: &Entry,
        arguments: JsonObject,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        if self.remotes.as_ref().is_some_and(|remotes| remotes.has(entry.name, &arguments)) {
            return self.call_elsewhere(entry, arguments, cx).await;
        }
        let called = progress::relay(cx, entry.title, |report| {
            let context = self.context.reporting(report);
            AssertUnwindSafe(async move { entry.call(arguments, &context).await }).catch_unwind()
        });
        match called.await {
            Some(Ok(mut reply)) => {
                if entry.name == "list_debug_sessions"
                    && let Some(remotes) = &self.remotes
                    && let Some(list) = &mut reply.structured
                    && remotes.add_sessions(list).await
                {
                    reply.text = list.to_string();
                }
                answer(reply)
            }
            Some(Err(panic)) => {
                let text = format!("internal error in {}: {}", entry.name, panic_text(&*panic));
                CallToolResult::error(vec![ContentBlock::text(text)])
            }
            None => cancelled(),
        }
    }

    /// Makes a call that is for another machine.
    async fn call_elsewhere(
        &self,
        entry: &Entry,
        arguments: JsonObject,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Some(remotes) = &self.remotes else { return CallToolResult::success(Vec::new()) };
        if let Err(error) = Remotes::check(entry, &arguments) {
            return answer(entry.refuse(&arguments, &error, &self.context));
        }
        let called = progress::relay(cx, entry.title, |report| remotes.call(entry.name, arguments, report));
        match called.await.map(serde_json::from_value::<CallToolResult>) {
            // The server there speaks an earlier revision, whose results name no type. The SDK takes it out again where
            // this client speaks one, too.
            Some(Ok(mut result)) => {
                result.result_type = Some(ResultType::COMPLETE);
                result
            }
            Some(Err(error)) => {
                CallToolResult::error(vec![ContentBlock::text(format!("unreadable answer: {error}"))])
            }
            None => cancelled(),
        }
    }
}

/// Whether a request belongs to revision 2026-07-28. Checked for each: one connection may carry both eras.
pub(super) fn is_stateless(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn listed(entry: &Entry) -> Tool {
    let effects = entry.effects;
    let annotations = ToolAnnotations::new()
        .read_only(effects.read_only)
        .destructive(effects.destructive)
        .idempotent(effects.idempotent)
        // What it works on is this machine's programs.
        .open_world(false);
    let tool = Tool::new(entry.name, entry.description, (entry.input)())
        .with_title(entry.title)
        .with_annotations(annotations);
    match (entry.output)() {
        Some(output) => tool.with_raw_output_schema(Arc::new(output_schema(output, (entry.failure)()))),
        None => tool,
    }
}

/// Lists arguments that a tool takes in addition.
fn add_properties(tool: &mut Tool, more: JsonObject) {
    if more.is_empty() {
        return;
    }
    if let Some(Value::Object(properties)) = Arc::make_mut(&mut tool.input_schema).get_mut("properties") {
        for (name, property) in more {
            properties.entry(name).or_insert(property);
        }
    }
}

/// The shape of every answer. Some clients check the answers of failed calls too (the TypeScript SDK 1.x), and
/// show their user a complaint about the schema in place of a failure that does not fit.
fn output_schema(output: JsonObject, failure: Option<JsonObject>) -> JsonObject {
    let either: Vec<JsonObject> = std::iter::once(output).chain(failure).collect();
    JsonObject::from_iter([("type".to_owned(), json!("object")), ("anyOf".to_owned(), json!(either))])
}

fn answer(reply: Reply) -> CallToolResult {
    let content = if reply.text.is_empty() { Vec::new() } else { vec![ContentBlock::text(reply.text)] };
    let mut result = CallToolResult::success(content);
    result.structured_content = reply.structured;
    // An answer without it is a success.
    result.is_error = reply.is_error.then_some(true);
    result
}

/// The SDK sends no answer to a call that was cancelled.
fn cancelled() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("cancelled")])
}

/// What is wrong with the parameters of a call, where that is the kind of a member.
fn wrong_member(method: &str, params: Option<&Value>) -> Option<&'static str> {
    if method == SetLevelRequestMethod::VALUE {
        return Some(
            "`level` must be `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`",
        );
    }
    if !["tools/call", "prompts/get"].contains(&method) {
        return None;
    }
    let member = |name| params.and_then(|params| params.get(name));
    if !member("name").is_some_and(Value::is_string) {
        return Some("`name` must be a string");
    }
    let is_wrong =
        member("arguments").is_some_and(|arguments| !arguments.is_object() && !arguments.is_null());
    is_wrong.then_some("`arguments` must be an object")
}

fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method: {method}"), None)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .build();
        let elsewhere = self.remotes.as_ref().and_then(|remotes| remotes.instructions());
        let instructions = self.offer.toolsets.iter().map(|toolset| toolset.instructions);
        let instructions: Vec<&str> = instructions.chain(elsewhere).collect();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(
                Implementation::new("stillframe", env!("CARGO_PKG_VERSION"))
                    .with_title("stillframe")
                    .with_icons(vec![icon()]),
            )
            .with_instructions(instructions.join("\n\n"))
    }

    fn on_initialized(&self, cx: NotificationContext<RoleServer>) -> impl Future<Output = ()> + Send {
        self.log.follow(self.context.clone(), cx.peer.clone());
        self.subscriptions.add_list(self.changes.clone(), cx.peer);
        std::future::ready(())
    }

    fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) -> impl Future<Output = ()> + Send {
        self.roots.mark_changed();
        std::future::ready(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.offer.tools().to_vec();
        if let Some(remotes) = &self.remotes {
            for tool in &mut tools {
                add_properties(tool, remotes.properties(&tool.name));
            }
        }
        let list = ListToolsResult::with_all_items(tools);
        // Older results have no such fields.
        Ok(if is_stateless(&cx) {
            list.with_ttl_ms(LISTS_LAST).with_cache_scope(CacheScope::Public)
        } else {
            list
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = toolsets::find(&self.offer.toolsets, &request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {}", request.name), None));
        };
        if self.asks_first() {
            let prepared =
                progress::relay(&cx, "Waiting for the user", |_| self.prepare(entry, &request, &cx));
            match prepared.await {
                Some(Ok(None)) => {}
                Some(answered) => return answered.map(|answer| answer.unwrap_or_else(|| cancelled().into())),
                None => return Ok(cancelled().into()),
            }
        }
        let call = self.call(entry, request.arguments.unwrap_or_default(), &cx);
        let result = match cx.meta.log_level().filter(|_| is_stateless(&cx)) {
            Some(level) => log::during(level, &self.context, cx.peer.clone(), call).await,
            None => call.await,
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.context.sessions)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(if is_stateless(&cx) {
            list.with_ttl_ms(LISTS_LAST).with_cache_scope(CacheScope::Public)
        } else {
            list
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = resources::find(&self.context.sessions, &request.uri)?;
        Ok(ReadResourceResult::new(vec![found.read(&request.uri, &self.context).await?]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let found = resources::find(&self.context.sessions, &request.uri)?;
        self.subscriptions.add(found.changes(), request.uri, cx.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::find(&self.context.sessions, uri).is_ok());
        let accepted = SubscriptionFilter::builder().resource_subscriptions(known);
        let hears_of_sessions = requested.resources_list_changed == Some(true);
        Some(if hears_of_sessions { accepted.resources_list_changed() } else { accepted }.build())
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = cx.accepted().resource_subscriptions.clone().unwrap_or_default();
        let following = accepted.into_iter().filter_map(|uri| {
            let changes = resources::find(&self.context.sessions, &uri).ok()?.changes();
            Some(subscriptions::follow_for_listener(changes, uri, cx.sink().clone()))
        });
        let following = join_all(following.collect::<Vec<_>>());
        let list = async {
            if cx.accepted().resources_list_changed == Some(true) {
                subscriptions::follow_list_for_listener(self.changes.clone(), cx.sink().clone()).await;
            }
        };
        tokio::select! {
            () = cx.cancelled() => {}
            // Listening continues until the client ends it, even without further notifications.
            () = async { tokio::join!(following, list); std::future::pending().await } => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::list(&self.offer.toolsets));
        Ok(if is_stateless(&cx) {
            list.with_ttl_ms(LISTS_LAST).with_cache_scope(CacheScope::Public)
        } else {
            list
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&self.offer.toolsets, &request)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut result = completions::of(&self.context, &self.offer.toolsets, &request).await?;
        // The SDK adds it to all other results (rmcp 3.9).
        if is_stateless(&cx) {
            let server = json!(without_icons(self.get_info().server_info));
            result.meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), server);
        }
        Ok(result)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&cx) {
            return Err(unknown_method(SetLevelRequestMethod::VALUE));
        }
        self.log.set_level(request.level);
        Ok(())
    }

    /// A known method with invalid parameters arrives here too (rmcp 3.9), and so does a malformed request.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let is_gone = is_stateless(&cx) && OF_HANDSHAKES.contains(&method);
        let said = |what| request.params.as_ref().and_then(|params| params.get(what)?.as_str());
        let invalid = said(INVALID).filter(|_| method.is_empty());
        Err(if let Some(problem) = invalid {
            ErrorData::invalid_request(format!("not a JSON-RPC 2.0 request: {problem}"), None)
        } else if SERVED.contains(&method) && !is_gone {
            let problem = said(PROBLEM).or_else(|| wrong_member(method, request.params.as_ref()));
            let problem = problem.map(|problem| format!(": {problem}")).unwrap_or_default();
            ErrorData::invalid_params(format!("malformed params for {method}{problem}"), None)
        } else {
            unknown_method(method)
        })
    }
}
