//! A shell command that ends in Node, made ready to be run by us.
//!
//! The inspector is opened by our hook, on a port of its own, in every process: two that open it get in each
//! other's way, and two calls with the same port collide. So options that open it are taken out of the text.
//! The hook comes by `NODE_OPTIONS`, which the command must not replace.

use std::path::Path;

use engine::adapter::node::{names_code, takes_next_word};

use crate::shell::{Token, Word, tokens};

/// Programs that are given a command as a text.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
/// Options of Node that open the inspector and take the next word.
const PORTS: [&str; 2] = ["--inspect-port", "--debug-port"];

/// The command to run. One that cannot be parsed is passed to the shell unchanged.
pub(super) fn prepared(command: &str) -> String {
    prepared_with(command, "\"")
}

/// The same for a command inside another one, where quotes are written as `quote`.
fn prepared_with(command: &str, quote: &'static str) -> String {
    let Some(tokens) = tokens(command) else { return command.to_owned() };
    let mut reader = Reader { command, quote, state: State::Start, is_file: false };
    let mut text = String::with_capacity(command.len());
    let mut done = 0;
    for token in &tokens {
        let Some((word, change)) = reader.read(token) else { continue };
        let before = command.get(done..word.range.start).unwrap_or_default();
        text.push_str(if change.is_empty() { before.trim_end_matches([' ', '\t']) } else { before });
        text.push_str(&change);
        done = word.range.end;
    }
    text.push_str(command.get(done..).unwrap_or_default());
    text.trim_start().to_owned()
}

/// Where in a simple command the reader is.
enum State {
    /// Before the program.
    Start,
    /// Among the options of Node.
    Options,
    /// The next word is the value of an option, and stays.
    Value,
    /// The next word is the port of an option that was taken out, and goes too.
    Port(Box<State>),
    /// Among the words of another program.
    Other { is_shell: bool },
    /// Among the arguments of the program that is debugged.
    Arguments,
}

struct Reader<'c> {
    command: &'c str,
    quote: &'static str,
    state: State,
    /// The next word is the file of a redirection.
    is_file: bool,
}

impl Reader<'_> {
    /// What takes the place of a word that changes; nothing of it for one that goes.
    fn read<'t>(&mut self, token: &'t Token) -> Option<(&'t Word, String)> {
        let word = match token {
            Token::Operator { redirects } => {
                self.is_file = *redirects;
                // `2>&1` has an operator in its middle, and what follows begins no command either way.
                if !redirects {
                    self.state = State::Start;
                }
                return None;
            }
            Token::Word(word) => word,
        };
        if std::mem::take(&mut self.is_file) {
            return None;
        }
        let raw = self.command.get(word.range.clone()).unwrap_or_default();
        if let Some(value) = raw.strip_prefix("NODE_OPTIONS=")
            && !matches!(self.state, State::Arguments)
        {
            return Some((word, node_options(value, self.quote)));
        }
        self.word(word, raw).map(|change| (word, change))
    }

    fn word(&mut self, word: &Word, raw: &str) -> Option<String> {
        let value = word.value.as_str();
        let opens = opens_inspector(value) && !word.is_expanded;
        match std::mem::replace(&mut self.state, State::Arguments) {
            State::Start => self.state = program(value),
            State::Value => self.state = State::Options,
            State::Port(after) => {
                self.state = *after;
                return Some(String::new());
            }
            State::Options if opens => {
                self.state = after_opening(value, State::Options);
                return Some(String::new());
            }
            State::Options if takes_value(value) => self.state = State::Value,
            State::Options if value.starts_with('-') && value != "--" => self.state = State::Options,
            State::Other { is_shell } if opens => {
                self.state = after_opening(value, State::Other { is_shell });
                return Some(String::new());
            }
            State::Other { is_shell } if value != "--" => {
                self.state = State::Other { is_shell };
                return (is_shell && word.is_quoted).then(|| inside(raw)).filter(|inside| inside != raw);
            }
            State::Options | State::Other { .. } | State::Arguments => {}
        }
        None
    }
}

