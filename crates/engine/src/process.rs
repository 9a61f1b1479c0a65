//! The only place where a child process is started, watched and killed.
//!
//! A debuggee leads a process group of its own and carries a mark in its environment. Whatever it starts
//! is found again by one or the other, so that nothing outlives its session: [`Process::kill`] takes the
//! group and then everything that is marked, and a [guardian] does the same when this
//! process itself is killed. Where both are killed, a later server does it: see [presence].
//!
//! Tasks: for every process one that reads each of its pipes and one that waits for its end. They end with
//! the process.

mod alone;
pub mod background;
mod blocked;
mod code;
mod copy;
mod futex;
pub mod guardian;
mod hold;
mod identity;
mod injector;
mod leader;
mod line_filter;
mod marked;
mod parent;
mod ports;
pub mod presence;
mod proc;
mod spec;
mod terminal;
mod termination;
mod usage;
mod users_path;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, watch};

use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::Stdin;
use crate::model::stop::End;
use crate::output::{Category, Output};

use self::copy::{OutputCopy, copy};
use self::leader::Status;

pub use blocked::{blocked, is_in_call, is_waiting};
pub use code::{SessionProcesses, mapped_code};
pub use futex::Futex;
pub use hold::Hold;
pub use identity::Identity;
pub use injector::Injector;
pub use marked::MARK;
pub use parent::parent_gone;
pub use proc::{is_trap, only_computing, survives, threads};
pub use spec::ProcessSpec;
pub(crate) use spec::search_path;
pub use termination::Termination;
pub use usage::{ThreadUsage, Usage};
pub(crate) use users_path::users_path;

/// A variable of the server that no other program gets: with the token in it, a program that is debugged could
/// debug others.
const OWN_SECRET: &str = "STILLFRAME_HTTP_TOKEN";

/// A running debuggee. When the last clone goes, it is killed.
#[derive(Clone, Debug)]
pub struct Process(Arc<Guard>);

#[derive(Debug)]
struct Guard {
    pid: u32,
    mark: String,
    killed: Arc<AtomicBool>,
    /// What it started is gone.
    cleaned: AtomicBool,
    end: watch::Receiver<Option<End>>,
    number: Number,
    announced: watch::Receiver<Option<String>>,
}

/// The number of a process, which is that of its group too.
#[derive(Clone, Debug)]
struct Number {
    /// It may belong to another process by now.
    given_away: watch::Receiver<bool>,
    /// It must not be killed again.
    let_go: Arc<Notify>,
}

impl Process {
    /// Starts a debuggee that belongs to the session `session`. What it writes goes to `output`.
    pub fn spawn(spec: &ProcessSpec, session: &str, output: &Output) -> Result<Self> {
        let terminal = if spec.has_terminal { Some(terminal::open()?) } else { None };
        let (stdout, master) =
            terminal.map_or((Stdio::piped(), None), |(ours, theirs)| (theirs.into(), Some(ours)));
        let (mut child, mark) = start(spec, stdin(&spec.stdin)?, stdout, session)?;
        let mut stdin = child.stdin.take();
        if let (Stdin::Text(text), Some(mut pipe)) =
            (&spec.stdin, stdin.take_if(|_| spec.stdin != Stdin::Open))
        {
            let text = text.clone();
            // The program may end before it has read everything.
            tokio::spawn(async move { pipe.write_all(text.as_bytes()).await });
        }
        Self::watched(child, mark, spec, output, (stdin, master))
    }

    /// Starts one that is spoken to by its standard input and output; its standard error goes to `output`.
    pub fn spawn_piped(
        spec: &ProcessSpec,
        session: &str,
        output: &Output,
    ) -> Result<(Self, ChildStdin, ChildStdout)> {
        let (mut child, mark) = start(spec, Stdio::piped(), Stdio::piped(), session)?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or(Error::Lost)?;
        Ok((Self::watched(child, mark, spec, output, (None, None))?, stdin, stdout))
    }

    /// Starts one whose standard streams all belong to the caller.
    pub fn spawn_with_streams(
        spec: &ProcessSpec,
        session: &str,
    ) -> Result<(Self, ChildStdin, ChildStdout, ChildStderr)> {
        let (mut child, mark) = start(spec, Stdio::piped(), Stdio::piped(), session)?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or(Error::Lost)?;
        let stderr = child.stderr.take().ok_or(Error::Lost)?;
        Ok((Self::watched(child, mark, spec, &Output::new(), (None, None))?, stdin, stdout, stderr))
    }

