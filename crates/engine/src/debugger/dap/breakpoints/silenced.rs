//! Breakpoints while an expression calls a function of the program: they do not stop it. An adapter that resumes all
//! threads for a call gives the call up where one of them stops, and reports what becomes of it as an exception later.
//!
//! For an adapter with [`Quirks::calls_stop_at_breakpoints`], breakpoints have a condition that is never true meanwhile.
//! They keep their numbers, and a thread at one leaves it when it is resumed, as it would not after they were removed.
//!
//! [`Quirks::calls_stop_at_breakpoints`]: crate::adapter::plan::Quirks::calls_stop_at_breakpoints

use std::collections::HashMap;

use super::DapDebugger;
use crate::deadlines;
use crate::debugger::dap::lock;
use crate::error::{Error, Result};

/// A condition that is never true.
pub(in crate::debugger::dap) const NEVER: &str = "false";

/// The last requests for breakpoints.
#[derive(Clone, Debug, Default)]
pub(in crate::debugger::dap) struct Asked {
    files: HashMap<Option<String>, ::dap::SetBreakpointsArguments>,
    functions: ::dap::SetFunctionBreakpointsArguments,
}

impl DapDebugger {
    /// Asks for the breakpoints of a file.
    pub(in crate::debugger::dap) async fn request_in_source(
        &self,
        arguments: ::dap::SetBreakpointsArguments,
    ) -> Result<::dap::SetBreakpointsResponse> {
        let file = arguments.source.path.clone();
        lock(&self.0.breakpoints).asked.files.insert(file, arguments.clone());
        self.request::<::dap::SetBreakpoints>(arguments, deadlines::REQUEST).await
    }

    /// Asks for the breakpoints on functions.
    pub(in crate::debugger::dap) async fn request_on_functions(
        &self,
        arguments: ::dap::SetFunctionBreakpointsArguments,
    ) -> Result<::dap::SetBreakpointsResponse> {
        lock(&self.0.breakpoints).asked.functions = arguments.clone();
        self.request::<::dap::SetFunctionBreakpoints>(arguments, deadlines::REQUEST).await
    }

    /// Waits for the answer to a request by which a function of the program may be called. Completed, too, when the answer
    /// is no longer awaited.
    pub(in crate::debugger::dap) async fn silently<Answer: Send + 'static>(
        &self,
        request: impl Future<Output = Result<Answer>> + Send + 'static,
    ) -> Result<Answer> {
        if !self.quirks().calls_stop_at_breakpoints {
            return request.await;
        }
        let debugger = self.clone();
        let whole = tokio::spawn(async move {
            debugger.set_again(true).await;
            let answer = request.await;
            let restored = tokio::spawn(async move { debugger.set_again(false).await });
            // While a call does not return, the adapter answers nothing.
            if !matches!(answer, Err(Error::Deadline { .. })) {
                let _ = restored.await;
            }
            answer
        });
        whole.await.unwrap_or(Err(Error::Lost))
    }

    /// Repeats the last requests, with a condition that is never true if the breakpoints are not to stop the program.
    async fn set_again(&self, is_silent: bool) {
        let Asked { files, mut functions } = lock(&self.0.breakpoints).asked.clone();
        let never = |condition: &mut Option<String>| {
            if is_silent {
                *condition = Some(NEVER.to_owned());
            }
        };
        for mut arguments in files.into_values().filter(|asked| !asked.breakpoints.is_empty()) {
            arguments.breakpoints.iter_mut().for_each(|sent| never(&mut sent.condition));
            repeated(self.request::<::dap::SetBreakpoints>(arguments, deadlines::REQUEST).await);
        }
        if !functions.breakpoints.is_empty() {
            functions.breakpoints.iter_mut().for_each(|sent| never(&mut sent.condition));
            repeated(self.request::<::dap::SetFunctionBreakpoints>(functions, deadlines::REQUEST).await);
        }
    }
}

fn repeated(answer: Result<::dap::SetBreakpointsResponse>) {
    if let Err(error) = answer {
        tracing::warn!(%error, "breakpoints may stop the program while an expression calls a function, or not afterwards");
    }
}
