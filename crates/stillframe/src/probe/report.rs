//! What `probe` prints.

use std::fmt::Write;
use std::path::Path;

use engine::model::stop::headline;
use serde::{Deserialize, Serialize};
use tools::ops::dump::DumpedThread;
use tools::render::{CallerData, StopReport, ValueData, VariableData, detailed};
use unicode_width::UnicodeWidthStr;

use crate::terminal::{
    self, BAD, FAINT, GOOD, HEADING, NAME, PLACE, WARN, WIDTH, fit, styled, truncate_start, wrapped,
};

/// The longest column of names; a longer one pushes its value to the right.
const NAMES: usize = 24;

/// A stop report and the requested values.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProbeReport {
    #[serde(flatten)]
    pub(crate) stop: StopReport,
    /// The frames that called the one in which it stopped, with their variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) callers: Vec<CallerData>,
    /// One for each expression, in the order in which they were given.
    pub(crate) values: Vec<ValueData>,
    /// The other threads of a crash dump.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) threads: Vec<ThreadData>,
}

/// A thread that did not crash.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ThreadData {
    name: String,
    /// The innermost frames, each as `function file:line`.
    stack: Vec<String>,
}

impl From<DumpedThread> for ThreadData {
    fn from(DumpedThread { name, stack }: DumpedThread) -> Self {
        Self { name, stack }
    }
}

impl ProbeReport {
    /// As text: the location first, then the requested values, then the rest. The message is for a program without a
    /// location.
    pub(crate) fn to_text(&self, message: &str) -> String {
        let mut text = self.headline(message);
        text.push_str(&self.source());
        text.push_str(&self.exception());
        text.push_str(&self.asked());
        text.push_str(&self.locals());
        text.push_str(&self.stack());
        text.push_str(&self.threads());
        text.push_str(&self.output());
        for note in self.stop.further_notes() {
            text.push_str(&styled(WARN, wrapped(&format!("note: {note}"), "")));
        }
        text
    }

    fn headline(&self, message: &str) -> String {
        let stop = &self.stop;
        let Some(location) = &stop.location else {
            let style = if stop.exit_code == Some(0) { GOOD } else { WARN };
            return styled(style, wrapped(message, ""));
        };
        let reason = stop.reason.as_deref().unwrap_or("paused");
        let place = format!("{}:{}", short(&location.file), location.line);
        let made = location.generated.as_ref().map_or_else(String::new, |made| {
            let made = format!("{}:{}:{}", short(&made.file), made.line, made.column);
            format!(
                "  {}\n",
                styled(FAINT, format_args!("runs as {}", truncate_start(&made, WIDTH - "  runs as ".len())))
            )
        });
        let place = truncate_start(&place, WIDTH - reason.width().min(40) - " at ".len());
        let function = fit(&location.function, WIDTH - "  in ".len());
        let width = reason.width() + place.width() + function.width() + " at  in ".len();
        let gap = if width <= WIDTH { " " } else { "\n  " };
        format!(
            "{} at {}{gap}in {}\n{made}",
            styled(HEADING, reason),
            styled(PLACE, place),
            styled(NAME, function)
        )
    }

    fn source(&self) -> String {
        let mut text = String::new();
        for line in self.stop.source.lines() {
            let style = if line.starts_with('>') { PLACE } else { FAINT };
            let _ = writeln!(text, "{}", styled(style, fit(line, WIDTH)));
        }
        text
    }

    fn exception(&self) -> String {
        let Some(exception) = &self.stop.exception else { return String::new() };
        let headline = headline(&exception.type_name, exception.message.as_deref().unwrap_or_default());
        let mut text = styled(BAD, wrapped(&headline, ""));
        for line in detailed(&exception.stack, &headline).into_iter().flat_map(str::lines) {
            let _ = writeln!(text, "{}", styled(FAINT, fit(line, WIDTH)));
        }
        let mut lines = exception.stack.lines().peekable();
        while let Some(line) = lines.next() {
            if line.starts_with("Caused by: ") {
                text += &styled(BAD, wrapped(line, ""));
                // The cause may be of another thread, which the stack below does not show.
                if let Some(place) = lines.next_if(|next| next.trim_start().starts_with("at ")) {
                    text += &styled(FAINT, wrapped(place.trim_start(), "  "));
                }
            }
        }
        text
    }

