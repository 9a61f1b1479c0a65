//! The same tool in exactly the terms of *nodejs-debug-mcp*, for programs that are written for it: lines count from 0,
//! as in V8, and an answer has no field that is unknown there.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::OriginalResult;
use super::{AtBreakpoint, BreakpointParam, DebugScript};
use crate::{CommandLine, Context, Effects, Entry, Tool, ToolError, Toolset};

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "nodejs-debug-mcp",
    about: "debug-script exactly as nodejs-debug-mcp has it: lines count from 0, and answers have no further fields",
    instructions: INSTRUCTIONS,
    tools: &[Entry::of::<OriginalDebugScript>()],
    prompts: &[],
};

/// The code of the error of a line without code.
const NO_CODE: &str = "line_unusable";

const INSTRUCTIONS: &str = "\
debug-script runs a command and evaluates an expression at each hit of a line. Lines of breakpoints count from 0: \
an editor's line 5 is 4. Lines of stacks count from 1.";

/// Runs a command, and evaluates at each hit of a line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OriginalDebugScript {
    /// command line that runs the program; --inspect-brk is optional
    command: CommandLine,
    breakpoint: OriginalBreakpoint,
    /// evaluated at each hit
    expression: String,
    /// ms; then the program is ended
    #[schemars(with = "f64")]
    timeout: u64,
    /// include the stack of each result
    include_stack: Option<bool>,
}

/// Where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OriginalBreakpoint {
    /// source file, TypeScript included; relative to the server's folder
    file: PathBuf,
    /// 0-based: an editor's line 5 is 4
    #[schemars(with = "f64")]
    line: i64,
}

impl Tool for OriginalDebugScript {
    type Answer = OriginalResult;
    const NAME: &'static str = DebugScript::NAME;
    const TITLE: &'static str = DebugScript::TITLE;
    const DESCRIPTION: &'static str = "Run a Node.js command and evaluate an expression at each hit of a line, which counts from 0; \
         returns a list of typed values.";
    const EFFECTS: Effects = DebugScript::EFFECTS;

    async fn call(self, context: &Context) -> Result<OriginalResult, ToolError> {
        let Ok(line) = u32::try_from(self.breakpoint.line.max(0).saturating_add(1)) else {
            return Err(ToolError::argument("breakpoint.line", "is too large"));
        };
        let script = DebugScript {
            command: self.command,
            breakpoint: BreakpointParam { file: self.breakpoint.file, line },
            expression: self.expression,
            timeout: self.timeout,
            include_stack: self.include_stack,
            include_output: None,
            condition: None,
            max_hits: Some(context.bounds().rows),
            cwd: None,
            env: None,
        };
        let ran = match script.clone().run(context, AtBreakpoint::SameLine).await {
            // There, the command runs and the line is not reached.
            Err(error) if error.code == NO_CODE => script.run(context, AtBreakpoint::Never).await,
            ran => ran,
        };
        Ok(OriginalResult(ran?))
    }
}
