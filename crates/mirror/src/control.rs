//! What an editor does to the program, where it may.

use dap::{
    ContinueResponse, IncomingRequest, Request, SetVariableArguments, SetVariableResponse, ThreadArguments,
};
use engine::debugger::Step;
use serde_json::json;

use crate::editor::{Editor, number, reference, thread};
use crate::limits;
use crate::outgoing::{Answer, body};

/// Whether a request lets the program run.
pub(crate) fn is_resume(command: &str) -> bool {
    [dap::Continue::COMMAND, dap::Next::COMMAND, dap::StepIn::COMMAND, dap::StepOut::COMMAND]
        .contains(&command)
}

impl Editor {
    pub(crate) async fn resume(&self) -> Answer {
        self.check_control()?;
        self.session().resume().await?;
        body(&ContinueResponse { all_threads_continued: Some(true) })
    }

    pub(crate) async fn step(&self, request: &IncomingRequest) -> Answer {
        self.check_control()?;
        let step = match request.command.as_str() {
            dap::StepIn::COMMAND => Step::Into,
            dap::StepOut::COMMAND => Step::Out,
            _ => Step::Over,
        };
        let asked = request.read::<dap::Next>()?;
        self.session().step(thread(asked.thread_id), step).await?;
        Ok(json!({}))
    }

    pub(crate) async fn pause(&self, asked: ThreadArguments) -> Answer {
        self.check_control()?;
        self.session().pause(thread(asked.thread_id)).await?;
        Ok(json!({}))
    }

    pub(crate) async fn set_variable(&self, asked: SetVariableArguments) -> Answer {
        self.check_control()?;
        let text = self.session().policy().bounds.text(limits::VALUE);
        let parent = reference(asked.variables_reference)?;
        let value = self.session().set_variable(parent, asked.name.clone(), asked.value, text).await?;
        let response = SetVariableResponse {
            variables_reference: number(value.reference),
            value: value.text,
            kind: Some(value.type_name),
            ..SetVariableResponse::default()
        };
        self.shown(&response, Some(&asked.name))
    }
}
