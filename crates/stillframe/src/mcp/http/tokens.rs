//! Bearer tokens: their sources and owners.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use journal::Secret;

/// The variable that may hold the token. Programs that are debugged do not get it (`engine::process`).
pub(super) const VARIABLE: &str = "STILLFRAME_HTTP_TOKEN";
/// Shorter ones could be guessed.
const SHORTEST: usize = 16;

/// The owner of a request. Stateless requests of one owner share their debug sessions.
pub(super) type Owner = Arc<str>;

/// The tokens that are accepted.
pub(super) enum Tokens {
    /// No token is required, and all requests are of one client.
    Open,
    /// Each with its owner.
    Bearer(Vec<(Owner, Secret)>),
}

impl Tokens {
    /// A new one, and its text.
    pub(super) fn made_up() -> anyhow::Result<(Self, String)> {
        let token = Secret::random()?;
        let text = token.reveal().to_owned();
        Ok((Self::one(token), text))
    }

    /// That of the environment; none when there is none.
    pub(super) fn of_environment() -> anyhow::Result<Option<Self>> {
        let Some(token) = std::env::var_os(VARIABLE).filter(|token| !token.is_empty()) else {
            return Ok(None);
        };
        let token = token.into_string().ok().filter(|token| is_token(token));
        let token = token.with_context(|| format!("`{VARIABLE}` is not a token: {RULE}"))?;
        Ok(Some(Self::one(Secret::new(token))))
    }

    fn one(token: Secret) -> Self {
        Self::Bearer(vec![(Owner::from("token"), token)])
    }

    /// Those of a file, one a line. Empty lines and those that begin with `#` are left out.
    pub(super) fn of_file(path: &Path) -> anyhow::Result<Self> {
        let named = || format!("`{}`", path.display());
        let text = read_private(path).with_context(|| format!("{} cannot be read", named()))?;
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut tokens: Vec<(Owner, Secret)> = Vec::new();
        for (at, line) in lines {
            let number = at + 1;
            let (name, token) = line.split_once(':').unwrap_or(("", line));
            ensure!(is_token(token), "line {number} of {} is not a token: {RULE}", named());
            let name = if name.is_empty() { format!("line {number}") } else { name.to_owned() };
            let known = tokens.iter().any(|(other, secret)| **other == *name || secret.is(token));
            ensure!(!known, "line {number} of {} repeats a name or a token", named());
            tokens.push((name.into(), Secret::new(token)));
        }
        ensure!(!tokens.is_empty(), "{} has no tokens: write one per line, `TOKEN` or `NAME:TOKEN`", named());
        Ok(Self::Bearer(tokens))
    }

    /// The owner of a token. All are compared completely, so that the time reveals nothing about them.
    pub(super) fn owner_of(&self, given: Option<&str>) -> Option<Owner> {
        let Self::Bearer(tokens) = self else { return Some(Owner::from("everybody")) };
        let given = given.unwrap_or_default();
        tokens
            .iter()
            .fold(None, |owner, (name, token)| if token.is(given) { Some(name) } else { owner })
            .cloned()
    }
}

/// What a token is made of (RFC 6750, section 2.1), and how much of it.
const RULE: &str = "it must have at least 16 letters, digits or `-._~+/=`";

fn is_token(text: &str) -> bool {
    text.len() >= SHORTEST
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
}

/// Reads a file that other users cannot read. The checked file is the one that is read.
#[cfg(unix)]
fn read_private(path: &Path) -> anyhow::Result<String> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::File::open(path)?;
    let about = file.metadata()?;
    ensure!(about.is_file(), "it is not a file");
    if about.mode() & 0o077 != 0 {
        bail!("other users can read or write it; run `chmod 600 {}` first", path.display());
    }
    Ok(io::read_to_string(file)?)
}

/// Reads a file. Whether others may read it is unknown on this system.
#[cfg(not(unix))]
fn read_private(path: &Path) -> anyhow::Result<String> {
    Ok(io::read_to_string(std::fs::File::open(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_token_file_names_owners() {
        let file = file("# for the team\nalice:abcdefghijklmnop\n\nqrstuvwxyz012345\n", 0o600);
        let tokens = Tokens::of_file(file.path()).unwrap();
        let table = [
            (Some("abcdefghijklmnop"), Some("alice")),
            (Some("qrstuvwxyz012345"), Some("line 4")),
            (Some("qrstuvwxyz01234"), None),
            (Some("alice:abcdefghijklmnop"), None),
            (Some(""), None),
            (None, None),
        ];
        for (given, owner) in table {
            assert_eq!(tokens.owner_of(given).as_deref(), owner, "{given:?}");
        }
    }

    #[test]
    fn exposed_or_malformed_token_file_is_refused() {
        let good = "abcdefghijklmnop";
        let table = [
            (good, 0o640, "chmod 600"),
            (good, 0o604, "chmod 600"),
            ("", 0o600, "has no tokens"),
            ("# nothing\n", 0o600, "has no tokens"),
            ("short", 0o600, "at least 16"),
            ("with a space in the middle", 0o600, "line 1"),
            ("a:abcdefghijklmnop\na:qrstuvwxyz012345", 0o600, "repeats"),
            ("a:abcdefghijklmnop\nb:abcdefghijklmnop", 0o600, "repeats"),
        ];
        for (text, mode, problem) in table {
            let file = file(text, mode);
            let refused = Tokens::of_file(file.path()).err().expect(text);
            let refused = format!("{refused:#}");
            assert!(refused.contains(problem), "{text:?}: {refused}");
            assert!(!refused.contains(good), "{refused}");
        }
        assert!(Tokens::of_file(Path::new("/no/such/file")).is_err());
        assert!(Tokens::of_file(Path::new("/")).is_err());
    }
}
