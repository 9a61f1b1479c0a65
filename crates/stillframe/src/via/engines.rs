//! The engines that reach another machine or a container, as a table of command lines.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

/// An engine: how its command line runs a script of the POSIX shell elsewhere, with our standard streams.
#[derive(Debug, PartialEq, Eq)]
struct Engine {
    scheme: &'static str,
    /// What follows `SCHEME://`, for messages.
    form: &'static str,
    program: &'static str,
    words: &'static [Word],
    /// What to try when it cannot connect.
    hint: &'static str,
}

/// A part of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// As it is.
    Is(&'static str),
    /// An option with a part of the address, if the address has it.
    Option(&'static str, Part),
    /// A part of the address.
    Part(Part),
    /// The script, as the word after `sh -c`.
    Script,
    /// The script, in one word for the shell that the engine starts there.
    QuotedScript,
}

use Word::{Is, Option as Opt, QuotedScript, Script};

/// A part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    User,
    /// The host, container, pod or distribution.
    Name,
    Port,
    Namespace,
    /// The container in a pod.
    Container,
}

const ENGINES: &[Engine] = &[
    Engine {
        scheme: "ssh",
        form: "[USER@]HOST[:PORT]",
        program: "ssh",
        // No one can type a password, because standard input is not a terminal. A connection that has died is noticed
        // after half a minute. Ours must not become one that others share, and that ends with us.
        words: &[
            Is("-T"),
            Is("-o"),
            Is("BatchMode=yes"),
            Is("-o"),
            Is("ServerAliveInterval=10"),
            Is("-o"),
            Is("ServerAliveCountMax=3"),
            Is("-o"),
            Is("ControlMaster=no"),
            Opt("-p", Part::Port),
            Opt("-l", Part::User),
            Is("--"),
            Word::Part(Part::Name),
            QuotedScript,
        ],
        hint: "check that `ssh HOST true` works without a password or a question",
    },
    Engine {
        scheme: "docker",
        form: "[USER@]CONTAINER",
        program: "docker",
        words: CONTAINER,
        hint: "check that `docker ps` lists the container, and that it has a shell",
    },
    Engine {
        scheme: "podman",
        form: "[USER@]CONTAINER",
        program: "podman",
        words: CONTAINER,
        hint: "check that `podman ps` lists the container, and that it has a shell",
    },
    Engine {
        scheme: "kubectl",
        form: "NAMESPACE/POD[/CONTAINER]",
        program: "kubectl",
        words: &[
            Is("exec"),
            Is("--stdin"),
            Opt("--namespace", Part::Namespace),
            Opt("--container", Part::Container),
            Word::Part(Part::Name),
            Is("--"),
            Is("sh"),
            Is("-c"),
            Script,
        ],
        hint: "check `kubectl get pods`; a container without a shell needs an ephemeral one (`kubectl debug`)",
    },
    Engine {
        scheme: "wsl",
        form: "[USER@]DISTRIBUTION",
        program: "wsl.exe",
        words: &[
            Opt("--distribution", Part::Name),
            Opt("--user", Part::User),
            Is("--exec"),
            Is("sh"),
            Is("-c"),
            Script,
        ],
        hint: "check `wsl.exe --list`",
    },
];

const CONTAINER: &[Word] = &[
    Is("exec"),
    Is("--interactive"),
    Opt("--user", Part::User),
    Word::Part(Part::Name),
    Is("sh"),
    Is("-c"),
    Script,
];

/// Kinds of workloads, as kubectl calls them.
pub(super) const WORKLOADS: [&str; 6] = ["deploy", "deployment", "sts", "statefulset", "ds", "daemonset"];

/// Another machine or a container, by the engine that reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    engine: &'static Engine,
    name: String,
    user: Option<String>,
    port: Option<String>,
    namespace: Option<String>,
    container: Option<String>,
}