    /// Copies what a child writes, to its terminal where it has one, and waits for its end. `open` is kept open until
    /// then.
    fn watched(
        mut child: Child,
        mark: String,
        spec: &ProcessSpec,
        output: &Output,
        (open, terminal): (Option<ChildStdin>, Option<terminal::Terminal>),
    ) -> Result<Self> {
        let pid = child.id().ok_or(Error::Lost)?;
        let announced = watch::Sender::new(None);
        let announcing = spec.announces.map(|line| (line, announced.clone()));
        let copied = |category, muted| OutputCopy {
            category,
            output: output.clone(),
            asked: output.source(),
            muted,
            announcing: announcing.clone(),
        };
        let pipes = [
            child.stdout.take().map(|pipe| tokio::spawn(copy(pipe, copied(Category::Stdout, &[])))),
            terminal.map(|terminal| tokio::spawn(copy(terminal, copied(Category::Stdout, &[])))),
            child.stderr.take().map(|pipe| tokio::spawn(copy(pipe, copied(Category::Stderr, spec.muted)))),
        ];
        let (ended, end) = watch::channel(None);
        let (gone, given_away) = watch::channel(false);
        let number = Number { given_away, let_go: Arc::new(Notify::new()) };
        let killed = Arc::new(AtomicBool::new(false));
        let (by_us, let_go) = (Arc::clone(&killed), Arc::clone(&number.let_go));
        tokio::spawn(async move {
            let mut status = leader::status(pid).await;
            let is_held = status.is_some() && leader::has_left_others(pid).await;
            if !is_held {
                let waited = child.wait().await;
                status = status.or_else(|| waited.ok().and_then(status_of));
                release_pid(pid, &gone);
            }
            drop(open);
            let drained = async {
                for pipe in pipes.into_iter().flatten() {
                    let _ = pipe.await;
                }
            };
            // Processes that the program has left running may hold the pipes open forever.
            let _ = tokio::time::timeout(deadlines::DRAIN, drained).await;
            ended.send_replace(Some(end_of(status, by_us.load(Ordering::Acquire))));
            if is_held {
                let_go.notified().await;
                let _ = child.wait().await;
                release_pid(pid, &gone);
            }
        });
        let announced = announced.subscribe();
        Ok(Self(Arc::new(Guard {
            pid,
            mark,
            killed,
            cleaned: AtomicBool::new(false),
            end,
            number,
            announced,
        })))
    }

