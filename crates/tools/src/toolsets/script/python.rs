//! A shell command that runs Python, taken apart: its program is started by us, not by a shell.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::PathBuf;
use std::vec::IntoIter;

use engine::adapter::python::{COMMAND_FORM, launch_of};
use engine::model::launch::Launch;

use crate::ToolError;
use crate::shell::{Token, Word, tokens};

/// The interpreter, and the launch. `cwd` is where paths begin.
pub(super) fn launch(command: &str, cwd: Option<PathBuf>) -> Result<(PathBuf, Launch), ToolError> {
    let mut words = words(command)?.into_iter().peekable();
    let env = assignments(&mut words);
    let interpreter = words.next().unwrap_or_default();
    let name = interpreter.rsplit('/').next().unwrap_or_default();
    if !["python", "pypy"].iter().any(|known| name.starts_with(known)) {
        return Err(problem(format!("begins with `{interpreter}`")));
    }
    let folder = cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let launch = launch_of(words.collect(), &folder)?;
    Ok((interpreter.into(), Launch { cwd, env, ..launch }))
}

fn problem(problem: impl std::fmt::Display) -> ToolError {
    ToolError::argument("command", problem).and(COMMAND_FORM)
}

/// What is added to the environment before the interpreter.
fn assignments(words: &mut Peekable<IntoIter<String>>) -> BTreeMap<String, Option<String>> {
    let mut env = BTreeMap::new();
    words.next_if(|word| word == "env");
    while let Some((name, value)) = words
        .peek()
        .and_then(|word| word.split_once('='))
        .filter(|(name, _)| !name.is_empty() && !name.contains('/'))
    {
        env.insert(name.to_owned(), Some(value.to_owned()));
        words.next();
    }
    env
}

/// The words, when that is all there is.
fn words(command: &str) -> Result<Vec<String>, ToolError> {
    let tokens = tokens(command).ok_or_else(|| problem("has an unclosed quote"))?;
    let word = |token: Token| match token {
        Token::Word(Word { value, is_expanded: false, .. }) => Ok(value),
        Token::Word(Word { value, .. }) => Err(problem(format!("needs a shell to expand `{value}`"))),
        Token::Operator { .. } => Err(problem("needs a shell: it has several commands or a redirection")),
    };
    tokens.into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_becomes_a_launch() {
        let table = [
            ("python app.py", "python", "/w/app.py", "", "", ""),
            (
                "A=1 B='x y' python3 -u -X dev 'my app.py' a 'b c'",
                "python3",
                "/w/my app.py",
                "-u -X dev",
                "a|b c",
                "A=1 B=x y",
            ),
            ("env A=1 ./venv/bin/python /x/app.py", "./venv/bin/python", "/x/app.py", "", "", "A=1"),
            ("python3 -m pytest -x t.py", "python3", "pytest", "", "-x|t.py", ""),
        ];
        for (command, interpreter, program, runtime_args, args, env) in table {
            let (found, launch) = launch(command, Some("/w".into())).unwrap();
            let set: Vec<String> = launch
                .env
                .iter()
                .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or_default()))
                .collect();
            assert_eq!(found.to_str(), Some(interpreter), "{command}");
            assert_eq!(launch.program.name(), program, "{command}");
            assert_eq!(
                (launch.runtime_args.join(" "), launch.args.join("|")),
                (runtime_args.to_owned(), args.to_owned())
            );
            assert_eq!(set.join(" "), env, "{command}");
        }
    }

    #[test]
    fn commands_that_need_a_shell_are_refused() {
        let table = [
            ("python app.py | cat", "needs a shell: it has several commands or a redirection"),
            ("cd x && python app.py", "needs a shell: it has several commands or a redirection"),
            ("python app.py > out", "needs a shell: it has several commands or a redirection"),
            ("python $FILE", "needs a shell to expand `$FILE`"),
            ("python 'app.py", "has an unclosed quote"),
            ("uv run app.py", "begins with `uv`"),
            ("python -c 'print(1)'", "has `-c`, so there is no file to stop in"),
            ("python -u", "names no script and no module"),
            ("", "begins with ``"),
        ];
        for (command, problem) in table {
            let error = launch(command, None).unwrap_err();
            assert!(error.message.contains(problem), "{command}: {}", error.message);
        }
    }
}