impl Target {
    /// The program of the engine, and the arguments with which it runs the script there.
    pub(super) fn command(&self, script: &str) -> (&'static str, Vec<OsString>) {
        let mut words: Vec<String> = Vec::new();
        for word in self.engine.words {
            match word {
                Is(word) => words.push((*word).to_owned()),
                Opt(option, part) => {
                    if let Some(value) = self.part(*part) {
                        words.extend([(*option).to_owned(), value.to_owned()]);
                    }
                }
                Word::Part(part) => words.extend(self.part(*part).map(str::to_owned)),
                Script => words.push(script.to_owned()),
                QuotedScript => {
                    words.push(format!(r#"exec sh -c 'eval "$(printf %b "$1")"' sh '{}'"#, encoded(script)));
                }
            }
        }
        (self.engine.program, words.into_iter().map(OsString::from).collect())
    }

    fn part(&self, part: Part) -> Option<&str> {
        match part {
            Part::User => self.user.as_deref(),
            Part::Name => Some(&self.name),
            Part::Port => self.port.as_deref(),
            Part::Namespace => self.namespace.as_deref(),
            Part::Container => self.container.as_deref(),
        }
    }

    /// What to try when it cannot connect.
    pub(super) fn hint(&self) -> String {
        let port = self.port.as_ref().map(|port| format!("-p {port} ")).unwrap_or_default();
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        self.engine.hint.replace("HOST", &format!("{port}{user}{}", self.name))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.engine.scheme)?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        if self.name.contains(':') { write!(f, "[{}]", self.name) } else { f.write_str(&self.name) }?;
        if let Some(port) = &self.port {
            write!(f, ":{port}")?;
        }
        if let Some(container) = &self.container {
            write!(f, "/{container}")?;
        }
        Ok(())
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
        let Some(engine) = ENGINES.iter().find(|engine| engine.scheme == scheme) else {
            let forms: Vec<String> =
                ENGINES.iter().map(|engine| format!("{}://{}", engine.scheme, engine.form)).collect();
            return Err(format!("unknown engine `{scheme}`; write {}", forms.join(", ")));
        };
        let wrong = || {
            let several = if rest.contains(',') { "; several are for `target` in a call" } else { "" };
            format!("`{text}` is not an address; write {scheme}://{}{several}", engine.form)
        };
        let has = |part| engine.words.iter().any(|word| matches!(word, Opt(_, has) if *has == part));
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, rest) = match rest.split_once('@') {
            Some((user, rest)) if has(Part::User) => (Some(user), rest),
            Some(_) => return Err(wrong()),
            None => (None, rest),
        };
        let (namespace, name, container) = if has(Part::Namespace) {
            let parts: Vec<&str> = rest.split('/').collect();
            match parts.as_slice() {
                [_, kind, _] if WORKLOADS.contains(kind) => {
                    let form = engine.form;
                    return Err(format!(
                        "`{text}` is a workload, which has several pods; several are for `target` in a call; name a \
                         pod: {scheme}://{form}"
                    ));
                }
                [namespace, pod] => (Some(*namespace), *pod, None),
                [namespace, pod, container] => (Some(*namespace), *pod, Some(*container)),
                _ => return Err(wrong()),
            }
        } else {
            (None, rest, None)
        };
        let (name, port) =
            if has(Part::Port) { host_and_port(name).ok_or_else(wrong)? } else { (name, None) };
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        let parts = [user, namespace, Some(name), container];
        if !parts.into_iter().flatten().all(is_word) || !port.is_none_or(is_port) {
            return Err(wrong());
        }
        let own = |part: Option<&str>| part.map(str::to_owned);
        Ok(Self {
            engine,
            name: name.to_owned(),
            user: own(user),
            port: own(port),
            namespace: own(namespace),
            container: own(container),
        })
    }
}

/// A script for `printf %b`, without what is special between the single quotes of a login shell: csh takes `!` for its
/// history, and its strings end with their line.
fn encoded(script: &str) -> String {
    let mut encoded = String::with_capacity(script.len() * 2);
    for letter in script.chars() {
        match letter {
            '\n' => encoded.push_str(r"\0012"),
            '\'' => encoded.push_str(r"\0047"),
            '!' => encoded.push_str(r"\0041"),
            '\\' => encoded.push_str(r"\0134"),
            other => encoded.push(other),
        }
    }
    encoded
}

/// The parts of `HOST`, `HOST:PORT`, `[ADDRESS]` and `[ADDRESS]:PORT`.
fn host_and_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return Some((host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) }));
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((text, None)),
    }
}

