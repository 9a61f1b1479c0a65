//! Where each pane is. What does not fit is folded away, and the pane that the keys go to is always there.

use ratatui::layout::Rect;

use super::view::Pane;

/// Below this many columns or lines there is one line only.
const LEAST: (u16, u16) = (24, 5);
/// From this many columns on there are two columns of panes.
const TWO: u16 = 64;
/// From this many on there are three.
const THREE: (u16, u16) = (140, 24);

/// The source in a journal has 21 lines, and a title.
const SOURCE: u16 = 22;

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Instead of everything else, without enough room.
    pub(super) only_line: Option<Rect>,
    pub(super) header: Rect,
    pub(super) footer: Rect,
    /// Everything between.
    pub(super) body: Rect,
    /// Each with a line for its title.
    pub(super) panes: Vec<(Pane, Rect)>,
    /// The lines between columns.
    pub(super) dividers: Vec<Rect>,
}

impl Layout {
    /// For a screen, the pane that the keys go to, and this many rows of sessions.
    pub(super) fn of(screen: Rect, focus: Pane, sessions: usize) -> Self {
        if screen.width < LEAST.0 || screen.height < LEAST.1 {
            return Self {
                only_line: Some(Rect { height: screen.height.min(1), ..screen }),
                ..Self::default()
            };
        }
        let body = Rect { y: screen.y + 1, height: screen.height - 2, ..screen };
        let mut layout = Self {
            only_line: None,
            header: Rect { height: 1, ..screen },
            footer: Rect { y: screen.bottom() - 1, height: 1, ..screen },
            body,
            ..Self::default()
        };
        let sessions = sessions_height(sessions, body.height);
        if body.width >= THREE.0 && body.height >= THREE.1 {
            layout.three(sessions);
        } else if body.width >= TWO {
            layout.two(focus, sessions);
        } else {
            layout.one(focus);
        }
        layout
    }

    /// Where a pane is, if it is there.
    pub(super) fn pane(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(of, _)| *of == pane).map(|(_, area)| *area)
    }

    fn three(&mut self, sessions: u16) {
        let left = self.body.width * 38 / 100;
        let right = self.body.width * 26 / 100;
        let columns = self.columns(&[left, self.body.width - left - right, right]);
        let [first, second, third] = columns.as_slice() else { return };
        self.stack(*first, &[(Pane::Sessions, sessions), (Pane::Timeline, 0)]);
        self.stack(*second, &[(Pane::Source, (second.height / 2).min(SOURCE)), (Pane::Output, 0)]);
        self.stack(*third, &[(Pane::Variables, third.height * 60 / 100), (Pane::Stack, 0)]);
    }

    fn two(&mut self, focus: Pane, sessions: u16) {
        let columns = self.columns(&[self.body.width / 2, self.body.width - self.body.width / 2]);
        let [left, right] = columns.as_slice() else { return };
        let has_sessions = focus == Pane::Sessions || left.height >= 14;
        let sessions = if has_sessions { sessions.max(3).min(left.height / 2) } else { 0 };
        self.stack(*left, &[(Pane::Sessions, sessions), (Pane::Timeline, 0)]);
        let height = right.height;
        let panes: &[(Pane, u16)] = match height {
            // As much as can be read at once. A folded pane opens when the keys go to it.
            18.. => &[
                (Pane::Source, source_height(height)),
                (Pane::Variables, height * 29 / 100),
                (Pane::Stack, height * 14 / 100),
                (Pane::Output, 0),
            ],
            11..18 => match focus {
                Pane::Stack | Pane::Output => &[(Pane::Source, height / 2), (focus, 0)],
                _ => &[(Pane::Source, height / 2), (Pane::Variables, 0)],
            },
            _ => match focus {
                Pane::Variables | Pane::Stack | Pane::Output => &[(focus, 0)],
                _ => &[(Pane::Source, 0)],
            },
        };
        self.stack(*right, panes);
    }

    fn one(&mut self, focus: Pane) {
        let body = self.body;
        let other = if focus == Pane::Timeline { Pane::Source } else { focus };
        if body.height >= 12 {
            self.stack(body, &[(Pane::Timeline, body.height / 2), (other, 0)]);
        } else {
            self.stack(body, &[(focus, 0)]);
        }
    }

    /// Cuts the body into columns, with a line between them that is taken from the right one.
    fn columns(&mut self, widths: &[u16]) -> Vec<Rect> {
        let mut x = self.body.x;
        let mut columns = Vec::new();
        for (number, width) in widths.iter().enumerate() {
            let mut column = Rect { x, width: *width, ..self.body };
            x += width;
            if number > 0 {
                self.dividers.push(Rect { width: 1, ..column });
                column = Rect { x: column.x + 1, width: width.saturating_sub(1), ..column };
            }
            columns.push(column);
        }
        columns
    }

    /// Stacks panes. The last one takes the rest; those without lines are omitted.
    fn stack(&mut self, column: Rect, panes: &[(Pane, u16)]) {
        let mut y = column.y;
        for (number, (pane, height)) in panes.iter().enumerate() {
            let is_last = number + 1 == panes.len();
            let height = if is_last { column.bottom() - y } else { *height };
            if height > 0 {
                self.panes.push((*pane, Rect { y, height, ..column }));
            }
            y += height;
        }
    }
}

