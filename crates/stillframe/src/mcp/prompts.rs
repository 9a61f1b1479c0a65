//! The prompts of toolsets in MCP's terms.

use journal::visible::visible;
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, PromptArgument, PromptMessage, Role};
use tools::{Prompt, Toolset};

/// All of them.
pub(super) fn list(toolsets: &[&'static Toolset]) -> Vec<rmcp::model::Prompt> {
    prompts(toolsets).map(listed).collect()
}

fn prompts(toolsets: &[&'static Toolset]) -> impl Iterator<Item = &'static Prompt> {
    toolsets.iter().flat_map(|toolset| toolset.prompts)
}

fn listed(prompt: &Prompt) -> rmcp::model::Prompt {
    let (name, description) = prompt.argument;
    let argument = PromptArgument::new(name).with_description(description).with_required(true);
    rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument]))
        .with_title(prompt.title)
}

/// One of them, with its argument filled in.
pub(super) fn get(
    toolsets: &[&'static Toolset],
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let Some(prompt) = prompts(toolsets).find(|prompt| prompt.name == request.name) else {
        return Err(ErrorData::invalid_params(format!("no prompt `{}`", request.name), None));
    };
    let (name, _) = prompt.argument;
    let given =
        request.arguments.as_ref().and_then(|arguments| arguments.get(name)).and_then(|value| value.as_str());
    let Some(given) = given else {
        return Err(ErrorData::invalid_params(
            format!("the prompt `{}` needs the argument `{name}`, a string", prompt.name),
            None,
        ));
    };
    let message = PromptMessage::new_text(Role::User, prompt.text.replacen("{}", &visible(given), 1));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}