    /// The rest of the line that begins with [`ProcessSpec::announces`], once it was written; none when the process
    /// ends without it.
    pub async fn announced(&self) -> Option<String> {
        let mut announced = self.0.announced.clone();
        announced.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Of a debugger that attaches: if the server is killed, it may detach before it is killed, too.
    pub fn let_detach(&self) {
        guardian::let_detach(self.pid());
    }

    /// The operating system's number.
    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    /// Waits for the end of the process and of its output.
    pub fn ended(&self) -> impl Future<Output = End> + Send + use<> {
        let mut end = self.0.end.clone();
        async move {
            let end = end.wait_for(Option::is_some).await;
            end.ok().and_then(|end| end.clone()).unwrap_or(End::Lost)
        }
    }

    /// How the process has ended; none while it runs, or its output is not complete.
    pub fn end(&self) -> Option<End> {
        self.0.end.borrow().clone()
    }

    /// Interrupts the process and its group, as Ctrl-C does in a terminal.
    pub fn interrupt(&self) {
        if !*self.0.number.given_away.borrow() {
            marked::interrupt_group(self.pid());
        }
    }

    /// Kills the process and everything that it started, and waits until they are gone.
    pub async fn kill(&self) {
        let guard = Arc::clone(&self.0);
        let _ = tokio::task::spawn_blocking(move || guard.kill()).await;
        let mut given_away = self.0.number.given_away.clone();
        let _ = tokio::time::timeout(deadlines::KILL, given_away.wait_for(|gone| *gone)).await;
    }
}

impl Guard {
    fn kill(&self) {
        if self.end.borrow().is_none() {
            self.killed.store(true, Ordering::Release);
        }
        // The group may have members when the process that leads it has ended.
        if !*self.number.given_away.borrow() {
            marked::kill_group(self.pid);
        }
        marked::kill_marked(&self.mark);
        self.cleaned.store(true, Ordering::Release);
        self.number.let_go.notify_one();
    }
}

impl Drop for Guard {
    /// The search for leftovers takes a while, and this may run on a thread that serves others.
    fn drop(&mut self) {
        if self.cleaned.load(Ordering::Acquire) {
            return;
        }
        let rest = Self {
            pid: self.pid,
            mark: self.mark.clone(),
            killed: Arc::clone(&self.killed),
            cleaned: AtomicBool::new(true),
            end: self.end.clone(),
            number: self.number.clone(),
            announced: self.announced.clone(),
        };
        std::thread::spawn(move || rest.kill());
    }
}

/// Starts a child with pipes, marked as one of the session, and has the guardian watch it.
fn start(spec: &ProcessSpec, stdin: Stdio, stdout: Stdio, session: &str) -> Result<(Child, String)> {
    guardian::wake();
    let mark = marked::mark_of_next(session);
    let mut command = command(spec)?;
    command.env(MARK, &mark).stdin(stdin).stdout(stdout).stderr(Stdio::piped());
    command.process_group(0);
    let child = command.spawn().map_err(|error| cannot_start(spec, &error))?;
    guardian::watch(child.id().ok_or(Error::Lost)?);
    Ok((child, mark))
}

/// What a helper process printed.
#[derive(Clone, Debug)]
pub struct HelperOutput {
    /// It ended well.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a helper process to its end. It is killed at the deadline, or when the future is dropped.
pub async fn run(spec: &ProcessSpec, deadline: Duration) -> Result<HelperOutput> {
    run_telling(spec, deadline, &|_| ()).await
}

/// The same, and each line of its standard error is passed to `said` immediately.
pub async fn run_telling(
    spec: &ProcessSpec,
    deadline: Duration,
    said: &(dyn Fn(&str) + Send + Sync),
) -> Result<HelperOutput> {
    let (mut child, mut group) = start_helper(spec)?;
    let work = async {
        if let (Stdin::Text(text), Some(mut pipe)) = (&spec.stdin, child.stdin.take()) {
            // Helpers read everything before they print more than a pipe holds.
            let _ = pipe.write_all(text.as_bytes()).await;
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = tokio::join!(everything(stdout, &|_| ()), everything(stderr, said));
        Ok::<_, io::Error>((child.wait().await?, stdout, stderr))
    };
    let finished = tokio::time::timeout(deadline, work).await;
    let finished = finished
        .map_err(|_| Error::Deadline { what: format!("`{}`", spec.program.display()), after: deadline })?;
    let (status, stdout, stderr) = finished.map_err(|error| cannot_start(spec, &error))?;
    group.ended = true;
    Ok(HelperOutput { success: status.success(), stdout, stderr })
}

/// All that comes from a pipe, line by line.
async fn everything<R: AsyncRead + Unpin>(pipe: Option<R>, said: &(dyn Fn(&str) + Send + Sync)) -> String {
    let Some(pipe) = pipe else { return String::new() };
    let (mut pipe, mut bytes, mut line) = (BufReader::new(pipe), Vec::new(), 0);
    while matches!(pipe.read_until(b'\n', &mut bytes).await, Ok(1..)) {
        said(&String::from_utf8_lossy(bytes.get(line..).unwrap_or_default()));
        line = bytes.len();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The process group of a helper. Unless the helper has ended, it is killed when this is dropped, with what
/// the helper has started.
#[derive(Debug)]
struct HelperGroup {
    leader: u32,
    /// The number may belong to another process by now.
    ended: bool,
}

impl Drop for HelperGroup {
    fn drop(&mut self) {
        if !self.ended {
            marked::kill_group(self.leader);
        }
        guardian::forget(self.leader);
    }
}

fn start_helper(spec: &ProcessSpec) -> Result<(Child, HelperGroup)> {
    let (child, _) = start(spec, stdin(&spec.stdin)?, Stdio::piped(), "helper")?;
    let leader = child.id().ok_or(Error::Lost)?;
    Ok((child, HelperGroup { leader, ended: false }))
}

/// Whether a process of this number exists.
pub fn exists(pid: u32) -> bool {
    marked::exists(pid)
}

/// Whether a signal such as SIGSTOP, which is not ours, has stopped a process, which then does not respond.
pub fn is_stopped(pid: u32) -> bool {
    identity::is_stopped(pid) && !hold::is_held(pid)
}

/// The running child processes of a process, if the system reports them.
pub fn children(pid: u32) -> Vec<u32> {
    identity::children(pid)
}

/// The ports of this machine on which a process accepts connections, if the system reports them.
pub fn listening_ports(pid: u32) -> Vec<u16> {
    ports::listening(pid)
}

/// The local process that is debugged at a loopback port, if the system reports it. `is_relay` is whether a process
/// only relays messages to the debugged one.
pub fn debuggee_at(port: u16, is_relay: impl Fn(u32) -> bool) -> Option<u32> {
    ports::debuggee_at(port, is_relay)
}

/// Sends the signal at which Node opens its inspector. False, and nothing is sent, when the process has no
/// handler for it and would be ended.
pub fn ask_for_inspector(pid: u32) -> bool {
    let signal = rustix::process::Signal::USR1.as_raw();
    let has_handler = cfg!(not(target_os = "linux")) || proc::has_signal(pid, "SigCgt", signal);
    has_handler && marked::ask_for_inspector(pid)
}

/// Makes a process look up from a system call. A program that does not listen for the signal ignores it.
pub fn interrupt_system_call(pid: u32) {
    marked::interrupt_system_call(pid);
}

#[expect(clippy::disallowed_methods, reason = "this is the place where child processes start")]
fn command(spec: &ProcessSpec) -> Result<Command> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).env_remove(OWN_SECRET).envs(users_path().map(|path| ("PATH", path)));
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(cwd) = &spec.cwd {
        if !cwd.is_dir() {
            return Err(Error::BadFile { path: cwd.clone(), problem: "is not a directory".to_owned() });
        }
        command.current_dir(cwd);
    }
    Ok(command)
}

fn stdin(stdin: &Stdin) -> Result<Stdio> {
    Ok(match stdin {
        Stdin::Empty => Stdio::null(),
        Stdin::Text(_) | Stdin::Open => Stdio::piped(),
        Stdin::File(path) => crate::sources::open_input(path)?.into(),
    })
}

fn cannot_start(spec: &ProcessSpec, error: &io::Error) -> Error {
    Error::Environment {
        problem: format!("cannot start `{}`: {error}", spec.program.display()),
        remedy: "check the path and its permissions, or give another one as `executablePath`".to_owned(),
    }
}

fn status_of(status: ExitStatus) -> Option<Status> {
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Some(Status::Killed(signal));
    }
    status.code().map(Status::Exited)
}

fn end_of(status: Option<Status>, by_us: bool) -> End {
    match status {
        Some(Status::Exited(code)) => End::Exited(code),
        Some(Status::Killed(signal)) => End::Killed { signal, by_us },
        None => End::Lost,
    }
}

/// The system gives the number to another process from now on.
fn release_pid(pid: u32, gone: &watch::Sender<bool>) {
    guardian::forget(pid);
    gone.send_replace(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            ..Default::default()
        }
    }

