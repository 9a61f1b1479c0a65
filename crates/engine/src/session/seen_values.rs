//! The values at earlier stops, and what has changed since.
//!
//! The variables of a frame, and what is reachable from them within limits, are compared with those at the last stop
//! in the same function at the same depth of the same thread. Values are compared by their text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

use super::Session;
use crate::deadlines;
use crate::lock::lock;
use crate::model::ids::{Reference, ThreadId};
use crate::model::stack::StackFrame;
use crate::model::variable::{Children, ExpandedValue, Expansion};

/// How many frames are remembered.
const FRAMES: usize = 16;
/// What is compared besides the variables.
pub const EXPANSION: Expansion = Expansion { values: 4, children: 20, depth: 2, within: deadlines::COMPARE };

/// The values that were seen in frames, those of the latest stop last.
#[derive(Debug, Default)]
pub(super) struct SeenValues(Mutex<VecDeque<(FrameIdentity, Seen)>>);

/// What makes a frame the same at two stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameIdentity {
    /// The thread.
    pub thread: ThreadId,
    /// The function.
    pub function: String,
    /// The source.
    pub source: String,
    /// How many frames the stack has below it.
    pub depth: usize,
}

impl FrameIdentity {
    /// Of the innermost frame of a stack with this many.
    pub fn of(thread: ThreadId, frame: &StackFrame<Reference>, depth: usize) -> Self {
        let source = frame.location.as_ref().map(|location| location.source.name.clone());
        Self { thread, function: frame.name.clone(), source: source.unwrap_or_default(), depth }
    }
}

/// The values of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The texts by path, such as `cart.items[0]`.
    texts: BTreeMap<String, String>,
    /// The order of the paths.
    order: Vec<String>,
    /// The values whose children were read; the frame itself is the empty path.
    expanded: BTreeSet<String>,
    /// Those of them of which only some children were read.
    cut: BTreeSet<String>,
}

/// A value that has changed since an earlier stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedValue {
    /// The variable, and the way from there.
    pub path: String,
    /// Its text before; none if it is new.
    pub old: Option<String>,
    /// Its text now; none if it is gone.
    pub new: Option<String>,
}

impl Seen {
    /// The values of variables and of what was read with them.
    fn at(locals: &Children<Reference>, expanded: &[ExpandedValue]) -> Self {
        let mut seen = Self::default();
        seen.expand("", locals);
        let mut paths: Vec<String> = Vec::with_capacity(expanded.len());
        for ExpandedValue { parent, name, children } in expanded {
            let above = parent.and_then(|place| paths.get(place)).map_or("", String::as_str);
            let path = path_of(above, name);
            seen.expand(&path, children);
            paths.push(path);
        }
        seen
    }

    /// Adds the children of a value.
    fn expand<Id>(&mut self, path: &str, children: &Children<Id>) {
        self.expanded.insert(path.to_owned());
        let read = children.start + children.variables.len() as u64;
        if children.start > 0 || read < children.total {
            self.cut.insert(path.to_owned());
        }
        // What a pointer points to may have no name: its own children belong to the pointer.
        for child in children.variables.iter().filter(|child| !child.name.is_empty()) {
            self.add(path_of(path, &child.name), child.value.text.clone());
        }
    }

    fn add(&mut self, path: String, text: String) {
        if self.texts.insert(path.clone(), text).is_none() {
            self.order.push(path);
        }
    }

    /// What differs, in the order of the variables. What contains another change is left out.
    fn changes(&self, before: &Self) -> Vec<ChangedValue> {
        // What is missing where only some were read may have been there all the same.
        let lacks =
            |seen: &Self, path: &str| !seen.texts.contains_key(path) && seen.cut.contains(parent(path));
        let is_comparable = |path: &str| {
            let parent = parent(path);
            self.expanded.contains(parent)
                && before.expanded.contains(parent)
                && !lacks(self, path)
                && !lacks(before, path)
        };
        let other = self.order.iter().filter(|path| before.texts.get(*path) != self.texts.get(*path));
        let gone = before.order.iter().filter(|path| !self.texts.contains_key(*path));
        let changed: Vec<&String> = other.chain(gone).filter(|path| is_comparable(path)).collect();
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let explained =
            |path: &str| self.texts.contains_key(path) && changed.iter().any(|other| is_within(other, path));
        // What is inside something new, or gone, says nothing more.
        let is_new = |path: &str| before.texts.contains_key(path) != self.texts.contains_key(path);
        let new: Vec<&String> = changed.iter().copied().filter(|path| is_new(path)).collect();
        let is_part = |path: &str| new.iter().any(|outer| is_within(path, outer));
        changed
            .iter()
            .filter(|path| !explained(path) && !is_part(path))
            .map(|path| ChangedValue {
                path: as_written(path),
                old: before.texts.get(*path).cloned(),
                new: self.texts.get(*path).cloned(),
            })
            .collect()
    }
}