/// Whether this can be a name. One that begins with a hyphen would be an option of the engine.
fn is_word(text: &str) -> bool {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "._-:%".contains(char);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(address: &str) -> String {
        let (program, words) = address.parse::<Target>().unwrap().command("echo 'a b'");
        let words = words.iter().map(|word| word.to_str().unwrap());
        std::iter::once(program).chain(words).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn each_engine_has_its_command_line() {
        let ssh =
            "ssh|-T|-o|BatchMode=yes|-o|ServerAliveInterval=10|-o|ServerAliveCountMax=3|-o|ControlMaster=no";
        let script = r#"exec sh -c 'eval "$(printf %b "$1")"' sh 'echo \0047a b\0047'"#;
        let table = [
            ("ssh://host", format!("{ssh}|--|host|{script}")),
            ("ssh://me@host.example:2222/", format!("{ssh}|-p|2222|-l|me|--|host.example|{script}")),
            ("ssh://[::1]:22", format!("{ssh}|-p|22|--|::1|{script}")),
            ("docker://web", "docker|exec|--interactive|web|sh|-c|echo 'a b'".to_owned()),
            (
                "docker://app@shop-web-1",
                "docker|exec|--interactive|--user|app|shop-web-1|sh|-c|echo 'a b'".to_owned(),
            ),
            ("podman://web", "podman|exec|--interactive|web|sh|-c|echo 'a b'".to_owned()),
            (
                "kubectl://shop/web-0",
                "kubectl|exec|--stdin|--namespace|shop|web-0|--|sh|-c|echo 'a b'".to_owned(),
            ),
            (
                "kubectl://shop/web-0/app",
                "kubectl|exec|--stdin|--namespace|shop|--container|app|web-0|--|sh|-c|echo 'a b'".to_owned(),
            ),
            ("wsl://Debian", "wsl.exe|--distribution|Debian|--exec|sh|-c|echo 'a b'".to_owned()),
            ("wsl://me@Debian", "wsl.exe|--distribution|Debian|--user|me|--exec|sh|-c|echo 'a b'".to_owned()),
        ];
        for (address, expected) in table {
            assert_eq!(command(address), expected, "{address}");
        }
    }

    #[test]
    fn a_hint_names_what_the_address_does() {
        let hint = |address: &str| address.parse::<Target>().unwrap().hint();
        assert!(hint("ssh://host").contains("`ssh host true`"));
        assert!(hint("ssh://me@host:2222").contains("`ssh -p 2222 me@host true`"));
    }

    #[test]
    fn an_address_is_shown_as_it_was_given() {
        for address in
            ["ssh://me@host:2222", "ssh://[::1]:22", "docker://web", "kubectl://shop/web-0/app", "wsl://D"]
        {
            assert_eq!(address.parse::<Target>().unwrap().to_string(), address);
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused_with_the_right_form() {
        let table = [
            ("web", "unknown engine `web`; write ssh://[USER@]HOST[:PORT], docker://"),
            ("http://web", "unknown engine `http`"),
            ("ssh://", "`ssh://` is not an address; write ssh://[USER@]HOST[:PORT]"),
            ("ssh://-oProxyCommand=x", "is not an address"),
            ("ssh://a@-l", "is not an address"),
            ("ssh://host:0", "is not an address"),
            ("ssh://host:port", "is not an address"),
            ("ssh://host/folder", "is not an address"),
            ("ssh://::1", "is not an address"),
            ("ssh://a,b", "several are for `target` in a call"),
            ("docker://a/b", "write docker://[USER@]CONTAINER"),
            ("docker://a b", "is not an address"),
            ("kubectl://web-0", "write kubectl://NAMESPACE/POD[/CONTAINER]"),
            ("kubectl://me@shop/web-0", "is not an address"),
            ("kubectl://a/b/c/d", "is not an address"),
            ("kubectl://shop/deploy/web", "is a workload, which has several pods; several are for `target`"),
        ];
        for (address, expected) in table {
            let problem = address.parse::<Target>().unwrap_err();
            assert!(problem.contains(expected), "{address}: {problem}");
        }
    }
}
