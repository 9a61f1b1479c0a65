//! Exceptions that something other than the user's code has caught, as far as the program's output shows them.
//!
//! A web framework answers with status 500, a task queue continues with the next task: they catch what a handler
//! throws, so the debugger does not stop. A traceback in the output shows that it was thrown.

use engine::adapter::Tracebacks;
use engine::adapter::tracebacks::{PrintedFrame, package, read_frame};
use engine::model::stop::ExceptionMode;
use engine::session::Session;
use journal::visible::uncoloured;

use super::settle::Settled;
use crate::error::{Next, Words};

/// How much of the output is read, in bytes.
const READ: usize = 64 * 1024;
/// The status of an answer that a server gives when something goes wrong in it.
const INTERNAL_SERVER_ERROR: u16 = 500;

/// An exception that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caught {
    /// It was printed.
    Printed {
        /// The file in which it was raised.
        file: String,
        /// The line.
        line: u32,
        /// The function; empty where it is not known.
        function: String,
        /// What has caught it.
        by: String,
        /// The traceback itself says so; otherwise it is the library that called the user's code.
        is_certain: bool,
    },
    /// A request was answered with this status.
    Answered(u16),
}

impl Caught {
    /// A sentence about it, with what to do next.
    pub fn sentence(&self, words: Words) -> String {
        let next = words(Next::StopWhereRaised);
        let next = if next.is_empty() { String::new() } else { format!("; {next}") };
        match self {
            Self::Printed { file, line, function, by, is_certain } => {
                let inside = if function.is_empty() { String::new() } else { format!(" in {function}") };
                let how = if *is_certain { "was" } else { "was probably" };
                format!("the exception raised at {file}:{line}{inside} {how} caught by {by}{next}")
            }
            Self::Answered(status) => {
                format!("the response status was {status}: an exception may have been caught{next}")
            }
        }
    }
}

/// The caught exception that unreported output shows, unless the program stops at such exceptions anyway, or just did. If
/// the program has failed, a stack that only may have been caught is ignored: it may be why it failed.
pub(super) async fn in_new_output(session: &Session, has_failed: bool) -> Option<Caught> {
    if !ignores_caught(session).await {
        return None;
    }
    let output = session.new_output(READ).with_whole_lines().text();
    let caught = in_text(&uncoloured(&output))?;
    let is_news = match &caught {
        Caught::Printed { file, line, is_certain, .. } => {
            (*is_certain || !has_failed) && !session.is_exception_reported(file, *line)
        }
        Caught::Answered(_) => true,
    };
    is_news.then_some(caught)
}

/// Notes that a server has answered with an error of its own, where its output does not say more.
pub(super) async fn by_server(session: &Session, settled: &mut Settled, status: u16) {
    if let Settled::Running { remarks, .. } | Settled::Ended { remarks, .. } = settled
        && status == INTERNAL_SERVER_ERROR
        && remarks.caught.is_none()
        && ignores_caught(session).await
    {
        remarks.caught = Some(Caught::Answered(status));
    }
}

/// Whether the program does not stop at what is caught.
async fn ignores_caught(session: &Session) -> bool {
    let mode = session.exception_breakpoints().await.map(|(wanted, _)| wanted.mode);
    matches!(mode, Ok(ExceptionMode::None | ExceptionMode::Uncaught))
}