/// The path of what a value is in.
fn parent(path: &str) -> &str {
    path.rfind(['.', '[']).and_then(|end| path.get(..end)).unwrap_or_default()
}

/// The path of a child.
fn path_of(parent: &str, name: &str) -> String {
    let is_key = |letter: char| letter.is_ascii_digit() || matches!(letter, '\'' | '"' | '-' | '(');
    if name.is_empty() {
        parent.to_owned()
    } else if parent.is_empty() {
        as_one_step(name).into_owned()
    } else if name.starts_with(is_key) {
        format!("{parent}[{}]", as_one_step(name))
    } else if let Some(item) = name.strip_prefix('[') {
        format!("{parent}[{}", as_one_step(item))
    } else {
        format!("{parent}.{}", as_one_step(name))
    }
}

/// What a dot and a bracket in a name are in a path, where they would look like another step.
const IN_NAMES: [(&str, &str); 2] = [(".", "\u{1}"), ("[", "\u{2}")];

fn as_one_step(name: &str) -> Cow<'_, str> {
    if name.contains(['.', '[']) {
        Cow::Owned(
            IN_NAMES.iter().fold(name.to_owned(), |name, (letter, instead)| name.replace(letter, instead)),
        )
    } else {
        Cow::Borrowed(name)
    }
}

fn as_written(path: &str) -> String {
    IN_NAMES.iter().fold(path.to_owned(), |path, (letter, instead)| path.replace(instead, letter))
}

impl SeenValues {
    /// Remembers the values of a frame, and returns what has changed; none if the frame was not seen before.
    fn note(&self, frame: FrameIdentity, seen: Seen) -> Option<Vec<ChangedValue>> {
        let mut frames = lock(&self.0);
        let at = frames.iter().position(|(known, _)| *known == frame);
        let before = at.and_then(|at| frames.remove(at));
        let changes = before.map(|(_, before)| seen.changes(&before));
        frames.push_back((frame, seen));
        while frames.len() > FRAMES {
            frames.pop_front();
        }
        changes
    }

    /// Another run begins.
    pub(super) fn forget(&self) {
        lock(&self.0).clear();
    }
}

impl Session {
    /// Another run begins, whose values have not been seen.
    pub(super) fn forget_seen_values(&self) {
        self.seen_values().forget();
    }

