//! Around the server: no panic leaves a request without an answer, and every answer names the server.

#![expect(deprecated, reason = "older clients subscribe in the older way, and request log messages")]

use std::any::Any;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use tools::{show_in_data, show_in_text};

use super::server::is_stateless;

/// Where results name the server (2026-07-28, "Servers SHOULD include this field on every response").
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A server whose every method may panic.
pub(super) struct Guarded<H>(pub(super) H);

/// The result of a method, or the error for its panic.
async fn caught<T>(
    method: &str,
    handled: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let came = AssertUnwindSafe(handled).catch_unwind().await.unwrap_or_else(|panic| {
        Err(ErrorData::internal_error(format!("internal error in {method}: {}", panic_text(&*panic)), None))
    });
    came.map_err(shown)
}

/// With invisible characters escaped: errors repeat names and addresses.
fn shown(mut error: ErrorData) -> ErrorData {
    let mut message = error.message.into_owned();
    show_in_text(&mut message);
    if let Some(data) = &mut error.data {
        show_in_data(data);
    }
    ErrorData { message: message.into(), ..error }
}

/// What names a server in each of its results. Its icons are in the result of `server/discover`.
pub(super) fn without_icons(mut info: Implementation) -> Implementation {
    info.icons = None;
    info
}

/// A panic's message.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// What a method gives.
trait WithMeta {
    /// What it says beside itself; none where it cannot.
    fn meta(&mut self) -> Option<&mut Option<MetaObject>>;

    /// The SDK does it for `server/discover` and `subscriptions/listen` only.
    fn add_server_info(&mut self, info: Implementation) {
        if let (Some(meta), Ok(info)) = (self.meta(), serde_json::to_value(info)) {
            meta.get_or_insert_default().insert(SERVER_INFO.into(), info);
        }
    }
}

macro_rules! outcomes {
    ($($type:ty, $this:ident => $meta:expr;)*) => {$(
        impl WithMeta for $type {
            fn meta(&mut self) -> Option<&mut Option<MetaObject>> {
                let $this = self;
                $meta
            }
        }
    )*};
}

outcomes! {
    (), _this => None;
    CompleteResult, _this => None;
    ListToolsResult, this => Some(&mut this.meta);
    ListResourcesResult, this => Some(&mut this.meta);
    ListResourceTemplatesResult, this => Some(&mut this.meta);
    ListPromptsResult, this => Some(&mut this.meta);
    CallToolResponse, this => match this {
        Self::Complete(result) => Some(&mut result.meta),
        Self::InputRequired(result) => Some(&mut result.meta),
        _ => None,
    };
    ReadResourceResponse, this => match this {
        Self::Complete(result) => Some(&mut result.meta),
        _ => None,
    };
    GetPromptResponse, this => match this {
        Self::Complete(result) => Some(&mut result.meta),
        _ => None,
    };
}

macro_rules! guarded {
    ($($name:ident($params:ty) -> $outcome:ty, $method:literal;)*) => {$(
        async fn $name(
            &self,
            params: $params,
            cx: RequestContext<RoleServer>,
        ) -> Result<$outcome, ErrorData> {
            let named = is_stateless(&cx).then(|| without_icons(self.0.get_info().server_info));
            let mut outcome = caught($method, self.0.$name(params, cx)).await?;
            if let Some(info) = named {
                outcome.add_server_info(info);
            }
            Ok(outcome)
        }
    )*};
}

impl<H: ServerHandler> ServerHandler for Guarded<H> {
    guarded! {
        list_tools(Option<PaginatedRequestParams>) -> ListToolsResult, "tools/list";
        call_tool(CallToolRequestParams) -> CallToolResponse, "tools/call";
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult, "resources/list";
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult,
            "resources/templates/list";
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse, "resources/read";
        subscribe(SubscribeRequestParams) -> (), "resources/subscribe";
        unsubscribe(UnsubscribeRequestParams) -> (), "resources/unsubscribe";
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult, "prompts/list";
        get_prompt(GetPromptRequestParams) -> GetPromptResponse, "prompts/get";
        complete(CompleteRequestParams) -> CompleteResult, "completion/complete";
        set_level(SetLevelRequestParams) -> (), "logging/setLevel";
    }

    /// An unknown method does not reveal the server's name.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.clone();
        caught(&method, self.0.on_custom_request(request, cx)).await
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        caught("subscriptions/listen", self.0.listen(cx)).await
    }

    fn on_initialized(&self, cx: NotificationContext<RoleServer>) -> impl Future<Output = ()> + Send {
        self.0.on_initialized(cx)
    }

    fn on_roots_list_changed(&self, cx: NotificationContext<RoleServer>) -> impl Future<Output = ()> + Send {
        self.0.on_roots_list_changed(cx)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.get_tool(name)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }
}
