//! The words that start the server: what launches stillframe, and which options are the user's.

use super::entry::NAME;
use crate::cli;

/// The argument that starts the server; what follows it in an entry is the user's.
pub(super) const SERVE: &str = "serve";

/// What launches stillframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    /// Its program.
    Stillframe,
    /// A program that runs its package.
    Runner,
    /// Maybe its program under another name: the arguments are those of the server.
    Renamed,
    /// Anything else: a container, a shell, another machine.
    Other,
}

/// The parts of a command that starts the server.
#[derive(Clone, Copy)]
pub(super) struct Start<'w> {
    pub(super) launcher: Launcher,
    /// What launches stillframe. If that is something else, all words before `serve`.
    pub(super) words: &'w [String],
    /// Options before `serve`.
    pub(super) before: &'w [String],
    /// Options after it.
    pub(super) after: &'w [String],
}

impl<'w> Start<'w> {
    pub(super) fn of(words: &'w [String]) -> Self {
        Self::known(words).unwrap_or_else(|| {
            let serve = words.iter().position(|word| word == SERVE).unwrap_or(words.len());
            let (head, rest) = words.split_at(serve);
            let after = rest.get(1..).unwrap_or_default();
            Self { launcher: Launcher::Other, words: head, before: &[], after }
        })
    }

    fn known(words: &'w [String]) -> Option<Self> {
        let (launcher, length) = launcher(words)?;
        let (words, rest) = words.split_at_checked(length)?;
        let (before, rest) = rest.split_at_checked(options(rest))?;
        let command = rest.first();
        let is_server = command.is_none_or(|command| command == SERVE);
        // Of a name alone it is not known what it starts.
        let is_bare = launcher == Launcher::Renamed && before.is_empty() && command.is_none();
        let after = rest.get(1..).unwrap_or_default();
        (is_server && !is_bare).then_some(Self { launcher, words, before, after })
    }

    pub(super) fn has_options(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }

    /// Whether the launcher would take the server's options for its own, as npm does with all before a `--`.
    pub(super) fn takes_options(&self) -> bool {
        self.launcher == Launcher::Runner
            && self.words.iter().any(|word| program_name(word) == "npm")
            && !self.words.iter().any(|word| word == "--")
    }
}

/// The word with which some words start something else of stillframe than the server: a command, or an option that
/// cannot be before `serve`.
pub(super) fn other_command(words: &[String]) -> Option<&str> {
    let (launcher, length) = launcher(words)?;
    let rest = words.get(length..)?;
    let next = rest.get(options(rest))?;
    (launcher != Launcher::Renamed && next != SERVE).then_some(next)
}

/// How many words are options of stillframe that can be before the command, and their values.
fn options(words: &[String]) -> usize {
    let mut end = 0;
    while let Some(length) = words.get(end).and_then(|word| cli::option_length(word)) {
        end += length;
    }
    end.min(words.len())
}

/// A way to run a package by its name.
struct Runner {
    /// The program, and the words before the package and options.
    words: &'static [&'static str],
    options: RunnerOptions,
}

/// The options of a runner that have a value and no effect on what the server does. Other values could be the server's,
/// such as a file with its environment.
#[derive(Clone, Copy)]
struct RunnerOptions {
    /// The value is the package; its program follows the options.
    package: &'static [&'static str],
    /// Where the package is from, and what interprets it.
    source: &'static [&'static str],
}

const NPM: RunnerOptions = RunnerOptions { package: &["-p", "--package"], source: &["--registry"] };
const UV: RunnerOptions = RunnerOptions {
    package: &["--from"],
    source: &["-p", "--python", "-i", "--index-url", "--index", "--default-index"],
};
const PIPX: RunnerOptions =
    RunnerOptions { package: &["--spec"], source: &["--python", "-i", "--index-url"] };