/// The last one that a text shows.
fn in_text(text: &str) -> Option<Caught> {
    let mut last = None;
    let mut traceback = None::<(&dyn Tracebacks, Vec<PrintedFrame<'_>>)>;
    // A log in JSON has its line ends escaped.
    for line in text.lines().flat_map(|line| line.split("\\n")).chain([""]) {
        match (read_frame(line), &mut traceback) {
            (Some((_, frame)), Some((_, frames))) => frames.push(frame),
            (Some((language, frame)), None) => traceback = Some((language, vec![frame])),
            (None, Some(_)) if line.starts_with("    ") => {}
            (None, _) => {
                let ended = traceback.take();
                last = ended.and_then(|(language, frames)| caught_in(language, &frames)).or(last);
            }
        }
    }
    last
}

fn caught_in(language: &dyn Tracebacks, frames: &[PrintedFrame<'_>]) -> Option<Caught> {
    let by = frames.get(language.catcher(frames)?)?;
    let is_inward = !language.is_innermost_first();
    let mut users = frames.iter().filter(|frame| frame.is_users);
    let raised = if is_inward { users.next_back() } else { users.next() }?;
    Some(Caught::Printed {
        file: raised.file.to_owned(),
        line: raised.line,
        function: raised.function.to_owned(),
        by: describe(by),
        is_certain: is_inward,
    })
}

/// `flask (flask/app.py:1511)`.
fn describe(frame: &PrintedFrame<'_>) -> String {
    let parts: Vec<&str> = frame.file.rsplit('/').take(2).collect();
    if let (Some(package), [file, folder]) = (package(frame.file), parts.as_slice()) {
        return format!("{package} ({folder}/{file}:{})", frame.line);
    }
    format!("{}:{}", parts.first().unwrap_or(&frame.file), frame.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{inspector, quick, standard};

    const FLASK: &str = "[2026-01-01] ERROR in app: Exception on / [GET]\nTraceback (most recent call last):\n  \
         File \"/v/lib/python3.12/site-packages/flask/app.py\", line 1511, in wsgi_app\n    response = x()\n    \
         ^^^\n  File \"/p/app.py\", line 5, in index\n    return carts[name]\nKeyError: 'x'\n";

    fn sentence(text: &str) -> Option<String> {
        in_text(text).map(|caught| caught.sentence(quick))
    }

    #[test]
    fn outermost_frame_of_a_python_traceback_caught_the_exception() {
        let flask = "the exception raised at /p/app.py:5 in index was caught by flask (flask/app.py:1511)";
        assert_eq!(sentence(FLASK).as_deref(), Some(flask));
        let frame = |file: &str| format!("  File \"{file}\", line 7, in f\n    f()\n");
        let user = frame("/p/app.py");
        let table = [
            ("/usr/lib/python3.12/socketserver.py", Some("socketserver.py:7")),
            ("/v/lib/python3.12/site-packages/six.py", Some("six (site-packages/six.py:7)")),
            ("handle_request", Some("handle_request:7")),
            ("/usr/lib/python3.12/threading.py", None),
            ("<frozen runpy>", None),
            ("/p/main.py", None),
        ];
        for (outermost, by) in table {
            let expected =
                by.map(|by| format!("the exception raised at /p/app.py:7 in f was caught by {by}"));
            assert_eq!(sentence(&format!("{}{user}E", frame(outermost))), expected, "{outermost}");
        }
        assert_eq!(sentence(&frame("/v/lib/python3.12/site-packages/six.py")), None, "no user code");
        let chained = format!("{FLASK}\nDuring handling of the above exception, ...\n\n{user}E");
        assert_eq!(sentence(&chained).as_deref(), Some(flask));
    }

    #[test]
    fn calling_library_caught_a_javascript_error() {
        let stack = "Error: no\n    at total (/p/cart.js:2:9)\n    at /p/app.js:5:3\n    at Layer.handle \
                     (/p/node_modules/router/lib/layer.js:152:17)\n    at node:internal/x:1:1\n";
        let express =
            "the exception raised at /p/cart.js:2 in total was probably caught by router (lib/layer.js:152)";
        assert_eq!(sentence(stack).as_deref(), Some(express));
        let logged = format!("{{\"stack\":\"{}\",\"msg\":\"no\"}}\n", stack.trim().replace('\n', "\\n"));
        assert_eq!(sentence(&logged).as_deref(), Some(express));
        assert_eq!(sentence("Error: no\n    at f (/p/a.js:1:1)\n    at node:internal/x:1:1\n"), None);
        assert_eq!(sentence("come\n    at once to the (old) house\n"), None);
    }

    #[test]
    fn each_toolset_says_what_to_do() {
        let caught = Caught::Answered(500);
        assert_eq!(caught.sentence(quick), "the response status was 500: an exception may have been caught");
        assert!(caught.sentence(standard).contains("exceptions: userUnhandled`, in Go `all`"));
        assert!(caught.sentence(inspector).contains("breakOnCaught"));
    }
}
