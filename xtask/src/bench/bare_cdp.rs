//! The least that a client of Node's inspector can do: one connection, one command at a time.
//!
//! What it is made of is the project's own wire client on a runtime of one thread, which acknowledges at once.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use cdp::debugger::{self, Paused};
use cdp::{Client, Command, Event, Incoming, Message, runtime};
use tokio::runtime::Runtime;

use super::client;
use super::program::Program;

/// Nothing that is measured takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program under `node --inspect-brk`, and the connection to it.
pub(super) struct Bare {
    program: Program,
    /// Kept open, because Node writes there.
    _errors: BufReader<std::process::ChildStderr>,
    runtime: Runtime,
    client: Client,
    incoming: Incoming,
    breakpoint: String,
    /// The stack comes with the stop.
    stop: Paused,
}

impl Bare {
    /// Starts a program and runs it to a line, which counts from 1.
    pub(super) fn stopped(node: &Path, program: &Path, line: u32) -> anyhow::Result<Self> {
        Self::stopped_in(node, program, program, line)
    }

    /// The same with the line in a script that the program loads.
    pub(super) fn stopped_in(node: &Path, program: &Path, script: &Path, line: u32) -> anyhow::Result<Self> {
        let command = &mut super::child(node);
        let mut child = Program::start(command.arg("--inspect-brk=0").arg(program), Stdio::piped())?;
        let mut errors = BufReader::new(child.take_errors().context("no standard error")?);
        let address = announced(&mut errors)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (client, incoming) = runtime.block_on(async {
            let (client, incoming, driver) = cdp::connect(&address, PATIENCE).await?;
            tokio::spawn(driver);
            anyhow::Ok((client, incoming))
        })?;
        let mut bare = Self {
            program: child,
            _errors: errors,
            runtime,
            client,
            incoming,
            breakpoint: String::new(),
            stop: Paused::default(),
        };
        bare.run_to(script, line)?;
        Ok(bare)
    }

    /// Every reply is awaited: Node 20 sometimes forgets to run the program otherwise.
    fn run_to(&mut self, script: &Path, line: u32) -> anyhow::Result<()> {
        self.request(debugger::Enable::default())?;
        let set = self.request(debugger::SetBreakpointByUrl {
            line_number: i32::try_from(line)? - 1,
            url: Some(format!("file://{}", script.canonicalize()?.display())),
            ..Default::default()
        })?;
        self.breakpoint = set.breakpoint_id;
        self.request(runtime::RunIfWaitingForDebugger::default())?;
        self.wait_for_stop()?;
        self.request(debugger::Resume::default())?;
        self.wait_for_stop()?;
        anyhow::ensure!(self.line() == i32::try_from(line)? - 1, "stopped elsewhere: {:?}", self.stop.reason);
        Ok(())
    }

    fn line(&self) -> i32 {
        self.stop.call_frames.first().map_or(-1, |frame| frame.location.line_number)
    }

    fn wait_for_stop(&mut self) -> anyhow::Result<()> {
        let incoming = &mut self.incoming;
        let stop = async {
            loop {
                let message = incoming.recv().await.context("the connection is closed")?;
                if let Message::Event(Event::Paused(stop)) = message {
                    return anyhow::Ok(*stop);
                }
            }
        };
        // The runtime's clock runs only while it is entered.
        self.stop = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, stop).await })??;
        Ok(())
    }

    fn request<C: Command>(&self, command: C) -> anyhow::Result<C::Result> {
        Ok(self.runtime.block_on(self.client.request(command, PATIENCE))?)
    }
}

impl client::Client for Bare {
    /// One round trip. Of an object, V8 sends a preview.
    fn evaluate(&mut self, expression: &str) -> anyhow::Result<()> {
        let frame = self.stop.call_frames.first().context("no frame")?;
        let evaluated = self.request(debugger::EvaluateOnCallFrame {
            call_frame_id: frame.call_frame_id.clone(),
            expression: expression.to_owned(),
            generate_preview: true,
            silent: true,
            ..Default::default()
        })?;
        anyhow::ensure!(evaluated.exception_details.is_none(), "thrown: {:?}", evaluated.exception_details);
        Ok(())
    }

    /// One round trip for each scope up to the function's own.
    fn locals(&mut self) -> anyhow::Result<()> {
        let frame = self.stop.call_frames.first().context("no frame")?;
        for scope in &frame.scope_chain {
            let object_id = scope.object.object_id.clone().context("a scope without an object")?;
            self.request(runtime::GetProperties {
                object_id,
                own_properties: true,
                generate_preview: true,
                ..Default::default()
            })?;
            if scope.kind == "local" {
                break;
            }
        }
        Ok(())
    }

    /// Known from the stop.
    fn stack(&mut self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.stop.call_frames.is_empty(), "no frames");
        Ok(())
    }

    /// Steps to another line, which can be several of V8's steps, and asks for what a report holds.
    fn step(&mut self) -> anyhow::Result<()> {
        let before = self.line();
        while self.line() == before {
            self.request(debugger::StepOver::default())?;
            self.wait_for_stop()?;
        }
        self.locals()
    }

    fn pass(&mut self, expression: &str) -> anyhow::Result<()> {
        self.evaluate(expression)?;
        self.request(debugger::Resume::default())?;
        self.wait_for_stop()
    }

    fn clear_breakpoints(&mut self) -> anyhow::Result<()> {
        let breakpoint_id = std::mem::take(&mut self.breakpoint);
        self.request(debugger::RemoveBreakpoint { breakpoint_id })?;
        Ok(())
    }

    fn end(self) {
        drop(self.program);
    }
}

/// Reads until Node prints its inspector's address.
pub(super) fn announced(errors: &mut impl BufRead) -> anyhow::Result<cdp::Address> {
    loop {
        let mut line = String::new();
        anyhow::ensure!(errors.read_line(&mut line)? > 0, "no inspector was announced");
        if let Some(address) = cdp::discovery::listening(&line) {
            return Ok(address);
        }
    }
}
