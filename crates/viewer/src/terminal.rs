//! A journal in a terminal, while it is written or afterwards.
//!
//! Reading order: `view` (what is on the screen, as data), `draw` (draws that), `keys`, `app` (what a key changes,
//! and what is on the screen then), and this file (the terminal itself).
//!
//! Drawing is a pure function of the data and the size, and nothing is drawn that has not changed.

mod app;
mod draw;
mod keys;
mod layout;
mod replay;
mod rows;
mod text;
mod theme;
mod view;

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::{cursor, event, execute, queue, terminal};
use signal_hook::consts::TERM_SIGNALS;

use self::app::App;
use self::theme::Theme;
use crate::clock::{self, Clock};
use crate::log::Log;
use crate::source_context;

/// How many keys are taken before the screen is drawn again.
const KEYS: usize = 64;
/// How often the screen is drawn at most without input.
const FRAME: Duration = Duration::from_millis(33);

/// How a journal is shown.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The session to show alone: its id, the beginning of its id, its name, or `last`.
    pub session: Option<String>,
    /// Only attributes such as bold, and no colours.
    pub without_colour: bool,
}

/// Shows a journal until the user quits. A missing file is awaited. An error if there is no terminal, or no such
/// session.
pub fn run(path: &Path, options: &Options) -> io::Result<()> {
    if !io::stdout().is_terminal() {
        return Err(io::Error::other("standard output is not a terminal; use `stillframe report` for text"));
    }
    let mut log = Log::open(path)?;
    let session = options
        .session
        .as_deref()
        .map(|wanted| source_context::named_session(&mut log, wanted))
        .transpose()?;
    let is_asked_to_end = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS {
        signal_hook::flag::register(*signal, Arc::clone(&is_asked_to_end))?;
    }
    let app = App::new(log, path, Clock::local(), session);
    let theme = Theme { has_colour: !options.without_colour };
    let mut screen = Screen::open()?;
    let result = show(app, &mut screen.0, theme, &is_asked_to_end);
    drop(screen);
    result
}

type Output = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

fn show(mut app: App, screen: &mut Output, theme: Theme, is_asked_to_end: &AtomicBool) -> io::Result<()> {
    let mut drawn_at: Option<Instant> = None;
    // A key is answered at once; what the journal brings can wait for the next frame.
    let mut has_key = true;
    while !is_asked_to_end.load(Ordering::Relaxed) {
        let until_frame = drawn_at.map_or(Duration::ZERO, |at| FRAME.saturating_sub(at.elapsed()));
        if app.is_stale() && (has_key || until_frame.is_zero()) {
            screen.autoresize()?;
            let view = app.view(screen.get_frame().area(), clock::now());
            let mut drawn = draw::DrawnState::default();
            // Terminals that know this show the whole frame at once; the others ignore it.
            queue!(screen.backend_mut(), terminal::BeginSynchronizedUpdate)?;
            screen.draw(|frame| drawn = draw::draw(frame, &view, theme))?;
            execute!(screen.backend_mut(), terminal::EndSynchronizedUpdate)?;
            app.drawn(drawn, Instant::now());
            drawn_at = Some(Instant::now());
        }
        let mut wait = app.idle(Instant::now());
        if app.is_stale() {
            wait = wait.min(until_frame);
        }
        has_key = false;
        for _ in 0..KEYS {
            if !poll_for_event(wait)? {
                break;
            }
            wait = Duration::ZERO;
            has_key = true;
            match event::read()? {
                event::Event::Key(key) => {
                    let page = usize::from(screen.size()?.height / 2).max(1);
                    let action = keys::action(key, app.overlay());
                    if action.is_some_and(|action| !app.act(action, page)) {
                        return Ok(());
                    }
                }
                event::Event::Resize(..) => app.resized(),
                _ => {}
            }
        }
        app.tick(Instant::now());
    }
    Ok(())
}

/// Whether there is an event. A signal that interrupts the waiting is none.
fn poll_for_event(wait: Duration) -> io::Result<bool> {
    match event::poll(wait) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other,
    }
}

/// The terminal while it is ours. It is restored when this is dropped, and when the program panics.
struct Screen(Output);

impl Screen {
    fn open() -> io::Result<Self> {
        // The hook runs before anything is unwound, so what it says would be lost on the screen that is left.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore_terminal();
            before(panic);
        }));
        terminal::enable_raw_mode()?;
        let mut stdout = BufWriter::with_capacity(64 * 1024, io::stdout());
        let opened = execute!(stdout, terminal::EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout)));
        if opened.is_err() {
            restore_terminal();
        }
        opened.map(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // What waits to be written belongs to the screen that is left.
        let _ = Write::flush(self.0.backend_mut());
        restore_terminal();
    }
}

fn restore_terminal() {
    // When the terminal is gone, there is nowhere to report it.
    let mut stdout = io::stdout();
    let _ = execute!(stdout, terminal::EndSynchronizedUpdate, terminal::LeaveAlternateScreen, cursor::Show);
    let _ = stdout.flush();
    let _ = terminal::disable_raw_mode();
}

/// The keys and what they do, which another viewer has to offer too.
#[cfg(test)]
pub(crate) fn keys() -> &'static [(&'static str, &'static str)] {
    keys::HELP
}

#[cfg(test)]
mod tests;
