//! Prompts: texts that a person asks their client for, with what they fill in.

use std::collections::BTreeMap;

/// A text that a person can ask their client for.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// The public name.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// What is filled in.
    pub arguments: &'static [PromptArgument],
    /// The text. `{name}` is replaced with the argument; a line with an argument that was not given is left out.
    pub text: &'static str,
}

/// Something to fill in.
#[derive(Clone, Copy, Debug)]
pub struct PromptArgument {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The text makes no sense without it.
    pub required: bool,
    /// What its values are chosen from.
    pub candidates: Candidates,
}

/// What the values of an argument are chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Any text.
    Free,
    /// IDs of sessions.
    Sessions,
    /// Source files in and below the working directory.
    Files,
    /// Functions of the source file that is given too.
    Functions,
    /// Tests of the source file that is given too.
    Tests,
}

impl PromptArgument {
    /// One that is needed, of any text.
    pub const fn required(name: &'static str, description: &'static str) -> Self {
        Self { name, description, required: true, candidates: Candidates::Free }
    }

    /// One that may be left out.
    pub const fn optional(name: &'static str, description: &'static str, candidates: Candidates) -> Self {
        Self { name, description, required: false, candidates }
    }
}

impl Prompt {
    /// The text with what was given. An argument without text counts as not given.
    pub fn filled(&self, given: &BTreeMap<&str, String>) -> String {
        let value = |name: &str| given.get(name).filter(|value| !value.trim().is_empty());
        let is_complete = |line: &&str| {
            self.arguments.iter().all(|argument| {
                value(argument.name).is_some() || !line.contains(&format!("{{{}}}", argument.name))
            })
        };
        let lines = self.text.lines().filter(is_complete).map(|line| self.fill(line, value));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// A line with its arguments. What is filled in is not searched for further ones.
    fn fill<'v>(&self, line: &str, value: impl Fn(&str) -> Option<&'v String>) -> String {
        let (mut filled, mut rest) = (String::new(), line);
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let name = after.split_once('}').filter(|(name, _)| self.has(name));
            rest = if let Some((name, after)) = name {
                filled.push_str(value(name).map_or("", String::as_str));
                after
            } else {
                filled.push('{');
                after
            };
        }
        filled + rest
    }

    fn has(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_their_arguments_are_left_out() {
        const PROMPT: Prompt = Prompt {
            name: "p",
            title: "",
            description: "",
            arguments: &[
                PromptArgument::required("command", ""),
                PromptArgument::optional("test", "", Candidates::Tests),
            ],
            text: "Run {command}.\nThe test is {test}.\nUse {braces}.",
        };
        let given = |pairs: &[(&'static str, &str)]| -> BTreeMap<&str, String> {
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        let table = [
            (given(&[("command", "x")]), "Run x.\nUse {braces}."),
            (given(&[("command", "x"), ("test", " ")]), "Run x.\nUse {braces}."),
            (
                given(&[("command", "{test} {}"), ("test", "t")]),
                "Run {test} {}.\nThe test is t.\nUse {braces}.",
            ),
        ];
        for (given, expected) in table {
            assert_eq!(PROMPT.filled(&given), expected);
        }
    }
}
