//! Asks the user of the client before a call changes something (`--confirm`), by MCP elicitation: a form with one box.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use engine::deadlines::CONFIRMATION;
use journal::Secret;
use rmcp::model::{
    BooleanSchema, CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, PrimitiveSchemaDefinition,
    ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tools::ToolError;

use super::ask::{Unanswered, ask};
use super::server::is_stateless;

/// The field of the form, and the name of the form among what a call needs.
const ALLOW: &str = "allow";
/// How many questions of revision 2026-07-28 may be without an answer. The oldest are forgotten.
const OPEN: usize = 64;

/// What became of the question.
pub(super) enum Consent {
    Given,
    Refused(ToolError),
    /// The client is to ask, and to repeat the call (2026-07-28).
    Needed(InputRequiredResult),
}

/// The questions that clients of revision 2026-07-28 were given, each under a random name. They are kept here, so that
/// an answer is one to a question that was asked, and is used once.
#[derive(Default)]
pub(super) struct Questions(Mutex<VecDeque<(String, [u8; 32])>>);

impl Questions {
    fn add(&self, call: &CallToolRequestParams) -> Result<String, ErrorData> {
        let name = Secret::random().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let name = name.reveal().to_owned();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back((name.clone(), digest(call)));
        if open.len() > OPEN {
            open.pop_front();
        }
        Ok(name)
    }

    /// Whether this call is the one that the question was about. The question is answered then.
    fn take(&self, name: &str, call: &CallToolRequestParams) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(known, _)| known == name);
        found.and_then(|at| open.remove(at)).is_some_and(|(_, asked)| asked == digest(call))
    }
}

fn digest(call: &CallToolRequestParams) -> [u8; 32] {
    let arguments: BTreeMap<_, _> = call.arguments.iter().flatten().collect();
    let text = serde_json::to_string(&(&call.name, arguments)).unwrap_or_default();
    Sha256::digest(text).into()
}

/// Asks whether the call may do this.
pub(super) async fn consent(
    cx: &RequestContext<RoleServer>,
    call: &CallToolRequestParams,
    question: &str,
    questions: &Questions,
) -> Result<Consent, ErrorData> {
    let forms = cx.client_capabilities().and_then(|declared| declared.elicitation);
    // Before there were other ways than forms, nothing more was declared.
    if !forms.is_some_and(|ways| ways.form.is_some() || ways.url.is_none()) {
        return Ok(Consent::Refused(ToolError::cannot_confirm(question)));
    }
    let request = form(question);
    if !is_stateless(cx) {
        let answer = ask(cx, ServerRequest::ElicitRequest(request), CONFIRMATION).await;
        return Ok(decided(question, answer));
    }
    let response = call.input_responses.as_ref().and_then(|responses| responses.get(ALLOW));
    let was_asked = call.request_state.as_ref().is_some_and(|state| questions.take(state, call));
    if let Some(response) = response.filter(|_| was_asked) {
        return Ok(match serde_json::from_value::<ElicitResult>(response.clone()) {
            Ok(answer) => judged(question, &answer),
            Err(error) => unanswered(question, &format!("the client's answer is unreadable ({error})")),
        });
    }
    let requests = BTreeMap::from([(ALLOW.to_owned(), InputRequest::Elicitation(request))]);
    Ok(Consent::Needed(InputRequiredResult::new(Some(requests), Some(questions.add(call)?))))
}

/// The form: one box, which is ticked, so that the user has to do no more than to send it.
fn form(question: &str) -> ElicitRequest {
    let allow = BooleanSchema::new().title("Allow it").with_default(true);
    let properties = BTreeMap::from([(ALLOW.to_owned(), PrimitiveSchemaDefinition::Boolean(allow))]);
    let schema = ElicitationSchema::new(properties).with_required(vec![ALLOW.to_owned()]);
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Allow the debugger to {question}?"),
        requested_schema: schema,
    })
}

fn decided(question: &str, answer: Result<ClientResult, Unanswered>) -> Consent {
    match answer {
        Ok(ClientResult::ElicitResult(result)) => judged(question, &result),
        Ok(_) => unanswered(question, "the client's answer is not an elicitation result"),
        Err(Unanswered::Late) => {
            unanswered(question, &format!("the user did not answer within {} s", CONFIRMATION.as_secs()))
        }
        Err(Unanswered::Failed(error)) => unanswered(question, &format!("the client did not ask ({error})")),
    }
}

fn judged(question: &str, answer: &ElicitResult) -> Consent {
    // A client that accepts by itself, without a form that was filled in, has asked no one.
    let ticked = answer.content.as_ref().and_then(|content| content.get(ALLOW));
    match (&answer.action, ticked) {
        (ElicitationAction::Accept, Some(Value::Bool(true))) => Consent::Given,
        (ElicitationAction::Accept, None) => unanswered(
            question,
            &format!(
                "the client accepted the form without its required field `{ALLOW}`, which is not consent"
            ),
        ),
        (ElicitationAction::Accept | ElicitationAction::Decline, _) => {
            unanswered(question, "the user declined")
        }
        _ => unanswered(question, "the user dismissed the question"),
    }
}

fn unanswered(question: &str, reason: &str) -> Consent {
    Consent::Refused(ToolError::not_confirmed(question, reason))
}
