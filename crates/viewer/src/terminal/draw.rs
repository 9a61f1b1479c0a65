//! Draws what is shown. A pure function of it and of the size of the screen.

mod bars;
mod output;
mod overlay;
mod source;
mod timeline;
mod values;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::layout::Layout;
use super::text::Strip;
use super::theme::{Role, Theme};
use super::view::{Overlay, Pane, Scrolls, View};

/// How far things were really scrolled: not beyond their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawnState {
    pub(super) scrolls: Scrolls,
    pub(super) overlay: usize,
    /// The path of the value that is chosen.
    pub(super) chosen_value: Option<String>,
}

/// What is in a pane.
struct PaneContent {
    title: String,
    lines: Vec<Line<'static>>,
    /// How far it is scrolled, after keeping it within its ends.
    scroll: i32,
}

/// The room for it, without its title.
#[derive(Clone, Copy)]
struct PaneSize {
    columns: usize,
    lines: usize,
}

/// Draws everything.
pub(super) fn draw(frame: &mut Frame, view: &View, theme: Theme) -> DrawnState {
    let screen = frame.area();
    let layout = Layout::of(screen, view.focus, view.sessions.len());
    let mut drawn = DrawnState { scrolls: view.scrolls, ..DrawnState::default() };
    let buffer = frame.buffer_mut();
    if let Some(area) = layout.only_line {
        put(buffer, area, &[bars::only_line(view, theme, area.width.into())]);
        return drawn;
    }
    put(buffer, layout.header, &[bars::header(view, theme, layout.header.width.into())]);
    put(buffer, layout.footer, &[bars::footer(view, theme, layout.footer.width.into())]);
    if let Some(content) = overlay::content(view, theme, layout.body) {
        drawn.overlay = usize::try_from(content.scroll).unwrap_or(0);
        pane(buffer, layout.body, &content, theme.style(Role::Focus), theme);
        return drawn;
    }
    for divider in &layout.dividers {
        let line = Line::styled("│", theme.style(Role::Faint));
        put(buffer, *divider, &vec![line; divider.height.into()]);
    }
    for (of, area) in &layout.panes {
        let content = content(*of, view, theme, room(*area));
        if *of == Pane::Variables {
            drawn.chosen_value = values::chosen(view);
        }
        if let Some(scroll) = drawn.scrolls.get_mut(of.number()) {
            *scroll = content.scroll;
        }
        let has_focus = *of == view.focus && !matches!(view.overlay, Overlay::Search(_));
        let style = theme.style(if has_focus { Role::Focus } else { Role::Title });
        pane(buffer, *area, &content, style, theme);
    }
    drawn
}

fn content(pane: Pane, view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    match pane {
        Pane::Sessions => timeline::sessions(view, theme, room),
        Pane::Timeline => timeline::timeline(view, theme, room),
        Pane::Source => source::content(view, theme, room),
        Pane::Variables => values::variables(view, theme, room),
        Pane::Stack => values::stack(view, theme, room),
        Pane::Output => output::content(view, theme, room),
    }
}

fn room(area: Rect) -> PaneSize {
    PaneSize { columns: area.width.into(), lines: area.height.saturating_sub(1).into() }
}

/// A title with a line after it, and what is below.
fn pane(buffer: &mut Buffer, area: Rect, content: &PaneContent, style: ratatui::style::Style, theme: Theme) {
    let columns = usize::from(area.width);
    let mut title = Strip::new(columns);
    title.push(&super::text::fit(&format!(" {} ", content.title), columns), style);
    let rest = title.room();
    title.push(&"─".repeat(rest), theme.style(Role::Faint));
    put(buffer, Rect { height: area.height.min(1), ..area }, &[title.line()]);
    let below = Rect { y: area.y + area.height.min(1), height: area.height.saturating_sub(1), ..area };
    put(buffer, below, &content.lines);
}

fn put(buffer: &mut Buffer, area: Rect, lines: &[Line]) {
    let area = area.intersection(buffer.area);
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

/// Keeps a scroll within this many lines, and returns the lines that are seen. `at` is the first one without a scroll.
fn window(total: usize, room: usize, at: usize, scroll: i32) -> (std::ops::Range<usize>, i32) {
    let last = i64::try_from(total.saturating_sub(room)).unwrap_or(0);
    let at = i64::try_from(at).unwrap_or(0).min(last);
    let first = (at + i64::from(scroll)).clamp(0, last);
    let scroll = i32::try_from(first - at).unwrap_or(0);
    let first = usize::try_from(first).unwrap_or(0);
    (first..total.min(first.saturating_add(room)), scroll)
}

/// What an empty pane says.
fn nothing(title: &str, text: &str, theme: Theme, room: PaneSize) -> PaneContent {
    let lines = wrap(text, room.columns.saturating_sub(1).max(1));
    let style = theme.style(Role::Faint);
    let lines = lines.into_iter().map(|line| {
        let mut strip = Strip::new(room.columns);
        strip.push(" ", style).push(&line, style);
        strip.line()
    });
    PaneContent { title: title.to_owned(), lines: lines.take(room.lines).collect(), scroll: 0 }
}

/// Breaks our own words into lines.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && super::text::width(line) + 1 + super::text::width(word) > columns {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