    async fn run_to_end(spec: &ProcessSpec) -> (End, String) {
        let output = Output::new();
        let process = Process::spawn(spec, "test", &output).unwrap();
        (process.ended().await, output.read(0, 1000).text())
    }

    #[tokio::test]
    async fn exit_status_arrives_after_all_output() {
        let table = [
            ("echo out; exit 3", End::Exited(3), "out\n"),
            ("echo err >&2", End::Exited(0), "err\n"),
            ("kill -SEGV $$", End::Killed { signal: 11, by_us: false }, ""),
        ];
        for (script, end, output) in table {
            assert_eq!(run_to_end(&shell(script)).await, (end, output.to_owned()), "{script}");
        }
    }

    #[tokio::test]
    async fn what_was_written_is_there_once_the_output_has_caught_up() {
        for has_terminal in [false, true] {
            let output = Output::new();
            let spec = ProcessSpec { has_terminal, ..shell("echo out; echo err >&2; exec sleep 1000") };
            let process = Process::spawn(&spec, "ahead", &output).unwrap();
            let command = format!("/proc/{}/comm", process.pid());
            // Nothing else runs in this thread meanwhile, so nothing is copied.
            while std::fs::read_to_string(&command).unwrap() != "sleep\n" {
                std::thread::yield_now();
            }
            assert_eq!(output.end(), 0);
            output.caught_up().await;
            let read = output.read(0, 1000);
            assert_eq!(read.text_of(Category::Stdout), "out\n");
            assert_eq!(read.text_of(Category::Stderr), "err\n");
            process.kill().await;
        }
    }

