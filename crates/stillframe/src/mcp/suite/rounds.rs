//! The suite's tools that take several rounds (2026-07-28): the result says what the client must ask, and the client
//! repeats the call with the answers.

use data_encoding::HEXLOWER;
use rmcp::model::{CallToolRequestParams, CallToolResponse, InputRequiredResult, InputResponses};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::answers::{parsed, text};

/// A question with one field.
pub(super) fn form(message: &str, field: &str) -> Value {
    typed_form(message, field, "string")
}

fn typed_form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn sample(prompt: &str, tokens: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": tokens } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// What the client must ask before it repeats its request.
pub(super) fn needed(requests: &Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    parsed(result)
}

/// A field of an accepted form.
pub(super) fn field(answers: Option<&InputResponses>, form: &str, field: &str) -> Option<String> {
    let value = answers?.get(form)?.get("content")?.get(field)?;
    value.as_str().map(str::to_owned).or_else(|| value.as_bool().map(|flag| flag.to_string()))
}

/// A state with a seal, which only this server makes.
fn sealed(state: &str) -> String {
    format!("{state}.{}", seal(state))
}

fn seal(state: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(format!("the key of the test server/{state}")))
}

/// The state under a seal; an error if it was changed.
fn opened(state: Option<&str>) -> Result<Option<&str>, ErrorData> {
    let Some(whole) = state else { return Ok(None) };
    match whole.rsplit_once('.') {
        Some((state, given)) if seal(state) == given => Ok(Some(state)),
        _ => Err(ErrorData::invalid_params("the state of the request has been changed", None)),
    }
}

/// Calls one of them; none if it is another's.
pub(super) fn call(
    call: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = call.name.strip_prefix("test_")?;
    let round = Round { answers: call.input_responses.as_ref(), state: call.request_state.as_deref() };
    Some(match name {
        "streaming_elicitation" | "input_required_result_elicitation" => round.elicitation(),
        "input_required_result_sampling" => round.sampling(),
        "input_required_result_list_roots" => round.roots(),
        "input_required_result_request_state" | "input_required_result_tampered_state" => round.state(),
        "input_required_result_multiple_inputs" => round.several(),
        "input_required_result_multi_round" => round.two(),
        "input_required_result_capabilities" => capabilities(cx, round.answers),
        _ => return None,
    })
}

struct Round<'r> {
    answers: Option<&'r InputResponses>,
    state: Option<&'r str>,
}

type Outcome = Result<CallToolResponse, ErrorData>;

impl Round<'_> {
    fn elicitation(&self) -> Outcome {
        if let Some(name) = field(self.answers, "user_name", "name") {
            return text(&format!("Hello, {name}!")).map(Into::into);
        }
        let form = form("What is your name?", "name");
        needed(&json!({ "user_name": form }), None).map(Into::into)
    }

    fn sampling(&self) -> Outcome {
        let answer = self.answers.and_then(|answers| answers.get("capital_question"));
        if let Some(said) = answer.and_then(|answer| answer["content"]["text"].as_str()) {
            return text(said).map(Into::into);
        }
        let question = sample("What is the capital of France?", 100);
        needed(&json!({ "capital_question": question }), None).map(Into::into)
    }

    fn roots(&self) -> Outcome {
        match self.answers.and_then(|answers| answers.get("client_roots")?.get("roots")) {
            Some(listed) => text(&format!("The client's roots: {listed}")).map(Into::into),
            None => needed(&json!({ "client_roots": roots() }), None).map(Into::into),
        }
    }

    fn state(&self) -> Outcome {
        let state = opened(self.state)?;
        if state == Some("confirm") && field(self.answers, "confirm", "ok").is_some() {
            return text("state-ok").map(Into::into);
        }
        let form = typed_form("Please confirm", "ok", "boolean");
        needed(&json!({ "confirm": form }), Some(&sealed("confirm"))).map(Into::into)
    }

    fn several(&self) -> Outcome {
        let has = |name: &str| self.answers.is_some_and(|answers| answers.contains_key(name));
        if opened(self.state)?.is_some() && ["user_name", "greeting", "client_roots"].into_iter().all(has) {
            return text("all of it is there").map(Into::into);
        }
        let requests = json!({
            "user_name": form("What is your name?", "name"),
            "greeting": sample("Generate a greeting", 50),
            "client_roots": roots(),
        });
        needed(&requests, Some(&sealed("several"))).map(Into::into)
    }

    fn two(&self) -> Outcome {
        let state = opened(self.state)?.unwrap_or_default();
        let (name, color) = (field(self.answers, "step1", "name"), field(self.answers, "step2", "color"));
        match (state.split_once('/'), name, color) {
            (Some(("second", name)), _, Some(color)) => {
                text(&format!("{name} likes {color}")).map(Into::into)
            }
            (_, Some(name), _) if state == "first" => {
                let form = form("Step 2: What is your favorite color?", "color");
                needed(&json!({ "step2": form }), Some(&sealed(&format!("second/{name}")))).map(Into::into)
            }
            _ => {
                let form = form("Step 1: What is your name?", "name");
                needed(&json!({ "step1": form }), Some(&sealed("first"))).map(Into::into)
            }
        }
    }
}

/// Asks only for what the client can do.
fn capabilities(cx: &RequestContext<RoleServer>, answers: Option<&InputResponses>) -> Outcome {
    if answers.is_some() {
        return text("the client has answered").map(Into::into);
    }
    let declared = cx.client_capabilities().unwrap_or_default();
    let mut requests = Map::new();
    if declared.elicitation.is_some() {
        requests.insert("user_name".to_owned(), form("What is your name?", "name"));
    }
    if declared.sampling.is_some() {
        requests.insert("greeting".to_owned(), sample("Generate a greeting", 50));
    }
    if declared.roots.is_some() {
        requests.insert("client_roots".to_owned(), roots());
    }
    if requests.is_empty() {
        return text("the client can do nothing of the kind").map(Into::into);
    }
    needed(&Value::Object(requests), None).map(Into::into)
}
