//! The prompts of toolsets in MCP's terms.

use std::collections::BTreeMap;

use journal::visible::visible;
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, PromptMessage, Role};
use tools::{Prompt, PromptArgument, Toolset};

/// All of them.
pub(super) fn list(toolsets: &[&'static Toolset]) -> Vec<rmcp::model::Prompt> {
    prompts(toolsets).map(listed).collect()
}

fn prompts(toolsets: &[&'static Toolset]) -> impl Iterator<Item = &'static Prompt> {
    toolsets.iter().flat_map(|toolset| toolset.prompts)
}

fn listed(prompt: &Prompt) -> rmcp::model::Prompt {
    let listed = |argument: &PromptArgument| {
        rmcp::model::PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    };
    let arguments = prompt.arguments.iter().map(listed).collect();
    rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
}

pub(super) fn find(toolsets: &[&'static Toolset], name: &str) -> Result<&'static Prompt, ErrorData> {
    let found = prompts(toolsets).find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let problem = format!("no prompt `{name}`; call prompts/list for valid ones");
        ErrorData::invalid_params(problem, None)
    })
}

/// One of them, with its arguments filled in.
pub(super) fn get(
    toolsets: &[&'static Toolset],
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let prompt = find(toolsets, &request.name)?;
    let mut given = BTreeMap::new();
    for argument in prompt.arguments {
        let name = argument.name;
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        match value.filter(|value| !value.is_null()).map(|value| value.as_str()) {
            Some(Some(text)) => drop(given.insert(name, visible(text).into_owned())),
            None if !argument.required => {}
            _ => {
                let problem = format!("the prompt `{}` needs the argument `{name}`, a string", prompt.name);
                return Err(ErrorData::invalid_params(problem, None));
            }
        }
    }
    let message = PromptMessage::new_text(Role::User, prompt.filled(&given));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}