    #[tokio::test]
    async fn stdin_is_empty_a_text_or_a_file() {
        let cat = |stdin| ProcessSpec { stdin, ..shell("cat") };
        assert_eq!(run_to_end(&cat(Stdin::Empty)).await.1, "");
        assert_eq!(run_to_end(&cat(Stdin::Text("hello".to_owned()))).await.1, "hello");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "from a file").unwrap();
        assert_eq!(run_to_end(&cat(Stdin::File(file.path().to_owned()))).await.1, "from a file");
        let missing = Process::spawn(&cat(Stdin::File("/no/such/file".into())), "test", &Output::new());
        assert_eq!(missing.unwrap_err().code(), "file_unusable");
    }

    #[tokio::test]
    async fn kill_ends_children_and_those_who_left_the_group() {
        let output = Output::new();
        let script = "sleep 1000 & setsid sleep 1000 & echo started; wait";
        let process = Process::spawn(&shell(script), "killed", &output).unwrap();
        let mut written = output.watch();
        written.wait_for(|end| *end > 0).await.unwrap();
        assert!(marked::marked(&marked::mark("killed")).len() >= 3);
        process.kill().await;
        assert_eq!(process.ended().await, End::Killed { signal: 9, by_us: true });
        assert!(marked::marked(&marked::mark("killed")).is_empty());
    }

    /// Without a mark, leftovers are identified by their group alone, while the number belongs to it.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn kill_ends_a_group_whose_leader_has_exited() {
        let output = Output::new();
        let script = "env -i /bin/sleep 1000 & echo $!";
        let process = Process::spawn(&shell(script), "left", &output).unwrap();
        assert_eq!(process.ended().await, End::Exited(0));
        let left: u32 = output.read(0, 100).text().trim().parse().unwrap();
        let left = Identity::of(left);
        assert!(left.is_alive());
        process.kill().await;
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while left.is_alive() {
            assert!(std::time::Instant::now() < until, "it was left");
            std::thread::yield_now();
        }
        assert!(!marked::exists(process.pid()), "its number is given away");
    }

    /// In the midst of `execve`, the system shows no variables of a process.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_process_is_found_during_exec() {
        let output = Output::new();
        let script = "echo started; exec sh -c 'test $0 = 0 || exec sh -c \"$1\" $(($0 - 1)) \"$1\"' 500 \
                      'test $0 = 0 && exec sleep 1000; exec sh -c \"$1\" $(($0 - 1)) \"$1\"'";
        let process = Process::spawn(&shell(script), "becoming", &output).unwrap();
        output.watch().wait_for(|end| *end > 0).await.unwrap();
        let mark = marked::mark("becoming");
        for look in 0..300 {
            assert_eq!(marked::marked(&mark), [process.pid()], "look {look}");
        }
        process.kill().await;
    }

    #[tokio::test]
    async fn dropping_the_last_handle_kills() {
        let output = Output::new();
        let process = Process::spawn(&shell("echo started; sleep 1000"), "dropped", &output).unwrap();
        output.watch().wait_for(|end| *end > 0).await.unwrap();
        let ended = process.ended();
        drop(process);
        assert_eq!(ended.await, End::Killed { signal: 9, by_us: true });
    }

    #[tokio::test]
    async fn failed_spawn_reports_the_reason() {
        let spec = ProcessSpec { program: "/no/such/program".into(), ..Default::default() };
        let error = Process::spawn(&spec, "test", &Output::new()).unwrap_err();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
        let spec = ProcessSpec { cwd: Some("/no/such/dir".into()), ..shell("true") };
        assert_eq!(Process::spawn(&spec, "test", &Output::new()).unwrap_err().code(), "file_unusable");
    }

    #[tokio::test]
    async fn a_helper_that_times_out_is_killed() {
        let started = std::time::Instant::now();
        let late = run(&shell("sleep 1000"), Duration::from_millis(50)).await;
        assert_eq!(late.unwrap_err().code(), "deadline_exceeded");
        assert!(started.elapsed() < Duration::from_secs(100));
    }
}