const RUNNERS: [Runner; 11] = [
    Runner { words: &["npx"], options: NPM },
    Runner { words: &["npm", "exec"], options: NPM },
    Runner { words: &["npm", "x"], options: NPM },
    Runner { words: &["pnpx"], options: NPM },
    Runner { words: &["pnpm", "dlx"], options: NPM },
    Runner { words: &["yarn", "dlx"], options: NPM },
    Runner { words: &["bunx"], options: NPM },
    Runner { words: &["bun", "x"], options: NPM },
    Runner { words: &["uvx"], options: UV },
    Runner { words: &["uv", "tool", "run"], options: UV },
    Runner { words: &["pipx", "run"], options: PIPX },
];

/// Programs that start what follows them: a `serve` there is not stillframe's.
const STARTERS: [&str; 20] = [
    "bash",
    "cmd",
    "deno",
    "doas",
    "docker",
    "env",
    "java",
    "node",
    "nohup",
    "perl",
    "php",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "ruby",
    "sh",
    "ssh",
    "sudo",
    "wsl",
];

impl Runner {
    /// How many words run the package.
    fn length(&self, words: &[String]) -> Option<usize> {
        let (program, others) = words.split_first()?;
        let given = std::iter::once(program_name(program)).chain(others.iter().map(String::as_str));
        if !given.take(self.words.len()).eq(self.words.iter().copied()) {
            return None;
        }
        let mut end = self.words.len();
        let mut packages = Vec::new();
        while let Some(word) = words.get(end).filter(|word| word.starts_with('-')) {
            end += 1;
            if word == "--" {
                break;
            }
            let (name, mut value) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            let names_package = self.options.package.contains(&name);
            if !names_package && !self.options.source.contains(&name) {
                if value.is_some() {
                    return None;
                }
                continue;
            }
            if value.is_none() {
                value = words.get(end).map(String::as_str);
                end += 1;
            }
            packages.extend(value.filter(|_| names_package));
        }
        let run = words.get(end)?;
        let is_ours = if packages.is_empty() {
            is_package(run)
        } else {
            run == NAME && packages.iter().any(|package| is_package(package))
        };
        let separators = usize::from(words.get(end + 1).is_some_and(|word| word == "--"));
        is_ours.then_some(end + 1 + separators)
    }
}

/// What launches stillframe, and with how many words.
fn launcher(words: &[String]) -> Option<(Launcher, usize)> {
    let (program, _) = words.split_first()?;
    if let Some(prefix) = command_prompt(words) {
        let (launcher, length) = launcher(words.get(prefix..)?)?;
        return (launcher != Launcher::Renamed).then_some((launcher, prefix + length));
    }
    if is_program(program) {
        return Some((Launcher::Stillframe, 1));
    }
    if let Some(length) = RUNNERS.iter().find_map(|runner| runner.length(words)) {
        return Some((Launcher::Runner, length));
    }
    let name = program_name(program).trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let starts_others =
        STARTERS.contains(&name) || RUNNERS.iter().any(|runner| runner.words.first() == Some(&name));
    (!starts_others).then_some((Launcher::Renamed, 1))
}

/// How many words start the prompt of Windows, which finds scripts such as that of npx. None if it would do more with the
/// other words than pass them on.
fn command_prompt(words: &[String]) -> Option<usize> {
    let (program, rest) = words.split_first()?;
    let switches = rest.iter().take_while(|word| word.starts_with('/')).count();
    let last = rest.get(..switches)?.last()?;
    let is_prompt = program_name(program).eq_ignore_ascii_case("cmd") && last.eq_ignore_ascii_case("/c");
    let has_syntax = rest.iter().any(|word| word.contains(['&', '|', '<', '>', '^', '%']));
    (is_prompt && !has_syntax).then_some(1 + switches)
}

/// Whether this is the package, which may have a version: `stillframe@1.0`, `stillframe==1.0`.
fn is_package(word: &str) -> bool {
    word.split(['@', '=', '<', '>', '~', '!']).next() == Some(NAME)
}

/// Whether a word names our program.
pub(super) fn is_program(word: &str) -> bool {
    program_name(word) == NAME
}

