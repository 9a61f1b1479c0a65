//! Which key does what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::Overlay;

/// An action of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    /// One thing back: closes what is open, else takes away a filter.
    Back,
    Help,
    /// To the next pane, or the one before.
    Focus(Direction),
    /// Down or up in the pane, by lines.
    Move(Direction),
    /// The same by screens.
    Page(Direction),
    /// Through time, by one row.
    Step(Direction),
    /// To the first row.
    First,
    /// To the end, and stay there.
    Live,
    Error(Direction),
    Stop(Direction),
    /// Replay, or stop to.
    Play,
    /// Replay faster, or slower.
    Speed(Direction),
    /// Shows other kinds of rows.
    Kinds(Direction),
    /// Begins to type a text.
    Search,
    /// Shows what is chosen, whole.
    Open,
    /// Shows the raw journal entry.
    Raw,
    /// Opens or closes what is chosen, in place.
    Toggle,
    /// The same for all calls.
    ToggleAll,
    Type(char),
    Erase,
    EraseAll,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Up, to the left, to what was before, slower.
    Back,
    Forward,
}

use Direction::{Back, Forward};

/// The keys and what they do, for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("← →  h l", "step back and forward through time"),
    ("↑ ↓  k j", "move in the pane; in the timeline, step"),
    ("PgUp PgDn", "move by screens (Ctrl-B, Ctrl-F)"),
    ("Home  g", "to the beginning"),
    ("End  G", "to the end, and follow"),
    ("e  E", "next error, previous error"),
    ("s  S", "next stop, previous stop"),
    ("Space", "replay from here, or stop the replay"),
    ("+  -", "replay faster, slower"),
    ("/", "filter by text"),
    ("f  F", "filter: calls, stops, output, errors"),
    ("Tab", "next pane (Shift-Tab: previous)"),
    ("Enter", "show the selection in full; show only this session"),
    ("r", "show the journal entry as JSON"),
    ("o  O", "expand a call or an object in place; expand all calls"),
    ("Esc", "back: close this, clear filters"),
    ("q", "quit (Ctrl-C everywhere)"),
    ("", ""),
    ("✓ ✗ ◐ ?", "a call: answered, failed, running, no answer"),
    ("■ ▲ ▷", "a stop, at an exception, another state"),
    ("● ○", "a breakpoint: bound, not bound"),
    ("= ◆ │ ┃", "values, a session, output, error output"),
];

/// The action of a key, given what lies over the panes.
pub(super) fn action(key: KeyEvent, overlay: &Overlay) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return with_control(key.code);
    }
    if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) {
        return None;
    }
    match overlay {
        Overlay::Search(_) => typing(key.code),
        _ => plain(key.code),
    }
}

fn with_control(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char('c') => Action::Quit,
        KeyCode::Char('b' | 'u') => Action::Page(Back),
        KeyCode::Char('f' | 'd') => Action::Page(Forward),
        KeyCode::Char('h') => Action::Erase,
        KeyCode::Char('w') => Action::EraseAll,
        _ => return None,
    })
}

fn typing(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char(char) => Action::Type(char),
        KeyCode::Backspace => Action::Erase,
        KeyCode::Enter => Action::Open,
        KeyCode::Esc => Action::Back,
        _ => return None,
    })
}

fn plain(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char('q') => Action::Quit,
        KeyCode::Esc | KeyCode::Backspace => Action::Back,
        KeyCode::Char('?') | KeyCode::F(1) => Action::Help,
        KeyCode::Tab => Action::Focus(Forward),
        KeyCode::BackTab => Action::Focus(Back),
        KeyCode::Up | KeyCode::Char('k') => Action::Move(Back),
        KeyCode::Down | KeyCode::Char('j') => Action::Move(Forward),
        KeyCode::PageUp => Action::Page(Back),
        KeyCode::PageDown => Action::Page(Forward),
        KeyCode::Left | KeyCode::Char('h') => Action::Step(Back),
        KeyCode::Right | KeyCode::Char('l') => Action::Step(Forward),
        KeyCode::Home | KeyCode::Char('g') => Action::First,
        KeyCode::End | KeyCode::Char('G') => Action::Live,
        KeyCode::Char('e') => Action::Error(Forward),
        KeyCode::Char('E') => Action::Error(Back),
        KeyCode::Char('s') => Action::Stop(Forward),
        KeyCode::Char('S') => Action::Stop(Back),
        KeyCode::Char(' ') => Action::Play,
        KeyCode::Char('+' | '=') => Action::Speed(Forward),
        KeyCode::Char('-' | '_') => Action::Speed(Back),
        KeyCode::Char('f') => Action::Kinds(Forward),
        KeyCode::Char('F') => Action::Kinds(Back),
        KeyCode::Char('/') => Action::Search,
        KeyCode::Enter => Action::Open,
        KeyCode::Char('r') => Action::Raw,
        KeyCode::Char('o') => Action::Toggle,
        KeyCode::Char('O') => Action::ToggleAll,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_usual_meaning() {
        let table = [
            (KeyCode::Char('q'), Some(Action::Quit), Some(Action::Type('q'))),
            (KeyCode::Esc, Some(Action::Back), Some(Action::Back)),
            (KeyCode::Left, Some(Action::Step(Back)), None),
            (KeyCode::Char('h'), Some(Action::Step(Back)), Some(Action::Type('h'))),
            (KeyCode::Char('l'), Some(Action::Step(Forward)), Some(Action::Type('l'))),
            (KeyCode::Char('j'), Some(Action::Move(Forward)), Some(Action::Type('j'))),
            (KeyCode::Up, Some(Action::Move(Back)), None),
            (KeyCode::Char('E'), Some(Action::Error(Back)), Some(Action::Type('E'))),
            (KeyCode::Char('G'), Some(Action::Live), Some(Action::Type('G'))),
            (KeyCode::End, Some(Action::Live), None),
            (KeyCode::Char(' '), Some(Action::Play), Some(Action::Type(' '))),
            (KeyCode::Char('/'), Some(Action::Search), Some(Action::Type('/'))),
            (KeyCode::Enter, Some(Action::Open), Some(Action::Open)),
            (KeyCode::Backspace, Some(Action::Back), Some(Action::Erase)),
            (KeyCode::Tab, Some(Action::Focus(Forward)), None),
            (KeyCode::F(12), None, None),
        ];
        let typing = Overlay::Search(String::new());
        for (code, plain, typed) in table {
            assert_eq!(action(KeyEvent::from(code), &Overlay::None), plain, "{code:?}");
            assert_eq!(action(KeyEvent::from(code), &typing), typed, "{code:?} while typing");
        }
    }

    #[test]
    fn control_c_quits_everywhere_and_key_releases_do_nothing() {
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for overlay in [Overlay::None, Overlay::Help(0), Overlay::Search(String::new())] {
            assert_eq!(action(key, &overlay), Some(Action::Quit));
        }
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(action(released, &Overlay::None), None);
        let alt = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT);
        assert_eq!(action(alt, &Overlay::None), None);
    }
}
