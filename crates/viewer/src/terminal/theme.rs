//! What things look like: the sixteen colours of the terminal, whatever they are there, and no background.
//!
//! Only colours that are readable on light and on dark are used, so neither yellow, blue nor white. Without colours,
//! attributes make the distinctions.

use ratatui::style::{Color, Modifier, Style};

use crate::lexer::Word;
use crate::timeline::Mark;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Not the point.
    Faint,
    /// The point.
    Strong,
    /// The title of a pane.
    Title,
    /// The title of the pane that the keys go to.
    Focus,
    /// The row that is chosen, in the pane that the keys go to.
    Chosen,
    /// The row that is chosen in another pane.
    Kept,
    Good,
    Bad,
    /// Written to where errors are written, which is not wrong by itself.
    ErrorOutput,
    /// It is in progress.
    Busy,
    /// Where a program is suspended.
    Place,
    Breakpoint,
    /// A value that is not what it was.
    Changed,
    Keyword,
    Literal,
    Number,
    Comment,
    Name,
}

impl From<Mark> for Role {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Busy | Mark::Unanswered => Self::Busy,
            Mark::Good => Self::Good,
            Mark::Bad | Mark::Thrown => Self::Bad,
            Mark::ErrorOutput => Self::ErrorOutput,
            Mark::Stop => Self::Place,
            Mark::Breakpoint => Self::Breakpoint,
            Mark::Session => Self::Strong,
            Mark::State | Mark::Variables | Mark::Output | Mark::Other => Self::Faint,
        }
    }
}

impl From<Word> for Role {
    fn from(word: Word) -> Self {
        match word {
            Word::Plain => Self::Plain,
            Word::Keyword => Self::Keyword,
            Word::Literal => Self::Literal,
            Word::Number => Self::Number,
            Word::Comment => Self::Comment,
            Word::Name => Self::Name,
        }
    }
}

/// How roles are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) has_colour: bool,
}

impl Theme {
    pub(super) fn style(self, role: Role) -> Style {
        let style = Style::new().add_modifier(attributes(role));
        match colour(role) {
            Some(colour) if self.has_colour => style.fg(colour),
            // Without its colour, what is wrong is underlined: nothing else is.
            _ if role == Role::Bad => style.add_modifier(Modifier::UNDERLINED),
            _ => style,
        }
    }
}

fn attributes(role: Role) -> Modifier {
    match role {
        Role::Strong | Role::Bad | Role::Busy | Role::Place | Role::Changed | Role::Title | Role::Kept => {
            Modifier::BOLD
        }
        Role::Focus => Modifier::BOLD.union(Modifier::REVERSED),
        Role::Chosen => Modifier::REVERSED,
        Role::Faint | Role::Comment => Modifier::DIM,
        _ => Modifier::empty(),
    }
}

fn colour(role: Role) -> Option<Color> {
    Some(match role {
        Role::Good | Role::Literal => Color::Green,
        Role::Bad | Role::ErrorOutput | Role::Breakpoint => Color::Red,
        Role::Busy | Role::Changed | Role::Keyword => Color::Magenta,
        Role::Place | Role::Number | Role::Name => Color::Cyan,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_only_attributes_are_used() {
        let roles = [Role::Good, Role::Bad, Role::Busy, Role::Place, Role::Focus, Role::Name, Role::Comment];
        for role in roles {
            let style = Theme { has_colour: false }.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
        let bad = Theme { has_colour: false }.style(Role::Bad);
        assert_eq!(bad.add_modifier, Modifier::BOLD | Modifier::UNDERLINED);
        assert_eq!(Theme { has_colour: true }.style(Role::Bad).fg, Some(Color::Red));
    }
}
