//! A program under `node --inspect-brk`, which does not outlive its test.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

/// Longer than anything takes.
pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) struct Node {
    pub(crate) address: cdp::Address,
    child: Child,
    folder: TempDir,
    /// Ends with the process and its children.
    stderr: JoinHandle<()>,
}

impl Node {
    /// Starts a program, which waits for a debugger.
    #[expect(clippy::disallowed_methods, reason = "killed and waited for when it is dropped")]
    pub(crate) async fn start(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("main.js");
        std::fs::write(&path, script).unwrap();
        let mut child = Command::new("node")
            .args(["--inspect-brk=0", "main.js"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("node is on the search path");
        let stderr = ChildStderr::from_std(child.stderr.take().unwrap()).unwrap();
        let mut lines = BufReader::new(stderr).lines();
        let announced = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some(address) = cdp::discovery::listening(&line) {
                    return Some(address);
                }
            }
            None
        };
        let announced = tokio::time::timeout(SOON, announced).await;
        let stderr = tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let Ok(Some(address)) = announced else {
            end(&mut child);
            panic!("no inspector is announced: {announced:?}");
        };
        Self { address, child, folder, stderr }
    }

    pub(crate) async fn connect(&self) -> (cdp::Client, cdp::Incoming) {
        let (client, incoming, driver) = cdp::connect(&self.address, SOON).await.unwrap();
        tokio::spawn(driver);
        (client, incoming)
    }

    pub(crate) fn script_url(&self) -> String {
        let path = self.folder.path().canonicalize().unwrap().join("main.js");
        format!("file://{}", path.display())
    }

    /// Waits for its end.
    pub(crate) async fn end(&mut self) -> ExitStatus {
        tokio::time::timeout(SOON, &mut self.stderr).await.expect("it ends").unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