/// The name of a program, without its folder and what Windows adds.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn launchers_are_known_with_their_options() {
        use Launcher::{Other, Renamed, Runner, Stillframe};
        let table = [
            (Stillframe, "stillframe", ""),
            (Stillframe, r"C:\bin\stillframe.exe", "serve"),
            (Stillframe, "stillframe", "--config /x --redact serve --toolset quick"),
            (Runner, "npx -y stillframe", ""),
            (Runner, "npx -y stillframe@0.1.0", "--no-redact serve --toolset all"),
            (Runner, "npx -p stillframe stillframe", "serve"),
            (Runner, "npx -p node@22 --package=stillframe@1 -- stillframe", "serve"),
            (Runner, "npm exec stillframe", ""),
            (Runner, "npm exec -- stillframe", "serve --read-only"),
            (Runner, "npm x stillframe --", "serve --read-only"),
            (Runner, "pnpx stillframe", "serve"),
            (Runner, "pnpm dlx stillframe", "serve"),
            (Runner, "yarn dlx stillframe", "serve"),
            (Runner, "bunx stillframe", "serve"),
            (Runner, "bun x stillframe", "serve"),
            (Runner, "uvx stillframe", "--read-only"),
            (Runner, "uvx --python 3.12 stillframe", "serve"),
            (Runner, "uvx --from stillframe==0.1 stillframe", "serve"),
            (Runner, "uv tool run stillframe", "serve"),
            (Runner, "pipx run stillframe", "--read-only serve"),
            (Runner, "pipx run --spec stillframe>=0.1 stillframe", "serve"),
            (Runner, "cmd /c npx -y stillframe", "serve"),
            (Runner, r"C:\Windows\System32\cmd.exe /d /s /C npx.cmd -y stillframe", "serve"),
            (Stillframe, "cmd /c stillframe", "serve --read-only"),
            (Renamed, "/opt/sf", "serve --read-only"),
            (Renamed, "sf", "--config /x serve"),
            (Other, "sf", ""),
            (Other, "sf --other", "serve"),
            (Other, "stillframe doctor", ""),
            (Other, "stillframe --config /x doctor", ""),
            (Other, "stillframe --toolset quick", ""),
            (Other, "pipx stillframe", "serve"),
            (Other, "npx @scope/stillframe", "serve"),
            (Other, "npx -p @scope/stillframe stillframe", "serve"),
            (Other, "npx", "serve"),
            (Other, "npx -y proxy stillframe", "serve"),
            (Other, "uvx --env-file .env stillframe", "serve"),
            (Other, "uvx --env-file=.env stillframe", "serve"),
            (Other, "cmd /c stillframe", "serve 2> log"),
            (Other, "cmd /c proxy", "serve"),
            (Other, "sudo", "serve"),
            (Other, "/usr/bin/python3.12", "serve"),
            (Other, "sudo stillframe", "serve"),
            (Other, "docker run -i --rm stillframe", "serve"),
            (Other, "ssh box stillframe", "serve"),
            (Other, "env A=1 stillframe", "serve"),
        ];
        for (launcher, head, options) in table {
            let all = words(format!("{head} {options}").trim_end());
            let start = Start::of(&all);
            assert_eq!((start.launcher, start.words.join(" ").as_str()), (launcher, head), "{all:?}");
            let expected = options.split_whitespace().filter(|word| *word != SERVE);
            assert!(start.before.iter().chain(start.after).eq(expected), "{all:?}");
        }
    }

    #[test]
    fn another_command_than_serve_is_found() {
        let table = [
            ("stillframe doctor", Some("doctor")),
            ("stillframe --config /x doctor", Some("doctor")),
            ("stillframe --no-redact --log-file=off doctor", Some("doctor")),
            ("npx -y stillframe record", Some("record")),
            ("pipx run stillframe record", Some("record")),
            ("stillframe --toolset quick", Some("--toolset")),
            ("stillframe serve --read-only", None),
            ("stillframe --read-only serve", None),
            ("stillframe --config doctor", None),
            ("stillframe", None),
            ("uvx --from stillframe stillframe", None),
            ("sf doctor", None),
        ];
        for (command, expected) in table {
            assert_eq!(other_command(&words(command)), expected, "{command}");
        }
    }
}
