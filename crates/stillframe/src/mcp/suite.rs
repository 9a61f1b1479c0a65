//! The server together with the tools, prompts and resources that MCP's conformance suite calls. Only tests have it: no
//! program that is built to be used contains it.
//!
//! It is the same server behind the same transport, and answers everything else itself.

#![expect(deprecated, reason = "the suite sets the level of log messages, and subscribes in the older way")]

mod answers;
mod conformance;
mod rounds;
mod tools;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use self::answers::{PIXEL, parsed};
use super::server::Server;

/// What is read, subscribed to and listed.
const WATCHED: &str = "test://watched-resource";

pub(super) struct Suite(pub(super) Server);

type Outcome<T> = Result<T, ErrorData>;

/// The suite's prompts, as they are listed.
fn prompts() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": "For the test.", "required": true });
    json!([
        { "name": "test_simple_prompt", "description": "A prompt without arguments." },
        {
            "name": "test_prompt_with_arguments", "description": "A prompt with arguments.",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource.",
            "arguments": [argument("resourceUri")],
        },
        { "name": "test_prompt_with_image", "description": "A prompt with an image." },
        { "name": "test_input_required_result_prompt", "description": "A prompt that asks the user." },
    ])
}

/// One of the suite's prompts, filled in; none if it is another's.
fn prompt(request: &GetPromptRequestParams) -> Option<Outcome<GetPromptResponse>> {
    let given = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    let message = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: String| message(json!({ "type": "text", "text": text }));
    let messages = match &*request.name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => {
            let filled = format!("Prompt with arguments: arg1='{}', arg2='{}'", given("arg1"), given("arg2"));
            json!([text(filled)])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            json!([
                message(json!({ "type": "resource", "resource": resource })),
                text("Please process the embedded resource above.".to_owned()),
            ])
        }
        "test_prompt_with_image" => json!([
            message(json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" })),
            text("Please analyze the image above.".to_owned()),
        ]),
        "test_input_required_result_prompt" => {
            let answers = request.input_responses.as_ref();
            let Some(context) = rounds::field(answers, "user_context", "context") else {
                let form = rounds::form("What context should the prompt use?", "context");
                return Some(rounds::needed(&json!({ "user_context": form }), None).map(Into::into));
            };
            json!([text(format!("Use this context: {context}"))])
        }
        _ => return None,
    };
    Some(parsed(json!({ "resultType": "complete", "messages": messages })).map(GetPromptResponse::Complete))
}

/// What is at one of the suite's addresses.
fn resource(uri: &str) -> Option<Value> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    Some(match (uri, id) {
        (_, Some(id)) => {
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": text.to_string() })
        }
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PIXEL }),
        (WATCHED, _) => json!({ "uri": uri, "mimeType": "text/plain", "text": "It can be watched." }),
        _ => return None,
    })
}

fn resources() -> Value {
    let row = |uri: &str, mime: &str| json!({ "uri": uri, "name": uri, "description": "For the test.", "mimeType": mime });
    json!([
        row("test://static-text", "text/plain"),
        row("test://static-binary", "image/png"),
        row(WATCHED, "text/plain"),
    ])
}

impl ServerHandler for Suite {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::list().into_iter().flatten().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<ListToolsResult> {
        let mut list = self.0.list_tools(page, cx).await?;
        list.tools.extend(tools::list()?);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<CallToolResponse> {
        if let Some(outcome) = rounds::call(&request, &cx) {
            return outcome;
        }
        match tools::call(&request, &cx).await {
            Some(outcome) => outcome.map(Into::into),
            None => self.0.call_tool(request, cx).await,
        }
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<ListPromptsResult> {
        let mut list = self.0.list_prompts(page, cx).await?;
        list.prompts.extend(parsed::<Vec<_>>(prompts())?);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<GetPromptResponse> {
        match prompt(&request) {
            Some(outcome) => outcome,
            None => self.0.get_prompt(request, cx).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<CompleteResult> {
        let named = serde_json::to_value(&request.r#ref).unwrap_or_default();
        if named["name"] == "test_prompt_with_arguments" {
            let all = ["paris", "park", "party"].map(str::to_owned);
            let values = all.into_iter().filter(|value| value.starts_with(&request.argument.value)).collect();
            return Ok(CompleteResult::new(CompletionInfo::new(values).unwrap_or_default()));
        }
        self.0.complete(request, cx).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<ListResourcesResult> {
        let mut list = self.0.list_resources(page, cx).await?;
        list.resources.extend(parsed::<Vec<_>>(resources())?);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<ListResourceTemplatesResult> {
        let mut list = self.0.list_resource_templates(page, cx).await?;
        let template = json!({ "uriTemplate": "test://template/{id}/data", "name": "test-template" });
        list.resource_templates.push(parsed(template)?);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<ReadResourceResponse> {
        match resource(&request.uri) {
            Some(found) => parsed(json!({ "resultType": "complete", "contents": [found] }))
                .map(ReadResourceResponse::Complete),
            None => self.0.read_resource(request, cx).await,
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<()> {
        // It never changes.
        if request.uri == WATCHED { Ok(()) } else { self.0.subscribe(request, cx).await }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<()> {
        self.0.unsubscribe(request, cx).await
    }

    async fn set_level(&self, request: SetLevelRequestParams, cx: RequestContext<RoleServer>) -> Outcome<()> {
        self.0.set_level(request, cx).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Outcome<CustomResult> {
        self.0.on_custom_request(request, cx).await
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        self.0.on_initialized(cx).await;
    }

    async fn on_roots_list_changed(&self, cx: NotificationContext<RoleServer>) {
        self.0.on_roots_list_changed(cx).await;
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, cx: SubscriptionContext) -> Outcome<()> {
        self.0.listen(cx).await
    }
}
