//! What the product has no cause for: tools and methods that panic.

use engine::sessions::Sessions;
use rmcp::model::{ListPromptsResult, PaginatedRequestParams};
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio_util::sync::CancellationToken;
use tools::{Context, Effects, Entry, Tool, ToolError, Toolset};

use super::*;

#[derive(Deserialize, JsonSchema)]
struct Panics {}

#[derive(Serialize, JsonSchema)]
struct Nothing {}

impl Tool for Panics {
    type Answer = Nothing;
    const NAME: &'static str = "panics";
    const TITLE: &'static str = "Panic";
    const DESCRIPTION: &'static str = "Panics.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, _: &Context) -> Result<Nothing, ToolError> {
        panic!("on purpose");
    }
}

static PANICKING: Toolset = Toolset {
    name: "panicking",
    about: "one tool that panics",
    instructions: "",
    tools: &[Entry::of::<Panics>()],
    prompts: &[],
};

/// A server whose prompts cannot be listed.
struct Broken;

impl ServerHandler for Broken {
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        panic!("on purpose, too");
    }
}

/// Asks a server in this process, twice: the second answer shows that it lives.
async fn ask_twice(handler: impl ServerHandler, method: &str, mut params: Value) -> [Value; 2] {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
    });
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = split(theirs);
    let transport = AsyncRwTransport::new_server(reader, writer);
    let serving = serve_server_with_ct(Guarded(handler), transport, CancellationToken::new());
    let serving = tokio::spawn(async move { serving.await.unwrap().waiting().await });
    let (reader, mut writer) = split(ours);
    let mut lines = BufReader::new(reader).lines();
    let mut answers = [Value::Null, Value::Null];
    for (id, answer) in answers.iter_mut().enumerate() {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let line = timeout(Duration::from_mins(1), lines.next_line()).await.expect("an answer");
        *answer = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    serving.abort();
    answers
}

#[tokio::test]
async fn a_panicking_tool_is_answered_and_the_server_survives() {
    let server = Server::new(
        Context::new(Sessions::new()),
        Arc::new(ServerFeatures::new(vec![&PANICKING], false)),
        None,
    );
    for answer in ask_twice(server, "tools/call", json!({ "name": "panics", "arguments": {} })).await {
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"]["content"][0]["text"], "internal error in panics: on purpose");
    }
}

#[tokio::test]
async fn a_panicking_method_is_answered_and_the_server_survives() {
    for answer in ask_twice(Broken, "prompts/list", json!({})).await {
        assert_eq!(answer["error"]["code"], -32603);
        assert_eq!(answer["error"]["message"], "internal error in prompts/list: on purpose, too");
    }
}
