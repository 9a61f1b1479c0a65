//! Options of Node, on a command line and in `NODE_OPTIONS`.

use std::path::Path;

use super::interpreter::is_node;
use super::takes_next_word;
use crate::adapter::commands::ProcessCommand;
use crate::model::launch::is_loopback;

/// Options that load something which may compile what is loaded later.
const LOADERS: [&str; 8] = [
    "--import",
    "--require",
    "-r",
    "--loader",
    "--experimental-loader",
    "--experimental-strip-types",
    "--experimental-transform-types",
    "--no-experimental-strip-types",
];

/// Whether one of the options loads something.
pub(super) fn names_loader(options: &[String]) -> bool {
    options.iter().any(|option| LOADERS.contains(&option.split('=').next().unwrap_or_default()))
}

/// Options without those that open the inspector: the hook does that, in every process, and two that do it get
/// in each other's way.
pub(super) fn without_inspector(options: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if ["--inspect-port", "--debug-port"].contains(&option.as_str()) {
            // These take their value from the next word.
            options.next();
        } else if !option.starts_with("--inspect") && !option.starts_with("--debug-port=") {
            kept.push(option.clone());
        }
    }
    kept
}

/// An option, among the words of commands, that opens the inspector to other machines and waits there, so that the
/// hook comes too late to close it.
pub(super) fn open_to_others<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ends = |letter: char| letter.is_whitespace() || "'\"".contains(letter);
    let mut options = words.into_iter().flat_map(|word| word.split(ends));
    options.find(|option| {
        let value = option.strip_prefix("--inspect-brk=").or_else(|| option.strip_prefix("--inspect-wait="));
        value.is_some_and(|value| !is_of_loopback(value))
    })
}

/// An option, among those of Node, with which it does not open an inspector: that of its permission model.
pub(crate) fn closes_inspector<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let words: Vec<&str> = words.into_iter().collect();
    let is_allowed = words.contains(&"--allow-inspector");
    let closes = |word: &&str| ["--permission", "--experimental-permission"].contains(word);
    words.into_iter().find(closes).filter(|_| !is_allowed)
}

/// Whether a process was started with an option that opens the inspector. False if the system does not report it.
pub(crate) fn opens_inspector(pid: u32) -> bool {
    const OPENING: [&str; 3] = ["--inspect", "--inspect-brk", "--inspect-wait"];
    let opens = |word: &str| OPENING.contains(&word.split('=').next().unwrap_or_default());
    ProcessCommand::of(pid).is_some_and(|process| {
        let variable = process.environment.iter().find_map(|one| one.strip_prefix("NODE_OPTIONS="));
        let mut inherited = variable.unwrap_or_default().split_whitespace();
        inherited.any(opens) || before_script(&process.words).iter().any(|word| opens(word))
    })
}

/// The words before the first one that is neither an option nor the value of one.
pub(super) fn before_script<Word: AsRef<str>>(words: &[Word]) -> &[Word] {
    let mut is_value = false;
    let is_script = |word: &Word| {
        let is_option = std::mem::take(&mut is_value) || word.as_ref().starts_with('-');
        is_value = word.as_ref().starts_with('-') && takes_next_word(word.as_ref());
        !is_option || word.as_ref() == "--"
    };
    let end = words.iter().position(is_script).unwrap_or(words.len());
    words.get(..end).unwrap_or_default()
}

/// The options that commands give to each `node` that they name.
pub(super) fn of_node_in(commands: &str) -> Vec<String> {
    let ends = |letter: char| letter.is_whitespace() || "'\"()".contains(letter);
    let words: Vec<&str> = commands.split(ends).filter(|word| !word.is_empty()).collect();
    let after = words.iter().enumerate().filter(|(_, word)| is_node(Path::new(word)));
    let given = after.flat_map(|(at, _)| before_script(words.get(at + 1..).unwrap_or_default()));
    given.map(|word| (*word).to_owned()).collect()
}

/// Whether what an option says is a port of the loopback: `9229`, `127.0.0.1:9229`, `localhost`.
fn is_of_loopback(place: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
    let host = match place.rsplit_once(':') {
        Some((host, port)) if is_number(port) && (!host.contains(':') || host.starts_with('[')) => host,
        _ => place,
    };
    is_number(host) || is_loopback(host)
}

/// `NODE_OPTIONS` that load the hook first, then the existing options, and then our own.
pub(super) fn with_hook(hook: &Path, before: Option<&str>, after: &[String]) -> String {
    // Published elsewhere, the address is not printed on the standard error of every child.
    let mut words = vec!["--inspect-publish-uid=http".to_owned()];
    words.push(with_preload(hook, before));
    words.extend(after.iter().map(|word| quoted(word)));
    words.join(" ")
}

/// `NODE_OPTIONS` that load a script first, then the existing options.
pub(super) fn with_preload(script: &Path, before: Option<&str>) -> String {
    let mut words = vec!["--require".to_owned(), script.display().to_string()];
    words.extend(without_inspector(&split(before.unwrap_or_default())));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The words of `NODE_OPTIONS`: spaces separate, double quotes group, and a backslash inside them escapes the next
/// character (`ParseNodeOptionsEnvVar` in Node's `src/node_options.cc`).
pub(super) fn split(options: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut in_word, mut in_quotes) = (false, false);
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            ' ' if !in_quotes => {
                in_word = false;
                continue;
            }
            '"' => {
                in_quotes = !in_quotes;
                None
            }
            '\\' if in_quotes => letters.next(),
            letter => Some(letter),
        };
        if !std::mem::replace(&mut in_word, true) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter);
        }
    }
    words
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,@+%~".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_close_the_inspector_are_detected() {
        let table = [
            (vec!["--permission", "--allow-fs-read=*"], Some("--permission")),
            (vec!["--permission", "--allow-inspector"], None),
            (vec!["permission"], None),
        ];
        for (words, expected) in table {
            assert_eq!(closes_inspector(words.iter().copied()), expected, "{words:?}");
        }
    }

    #[test]
    fn options_of_node_are_distinguished_from_those_of_other_programs() {
        let table = [
            ("-c node --permission a.js", "--permission"),
            (
                "sh -c 'A=1 /bin/node -r ./b.js --experimental-permission a.js'",
                "-r ./b.js --experimental-permission",
            ),
            ("grant-tool --permission 755 && node a.js", ""),
            ("node a.js --permission", ""),
            ("test -- --permission admin", ""),
        ];
        for (commands, expected) in table {
            assert_eq!(of_node_in(commands).join(" "), expected, "{commands}");
        }
    }

    #[test]
    fn exposed_waiting_inspector_is_detected() {
        let table = [
            ("--inspect-brk=0.0.0.0:9229", true),
            ("--inspect-brk=0.0.0.0", true),
            ("--inspect-wait=[::]:9229", true),
            ("--inspect-brk=example.com:1", true),
            ("node --inspect-brk=10.0.0.1:0 main.js", true),
            ("sh -c 'node --inspect-brk=0.0.0.0'", true),
            ("--inspect-brk", false),
            ("--inspect-brk=9229", false),
            ("--inspect-brk=127.0.0.1:9229", false),
            ("--inspect-brk=localhost:0", false),
            ("--inspect-brk=[::1]:9229", false),
            // The hook closes this one.
            ("--inspect=0.0.0.0:9229", false),
        ];
        for (words, expected) in table {
            assert_eq!(open_to_others([words]).is_some(), expected, "{words}");
        }
    }
}
