//! What becomes the program that `lldb-dap` starts with our pipes for its terminal.
//!
//! LLDB attaches to its launcher, which then executes the program. Its own launcher is `lldb-dap` itself, so that LLDB
//! reads the symbols of all of LLVM each time: 0.6 s of 1.05.

use std::path::Path;

/// Does as `RunInTerminalLauncherCommChannel` in LLVM 19's `lldb/tools/lldb-dap/RunInTerminal.cpp`: it writes its number
/// to the FIFO `$0`, waits for the message that LLDB has attached, and becomes the program.
const SCRIPT: &str = r#"printf '{"kind":"pid","pid":%s}\n' $$ >"$0"; read -r _ <"$0"; exec "$@""#;
/// What runs such scripts.
pub(super) const SHELL: &str = "/bin/sh";

/// A shell in place of `lldb-dap`'s own launcher, by that launcher's command line, where LLDB may attach to a shell.
pub(super) fn launcher(words: Vec<String>) -> Vec<String> {
    with_shell(&words).filter(|_| may_attach()).unwrap_or(words)
}

fn with_shell(words: &[String]) -> Option<Vec<String>> {
    let after = |name: &str| words.iter().position(|word| word == name).map(|at| at + 1);
    let fifo = words.get(after("--comm-file")?)?;
    let program = words.get(after("--launch-target")?..)?;
    let shell = [SHELL, "-c", SCRIPT, fifo].map(str::to_owned);
    Some(shell.into_iter().chain(program.iter().cloned()).collect())
}

/// Whether a process may attach to one that has not agreed to it, which a shell cannot do. macOS protects its shell.
fn may_attach() -> bool {
    // `ptrace_scope` in the kernel's `Documentation/admin-guide/LSM/Yama.rst`. Without Yama, the file is not there.
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    cfg!(target_os = "linux") && matches!(scope.trim(), "" | "0") && Path::new(SHELL).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_place_of_the_adapters_launcher() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let own = words(
            "/usr/bin/lldb-dap --comm-file /tmp/fifo --debugger-pid 7 --launch-target ./a b --comm-file",
        );
        let expected =
            [words("/bin/sh -c"), vec![SCRIPT.to_owned()], words("/tmp/fifo ./a b --comm-file")].concat();
        assert_eq!(with_shell(&own), Some(expected));
        assert_eq!(with_shell(&words("./a b")), None);
        assert_eq!(with_shell(&words("lldb-dap --comm-file")), None);
    }
}
