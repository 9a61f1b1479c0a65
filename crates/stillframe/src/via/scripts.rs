//! The scripts of the POSIX shell that run on the other side.
//!
//! They need what every Unix has, and say what they do in lines that begin with [`MARK`].

use super::engines::quoted;

/// How a line for us begins. What a login shell prints before is ignored.
pub(super) const MARK: &str = "stillframe-via ";

/// The folders that the program may be copied to, the first that can be written wins: `$d/stillframe/bin`.
/// The one in `/tmp` is the user's own, or it is not used.
const FOLDERS: &str = r#""$XDG_CACHE_HOME" "$HOME/.cache" "/tmp/stillframe-$(id -u)""#;

/// Has the program there, with this hash and size, and starts it with the arguments. It is copied from standard
/// input, if it is missing or damaged.
pub(super) fn run(hash: &str, size: u64, folder: Option<&str>, args: &[String]) -> String {
    let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
    let args = args.join(" ");
    // A folder that is missing there is no reason to fail: it is where relative paths begin.
    let enter = folder.map_or_else(String::new, |folder| format!("cd {} 2>/dev/null\n", quoted(folder)));
    format!(
        r#"umask 077
sum() {{ {{ sha256sum <"$1" || shasum -a 256 <"$1"; }} 2>/dev/null | cut -d " " -f 1; }}
f=
for c in {FOLDERS}; do
  d=$c/stillframe/bin/{hash}
  case $c in /*) mkdir -p "$d" 2>/dev/null && [ -O "$d" ] && [ -w "$d" ] && f=$d/stillframe && break;; esac
done
system=$(uname -s) machine=$(uname -m)
if [ -z "$f" ]; then echo "{MARK}unwritable $system $machine"; exit 1; fi
if [ -f "$f" ] && [ "$(sum "$f")" = {hash} ]; then echo "{MARK}have $system $machine $HOME"; else
  echo "{MARK}need $system $machine $HOME"
  head -c {size} >"$f.$$"
  got=$(sum "$f.$$")
  if [ "$got" = {hash} ] && chmod 700 "$f.$$" && mv -f "$f.$$" "$f"; then echo "{MARK}copied"; else
    rm -f "$f.$$"; echo "{MARK}damaged $got"; exit 1
  fi
fi
{enter}exec "$f" {args}"#
    )
}

/// Removes the copies of this user there, of all versions.
pub(super) fn clean() -> String {
    format!(
        r#"for c in {FOLDERS}; do
  d=$c/stillframe/bin
  case $c in /*) if [ -d "$d" ] && [ -O "$d" ]; then rm -rf "$d" && echo "{MARK}removed $d"; fi;; esac
done
echo "{MARK}clean""#
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::via::program::hex_hash;

    /// What the script prints with this input, in a machine whose home is the folder.
    #[expect(clippy::disallowed_methods, reason = "a shell that ends by itself, and is waited for")]
    fn printed(script: &str, home: &Path, input: &[u8]) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env_remove("XDG_CACHE_HOME").env("HOME", home);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // A shell that ends early does not read it.
        let _ = shell.stdin.take().unwrap().write_all(input);
        String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn the_program_is_copied_once_verified_started_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\npwd\nprintf '<%s>' \"$@\"; cat\n";
        let hash = hex_hash(program);
        let args = ["a b".to_owned(), "it's $HOME".to_owned(), String::new()];
        let folder = home.path().join("it's here");
        std::fs::create_dir(&folder).unwrap();
        let script = run(&hash, program.len() as u64, folder.to_str(), &args);
        let shown = folder.display();
        let after = format!("{shown}\n<a b><it's $HOME><>rest");

        let damaged = printed(&script, home.path(), b"#!/bin/sh\n");
        assert!(damaged.contains(&format!("{MARK}damaged ")), "{damaged}");
        let input = [&program[..], b"rest"].concat();
        let first = printed(&script, home.path(), &input);
        assert!(first.starts_with(&format!("{MARK}need Linux ")), "{first}");
        assert!(first.ends_with(&format!("\n{MARK}copied\n{after}")), "{first}");
        let second = printed(&script, home.path(), b"rest");
        assert!(second.starts_with(&format!("{MARK}have Linux ")) && second.ends_with(&after), "{second}");

        let copies = home.path().join(".cache/stillframe/bin");
        std::fs::write(copies.join(&hash).join("stillframe"), "#!/bin/sh\necho evil\n").unwrap();
        let third = printed(&script, home.path(), &input);
        assert!(third.contains("need Linux") && third.ends_with(&after), "{third}");

        let cleaned = printed(&clean(), home.path(), b"");
        assert_eq!(cleaned, format!("{MARK}removed {}\n{MARK}clean\n", copies.display()));
        assert!(!copies.exists());
        assert_eq!(printed(&clean(), home.path(), b""), format!("{MARK}clean\n"));
    }
}
