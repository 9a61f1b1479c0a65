//! The scripts of the POSIX shell that run on the other side.
//!
//! They need what every Unix has, and say what they do in lines that begin with [`MARK`].

use tools::quoted;

/// How a line for us begins. What a login shell prints before is ignored.
pub(super) const MARK: &str = "stillframe-via ";

/// The folders that the program may be copied to, the first that can be written wins: `$d/stillframe/bin`.
/// The one in `/tmp` is the user's own, or it is not used. The program keeps debuggers there, too.
const FOLDERS: &str = r#""$XDG_CACHE_HOME" "$HOME/.cache" "/tmp/stillframe-$(id -u)""#;

/// What is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied<'p> {
    pub(super) hash: &'p str,
    pub(super) size: u64,
    /// What it prints for `--version`.
    pub(super) version: &'p str,
}

/// Has the program there, and starts it with the arguments in a folder, if that is there. It is copied from standard
/// input, if it is missing or damaged. Says which of some folders are missing, and the paths without links of those, by
/// their numbers, that have others.
pub(super) fn run(program: Copied<'_>, folders: &[&str], folder: Option<&str>, args: &[String]) -> String {
    let Copied { hash, size, version } = program;
    let version = quoted(version);
    let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
    let args = args.join(" ");
    // A folder that is missing there is no reason to fail: it is where relative paths begin.
    let enter = folder.map_or_else(String::new, |folder| format!("cd {} 2>/dev/null\n", quoted(folder)));
    let check = |(number, folder): (usize, &&str)| {
        let folder = quoted(folder);
        format!(
            "[ -d {folder} ] || printf '{MARK}missing %s\\n' {folder}\n\
             r=$(cd {folder} 2>/dev/null && pwd -P) && [ \"$r\" != {folder} ] && \
             printf '{MARK}resolved {number} %s\\n' \"$r\"\n"
        )
    };
    let checks: String = folders.iter().enumerate().map(check).collect();
    format!(
        r#"umask 077
sum() {{ {{ sha256sum <"$1" || shasum -a 256 <"$1"; }} 2>/dev/null | cut -d " " -f 1; }}
f=
for c in {FOLDERS}; do
  d=$c/stillframe/bin/{hash}
  case $c in /tmp/stillframe-*) mkdir "$c" 2>/dev/null; [ -O "$c" ] || continue;; esac
  case $c in /*) mkdir -p "$d" 2>/dev/null && [ -O "$d" ] && [ -w "$d" ] && f=$d/stillframe && break;; esac
done
system=$(uname -s) machine=$(uname -m)
if [ -z "$f" ]; then echo "{MARK}unwritable $system $machine"; exit 1; fi
case $c in "$XDG_CACHE_HOME"|"$HOME/.cache") ;;
  *) export STILLFRAME_CACHE_DIR="${{STILLFRAME_CACHE_DIR:-$c/stillframe}}";; esac
if [ -f "$f" ] && [ "$(sum "$f")" = {hash} ]; then echo "{MARK}have $system $machine $HOME"; else
  echo "{MARK}need $system $machine $HOME"
  head -c {size} >"$f.$$"
  got=$(sum "$f.$$")
  if [ "$got" = {hash} ] && chmod 700 "$f.$$" && mv -f "$f.$$" "$f"; then echo "{MARK}copied"; else
    rm -f "$f.$$"; rmdir "$d" 2>/dev/null; echo "{MARK}damaged $got"; exit 1
  fi
fi
said=$("$f" --version </dev/null)
code=$?
if [ "$said" != {version} ]; then
  rm -f "$f"; rmdir "$d" 2>/dev/null
  case $code in 126|127) echo "{MARK}unusable"; exit $code;; esac
  printf '{MARK}other %s' "$said" | head -n 1; echo; exit 1
fi
{checks}echo "{MARK}starts"
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
        shell.args(["-c", script]).env("HOME", home);
        shell.env_remove("XDG_CACHE_HOME").env_remove("STILLFRAME_CACHE_DIR");
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // A shell that ends early does not read it.
        let _ = shell.stdin.take().unwrap().write_all(input);
        String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn the_program_is_copied_once_verified_started_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let program =
            b"#!/bin/sh\n[ \"$1\" = --version ] && exec echo sf 1\npwd\nprintf '<%s>' \"$@\"; cat\n";
        let hash = hex_hash(program);
        let copied = Copied { hash: &hash, size: program.len() as u64, version: "sf 1" };
        let args = ["a b".to_owned(), "it's $HOME".to_owned(), String::new()];
        let folder = home.path().join("it's here");
        std::fs::create_dir(&folder).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let folders = ["/", "/no 'such", link.to_str().unwrap()];
        let script = run(copied, &folders, folder.to_str(), &args);
        let shown = folder.canonicalize().unwrap();
        let shown = shown.display();
        let missing = format!("{MARK}missing /no 'such\n{MARK}resolved 2 {shown}\n{MARK}starts\n");
        let after = format!("{missing}{shown}\n<a b><it's $HOME><>rest");

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

    #[test]
    fn where_the_home_folder_cannot_be_written_debuggers_are_beside_the_copy() {
        let program =
            b"#!/bin/sh\n[ \"$1\" = --version ] && exec echo sf 1\necho \"$0 $STILLFRAME_CACHE_DIR\"\n";
        let hash = hex_hash(program);
        let copied = Copied { hash: &hash, size: program.len() as u64, version: "sf 1" };
        // Another folder than that of the user who runs the tests.
        let there = tempfile::tempdir().unwrap();
        let there = format!("{}/stillframe-", there.path().display());
        let script = run(copied, &[], None, &[]).replace("/tmp/stillframe-", &there);
        let said = printed(&script, Path::new("/proc"), program);
        let (file, cache) = said.lines().last().unwrap().split_once(' ').unwrap();
        assert_eq!(file, format!("{cache}/bin/{hash}/stillframe"));
        assert!(cache.starts_with(&there), "{cache}");

        // Another user has made the folder, and may replace what is in it.
        let folder = Path::new(cache).parent().unwrap();
        if std::os::unix::fs::chown(folder, Some(1), None).is_ok() {
            let said = printed(&script, Path::new("/proc"), program);
            assert!(said.starts_with(&format!("{MARK}unwritable ")), "{said}");
        }
    }

    #[test]
    fn what_is_not_the_program_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let table = [
            (&b"#!/bin/sh\necho 'ls 9'\necho more\n"[..], "other ls 9\n"),
            (b"#!/bin/sh\nexit 2\n", "other \n"),
            (b"\x7fELF", "unusable\n"),
        ];
        for (program, expected) in table {
            let hash = hex_hash(program);
            let copied = Copied { hash: &hash, size: program.len() as u64, version: "sf 1" };
            let said = printed(&run(copied, &[], None, &[]), home.path(), program);
            let (_, last) = said.trim_end_matches('\n').rsplit_once(MARK).unwrap();
            assert_eq!(format!("{last}\n"), expected, "{said}");
            let left = std::fs::read_dir(home.path().join(".cache/stillframe/bin")).unwrap().count();
            assert_eq!(left, 0, "{expected}");
        }
    }
}