    /// What has changed in a frame since the last stop in it; none at the first one. `locals` are its variables, and
    /// `expanded` what [`EXPANSION`] reaches from them.
    pub fn changed_values(
        &self,
        frame: FrameIdentity,
        locals: &Children<Reference>,
        expanded: &[ExpandedValue],
    ) -> Option<Vec<ChangedValue>> {
        self.seen_values().note(frame, Seen::at(locals, expanded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::variable::{Value, Variable};

    fn seen(texts: &[(&str, &str)], expanded: &[&str]) -> Seen {
        let mut seen = Seen::default();
        for (path, text) in texts {
            seen.add((*path).to_owned(), (*text).to_owned());
        }
        seen.expanded = expanded.iter().map(|path| (*path).to_owned()).collect();
        seen
    }

    fn shown(now: &Seen, before: &Seen) -> Vec<String> {
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let changes = now.changes(before).into_iter();
        changes.map(|change| format!("{}: {} {}", change.path, text(change.old), text(change.new))).collect()
    }

    #[test]
    fn innermost_changes_are_reported() {
        let before =
            seen(&[("n", "1"), ("cart", "Cart(1)"), ("cart.total", "1"), ("cart.id", "7")], &["", "cart"]);
        let now =
            seen(&[("n", "1"), ("cart", "Cart(2)"), ("cart.total", "2"), ("cart.id", "7")], &["", "cart"]);
        assert_eq!(shown(&now, &before), ["cart.total: 1 2"]);
        assert!(shown(&now, &now).is_empty());
    }

    #[test]
    fn new_and_missing_values_are_reported_as_a_whole() {
        let before = seen(&[("a", "1"), ("list", "[]")], &["", "list"]);
        let now = seen(&[("list", "[{}]"), ("list[0]", "{}"), ("b", "{}"), ("b.c", "1")], &["", "list", "b"]);
        assert_eq!(shown(&now, &before), ["list[0]: - {}", "b: - {}", "a: 1 -"]);
    }

    #[test]
    fn values_that_were_not_read_both_times_are_not_compared() {
        let before = seen(&[("cart", "Cart")], &[""]);
        let now = seen(&[("cart", "Cart"), ("cart.total", "2")], &["", "cart"]);
        assert!(shown(&now, &before).is_empty());
    }

    #[test]
    fn values_left_out_of_a_cut_list_are_neither_new_nor_gone() {
        let part = || Seen { cut: [String::new()].into(), ..seen(&[("a", "1"), ("b", "2")], &[""]) };
        let whole = || seen(&[("b", "3"), ("c", "4")], &[""]);
        assert_eq!(shown(&whole(), &part()), ["b: 2 3", "a: 1 -"]);
        assert_eq!(shown(&part(), &whole()), ["a: - 1", "b: 3 2"]);
    }

    #[test]
    fn frames_are_remembered_up_to_a_number() {
        let values = SeenValues::default();
        let frame = |depth| FrameIdentity {
            thread: ThreadId(1),
            function: "f".to_owned(),
            source: "a".to_owned(),
            depth,
        };
        assert_eq!(values.note(frame(0), seen(&[("n", "1")], &[""])), None);
        let changes = values.note(frame(0), seen(&[("n", "2")], &[""])).unwrap();
        assert_eq!((changes[0].old.as_deref(), changes[0].new.as_deref()), (Some("1"), Some("2")));
        for depth in 1..=FRAMES {
            assert_eq!(values.note(frame(depth), Seen::default()), None);
        }
        assert_eq!(values.note(frame(0), Seen::default()), None);
    }

    fn children<Id>(names: &[&str]) -> Children<Id> {
        let value = || Value {
            text: "1".to_owned(),
            type_name: "int".to_owned(),
            kind: None,
            reference: None,
            children: None,
            cut: false,
            length: None,
            note: None,
        };
        let variable = |name: &&str| Variable { name: (*name).to_owned(), value: value(), special: false };
        let variables: Vec<_> = names.iter().map(variable).collect();
        Children { total: variables.len() as u64, variables, start: 0, hidden: 0 }
    }

    #[test]
    fn what_was_expanded_is_found_by_its_path() {
        let locals = children(&["n", "cart"]);
        let expanded = [
            ExpandedValue { parent: None, name: "cart".to_owned(), children: children(&["id", "items"]) },
            ExpandedValue { parent: Some(0), name: "items".to_owned(), children: children(&["0", "1"]) },
            ExpandedValue { parent: None, name: "this".to_owned(), children: children(&["total"]) },
            // A pointer, and what it points to.
            ExpandedValue { parent: None, name: "queue".to_owned(), children: children(&[""]) },
            ExpandedValue { parent: Some(3), name: String::new(), children: children(&["size"]) },
        ];
        let seen = Seen::at(&locals, &expanded);
        let of_cart = ["n", "cart", "cart.id", "cart.items", "cart.items[0]", "cart.items[1]"];
        assert_eq!(seen.order, [&of_cart[..], &["this.total", "queue.size"]].concat());
        assert_eq!(seen.expanded, ["", "cart", "cart.items", "this", "queue"].map(str::to_owned).into());
        assert!(seen.cut.is_empty());
        assert_eq!(Seen::at(&Children { total: 3, ..locals }, &[]).cut, [String::new()].into());
    }

    #[test]
    fn paths_are_those_of_source() {
        let table = [
            ("", "cart", "cart"),
            ("cart", "total", "cart.total"),
            ("items", "0", "items[0]"),
            ("items", "[0]", "items[0]"),
            ("table", "'a.b'", "table['a.b']"),
            ("table", "1.5", "table[1.5]"),
            ("table", "-1", "table[-1]"),
            ("table", "(1, 2)", "table[(1, 2)]"),
            ("", "(return) Cart.total", "(return) Cart.total"),
            ("pointer", "", "pointer"),
        ];
        for (above, name, expected) in table {
            let path = path_of(above, name);
            assert_eq!(as_written(&path), expected);
            assert_eq!(parent(&path), if name.is_empty() { "" } else { above });
        }
    }
}