    fn asked(&self) -> String {
        let mut text = String::new();
        for value in &self.values {
            let _ = match (&value.value, &value.error) {
                (Some(shown), _) => {
                    let shown = terminal::value(&value.expression, value.type_name.as_deref(), shown);
                    let named = format!("{} = {shown}", value.expression);
                    write!(text, "{}", styled(GOOD, wrapped(&named, "  ")))
                }
                (None, Some(error)) => {
                    let named = format!("{}: {error}", value.expression);
                    write!(text, "{}", styled(BAD, wrapped(&named, "  ")))
                }
                (None, None) => Ok(()),
            };
        }
        section("values", &text)
    }

    fn locals(&self) -> String {
        let Some(locals) = &self.stop.locals else { return String::new() };
        section("locals", &variables(locals, self.stop.more_locals, "  "))
    }

    /// The frames, each but the first with its variables below it.
    fn stack(&self) -> String {
        let mut text = String::new();
        for frame in &self.stop.stack_frames {
            let place = short_place(&frame.file, frame.line);
            let (name, place) = (fit(&frame.name, WIDTH - 2), truncate_start(&place, WIDTH - 6));
            let fits = name.width() + place.width() + 3 <= WIDTH;
            let gap = if fits { " " } else { "\n      " };
            let _ = writeln!(text, "  {}{gap}{}", styled(NAME, name), styled(FAINT, place));
            let Some(caller) = self.callers.iter().find(|caller| caller.frame.id == frame.id) else {
                continue;
            };
            text.push_str(&variables(&caller.locals, caller.more_locals, "    "));
            if let Some(problem) = &caller.problem {
                text.push_str(&styled(WARN, wrapped(problem, "    ")));
            }
        }
        if let Some(more) = self.stop.more_frames {
            let _ = writeln!(text, "  {}", styled(FAINT, format_args!("… and {more} more")));
        }
        section("stack", &text)
    }

    fn threads(&self) -> String {
        let mut text = String::new();
        for thread in &self.threads {
            let frames = thread.stack.join(" < ");
            text.push_str(&wrapped(&format!("{}: {frames}", thread.name), "  "));
        }
        section("other threads", &text)
    }

    fn output(&self) -> String {
        let mut text = String::new();
        if let Some(skipped) = self.stop.output_skipped {
            let _ = writeln!(text, "  {}", styled(FAINT, format_args!("… {skipped} earlier bytes")));
        }
        text.push_str(&terminal::output(&self.stop.output));
        section("output", &text)
    }
}

/// One line for each, and one for those that are not shown.
pub(crate) fn variables(variables: &[VariableData], more: Option<u64>, indent: &str) -> String {
    let width = WIDTH - indent.len();
    let names = variables.iter().map(|variable| variable.name.width()).max().unwrap_or(0).min(NAMES);
    let mut text = String::new();
    for variable in variables {
        let shown = terminal::value(&variable.name, Some(&variable.type_name), &variable.value);
        let name = fit(&variable.name, width - " =".len());
        let gap = " ".repeat(names.saturating_sub(name.width()));
        let room = width.saturating_sub(names.max(name.width()) + " = ".len());
        let _ = if room < NAMES {
            // A name that leaves no room for its value has a line of its own.
            let value = fit(shown, width - 4);
            writeln!(text, "{indent}{} =\n{indent}    {value}", styled(NAME, name))
        } else {
            writeln!(text, "{indent}{}{gap} = {}", styled(NAME, name), fit(shown, room))
        };
    }
    if let Some(more) = more {
        let _ = writeln!(text, "{indent}{}", styled(FAINT, format_args!("… and {more} more")));
    }
    text
}

fn section(name: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}\n{text}", styled(HEADING, name)) }
}

/// A line of a file, with the path from here; the file alone where the line is not known.
pub(crate) fn short_place(file: &str, line: u32) -> String {
    if line > 0 { format!("{}:{line}", short(file)) } else { short(file) }
}

/// A path from here, when it is below here.
pub(crate) fn short(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = Path::new(file).strip_prefix(here);
    below.map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}
