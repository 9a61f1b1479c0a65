//! Completions of the arguments of prompts and of resource templates.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use tools::ops::completions::{Completions, complete};
use tools::{Candidates, Context, Toolset};

use super::{prompts, resources};

/// The argument of a prompt by which names are completed: they are those of this file.
const FILE: &str = "file";

/// The values of an argument that begin like the one that is typed.
pub(super) async fn of(
    context: &Context,
    toolsets: &[&'static Toolset],
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let argument = &request.argument;
    let candidates = match &request.r#ref {
        Reference::Prompt(prompt) => {
            let prompt = prompts::find(toolsets, &prompt.name)?;
            let found = prompt.arguments.iter().find(|known| known.name == argument.name);
            found.map(|known| known.candidates).ok_or_else(|| {
                let problem = format!("the prompt `{}` has no argument `{}`", prompt.name, argument.name);
                ErrorData::invalid_params(problem, None)
            })?
        }
        Reference::Resource(resource) if resources::is_template(&resource.uri) => Candidates::Sessions,
        Reference::Resource(resource) => {
            let problem =
                format!("no template `{}`; call resources/templates/list for valid ones", resource.uri);
            return Err(ErrorData::invalid_params(problem, None));
        }
        _ => return Err(ErrorData::invalid_params("only prompts and resources have completions", None)),
    };
    let file = request.context.as_ref().and_then(|context| context.get_argument(FILE));
    let Completions { values, total } =
        complete(context, candidates, &argument.value, file.map(String::as_str)).await;
    let has_more = total > values.len();
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), has_more);
    Ok(CompleteResult::new(info.unwrap_or_default()))
}