/// All of them when there are few, and never more than a quarter.
fn sessions_height(sessions: usize, body: u16) -> u16 {
    let wanted = u16::try_from(sessions).unwrap_or(u16::MAX).saturating_add(2);
    wanted.min(body / 4)
}

/// Some lines around the place, and never more than there are.
fn source_height(column: u16) -> u16 {
    (column * 36 / 100).clamp(6, SOURCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_collapse_as_space_shrinks() {
        use Pane::{Output, Sessions, Source, Stack, Timeline, Variables};
        let table: &[((u16, u16), Pane, &[Pane])] = &[
            ((10, 3), Timeline, &[]),
            ((0, 0), Timeline, &[]),
            ((24, 5), Timeline, &[Timeline]),
            ((24, 5), Output, &[Output]),
            ((40, 20), Timeline, &[Timeline, Source]),
            ((40, 20), Stack, &[Timeline, Stack]),
            ((80, 8), Timeline, &[Timeline, Source]),
            ((80, 8), Variables, &[Timeline, Variables]),
            ((80, 8), Sessions, &[Sessions, Timeline, Source]),
            ((80, 15), Timeline, &[Timeline, Source, Variables]),
            ((80, 15), Output, &[Timeline, Source, Output]),
            ((80, 24), Timeline, &[Sessions, Timeline, Source, Variables, Stack, Output]),
            ((200, 60), Timeline, &[Sessions, Timeline, Source, Output, Variables, Stack]),
        ];
        for ((width, height), focus, expected) in table {
            let layout = Layout::of(Rect::new(0, 0, *width, *height), *focus, 2);
            let panes: Vec<Pane> = layout.panes.iter().map(|(pane, _)| *pane).collect();
            assert_eq!(panes, *expected, "{width}x{height}");
        }
    }

    #[test]
    fn panes_stay_inside_the_body_without_overlap_at_every_size() {
        for width in 0..=210 {
            for height in 0..=70 {
                let screen = Rect::new(0, 0, width, height);
                for focus in Pane::ALL {
                    let layout = Layout::of(screen, focus, 40);
                    let areas: Vec<Rect> = layout.panes.iter().map(|(_, area)| *area).collect();
                    let areas: Vec<Rect> = areas.into_iter().chain(layout.dividers).collect();
                    for (number, area) in areas.iter().enumerate() {
                        assert_eq!(layout.body.intersection(*area), *area, "{width}x{height} {focus:?}");
                        assert!(areas.iter().skip(number + 1).all(|other| !area.intersects(*other)));
                    }
                    assert!(
                        layout.only_line.is_some() || layout.panes.iter().any(|(pane, _)| *pane == focus)
                    );
                }
            }
        }
    }
}