/// What comes after the first word of a command.
fn program(word: &str) -> State {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    let is_prefix =
        ["env", "exec", "time", "nice", "command", "export", "!", "{", "if", "then", "do", "else"];
    if is_assignment || is_prefix.contains(&&*name) {
        State::Start
    } else if name
        .strip_prefix("node")
        .is_some_and(|rest| rest.trim_start_matches("js").chars().all(is_version))
    {
        State::Options
    } else {
        State::Other { is_shell: SHELLS.contains(&&*name) }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_version(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '.' | '-' | 'v')
}

fn opens_inspector(word: &str) -> bool {
    let is_option = word.starts_with("--inspect") && !word.contains(char::is_whitespace);
    is_option || word.split('=').next().is_some_and(|name| PORTS.contains(&name))
}

/// Whether the next word belongs to an option, regardless of its form.
fn takes_value(option: &str) -> bool {
    takes_next_word(option) || names_code(option) && !option.contains('=')
}

fn after_opening(word: &str, state: State) -> State {
    if PORTS.contains(&word) { State::Port(Box::new(state)) } else { state }
}

/// The text in quotes that a shell is given, with its quotes.
fn inside(raw: &str) -> String {
    let mut letters = raw.chars();
    let (Some(open), Some(close)) = (letters.next(), letters.next_back()) else { return raw.to_owned() };
    let quote = if open == '"' { "\\\"" } else { "\"" };
    format!("{open}{}{close}", prepared_with(letters.as_str(), quote))
}

/// An assignment that keeps what is there, and opens no inspector.
fn node_options(value: &str, quote: &str) -> String {
    let mut kept = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("--inspect") {
        let (before, option) = rest.split_at(at);
        let end = option.find(|letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"'));
        kept.push_str(before);
        rest = option.get(end.unwrap_or(option.len())..).unwrap_or_default();
    }
    kept.push_str(rest);
    if kept.contains("$NODE_OPTIONS") || kept.contains("${NODE_OPTIONS") {
        return format!("NODE_OPTIONS={kept}");
    }
    format!("NODE_OPTIONS={quote}$NODE_OPTIONS {quote}{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inspector_options_are_removed() {
        let table = [
            ("node --inspect-brk=9229 ./dist/test.js", "node ./dist/test.js"),
            ("node --inspect-brk a.js", "node a.js"),
            ("node --inspect=127.0.0.1:0 --trace-warnings a.js", "node --trace-warnings a.js"),
            ("node --inspect-port 9229 a.js", "node a.js"),
            ("node --inspect-wait -r ./x.js --inspect-brk=0 a.js b", "node -r ./x.js a.js b"),
            ("'node' \"--inspect-brk=9229\" 'a b.js'", "'node' 'a b.js'"),
            ("A='x y' /usr/bin/node20 --inspect-brk=1 a.js", "A='x y' /usr/bin/node20 a.js"),
            ("env A=1 node --inspect a.js", "env A=1 node a.js"),
            ("cd x && node --inspect-brk=9229 a.js | cat", "cd x && node a.js | cat"),
            ("echo 1 2>&1 | node --inspect-brk a.js > out", "echo 1 2>&1 | node a.js > out"),
            ("node --title x --inspect-brk a.js", "node --title x a.js"),
            ("npx mocha --inspect-brk=9229 t.js", "npx mocha t.js"),
            ("npm run dev", "npm run dev"),
            ("sh -c \"node --inspect-brk=9229 a.js\"", "sh -c \"node a.js\""),
        ];
        for (command, expected) in table {
            assert_eq!(prepared(command), expected, "{command}");
        }
    }

    #[test]
    fn program_arguments_are_kept() {
        for command in [
            "node a.js --inspect-brk=9229",
            "node -- a.js --inspect",
            "npx tsx -- --inspect",
            "node -e 'console.log(\"--inspect\")' x",
            "echo '--inspect is a word'",
            "node a.js NODE_OPTIONS=x",
            "node 'open",
        ] {
            assert_eq!(prepared(command), command);
        }
    }

    #[test]
    fn node_options_are_merged() {
        let table = [
            (
                "NODE_OPTIONS=--no-warnings node a.js",
                "NODE_OPTIONS=\"$NODE_OPTIONS \"--no-warnings node a.js",
            ),
            (
                "NODE_OPTIONS='--no-warnings --inspect-brk=9229' node a.js",
                "NODE_OPTIONS=\"$NODE_OPTIONS \"'--no-warnings ' node a.js",
            ),
            ("NODE_OPTIONS=\"$NODE_OPTIONS -x\" node a.js", "NODE_OPTIONS=\"$NODE_OPTIONS -x\" node a.js"),
            ("env NODE_OPTIONS=-x npm test", "env NODE_OPTIONS=\"$NODE_OPTIONS \"-x npm test"),
            ("sh -c 'NODE_OPTIONS=-x node a'", "sh -c 'NODE_OPTIONS=\"$NODE_OPTIONS \"-x node a'"),
            ("sh -c \"NODE_OPTIONS=-x node a\"", "sh -c \"NODE_OPTIONS=\\\"$NODE_OPTIONS \\\"-x node a\""),
            ("export NODE_OPTIONS=-x; node a.js", "export NODE_OPTIONS=\"$NODE_OPTIONS \"-x; node a.js"),
        ];
        for (command, expected) in table {
            assert_eq!(prepared(command), expected, "{command}");
        }
    }
}
