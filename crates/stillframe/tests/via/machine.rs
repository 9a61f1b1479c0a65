//! Another machine: an sshd on the loopback interface, with keys and a configuration of its own.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};
use test_support::{Server, ServerOptions};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, JoinSet};

use crate::STILLFRAME;

/// An sshd for each connection, as inetd starts it.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    address: SocketAddr,
    accepting: Vec<JoinHandle<()>>,
}

impl Machine {
    /// Starts one that has a copy of the program already, which copying would take seconds for.
    pub(crate) async fn start() -> Self {
        static HASH: LazyLock<String> = LazyLock::new(|| {
            data_encoding::HEXLOWER.encode(&Sha256::digest(std::fs::read(STILLFRAME.program).unwrap()))
        });
        let machine = Self::bare().await;
        let copy = machine.copies().join(&*HASH);
        std::fs::create_dir_all(&copy).unwrap();
        let copy = copy.join("stillframe");
        let linked = std::fs::hard_link(STILLFRAME.program, &copy);
        linked.or_else(|_| std::fs::copy(STILLFRAME.program, &copy).map(drop)).unwrap();
        machine
    }

    /// Starts it. Its home folder is a new one; debuggers are those of the tests.
    pub(crate) async fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host", "user"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).await;
        }
        if rustix::process::geteuid().is_root() {
            // Where sshd of the system is not started, its empty folder may be missing.
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        std::fs::create_dir(path("home")).unwrap();
        std::fs::create_dir(path("bin")).unwrap();
        let cache = STILLFRAME.cache().await;
        let daemon = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nLogLevel ERROR\n\
             AcceptEnv STILLFRAME_TEST_MARK\n\
             SetEnv HOME={} XDG_CACHE_HOME={} STILLFRAME_CACHE_DIR={} STILLFRAME_CONFIG=off\n",
            path("host"),
            path("user.pub"),
            path("home"),
            path("home"),
            cache.display()
        );
        std::fs::write(path("sshd_config"), daemon).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let host_key = std::fs::read_to_string(path("host.pub")).unwrap();
        let known = format!("[{}]:{} {host_key}", address.ip(), address.port());
        std::fs::write(path("known_hosts"), known).unwrap();
        let client = format!(
            "UserKnownHostsFile {}\nStrictHostKeyChecking yes\nIdentityFile {}\nIdentitiesOnly yes\n\
             SendEnv STILLFRAME_TEST_MARK\n",
            path("known_hosts"),
            path("user")
        );
        std::fs::write(path("ssh_config"), client).unwrap();
        // The server starts `ssh` as a user would, whose configuration this is.
        let ssh = which("ssh");
        let script = format!("#!/bin/sh\nexec {} -F {} \"$@\"\n", ssh.display(), path("ssh_config"));
        executable(&folder.path().join("bin/ssh"), &script);
        let accepting = tokio::spawn(accept(listener, path("sshd_config"), None));
        Self { folder, address, accepting: vec![accepting] }
    }

    /// The address of one more machine with the same keys, whose network is that of a process.
    pub(crate) async fn sibling(&mut self, network_of: u32) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let known = std::fs::read_to_string(path("known_hosts")).unwrap();
        let host_key = std::fs::read_to_string(path("host.pub")).unwrap();
        std::fs::write(
            path("known_hosts"),
            format!("{known}[{}]:{} {host_key}", address.ip(), address.port()),
        )
        .unwrap();
        self.accepting.push(tokio::spawn(accept(listener, path("sshd_config"), Some(network_of))));
        format!("ssh://{address}")
    }

    /// Its address, as `--via` takes it.
    pub(crate) fn address(&self) -> String {
        format!("ssh://{}", self.address)
    }

    /// The folder that is another machine's.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the program is copied to.
    pub(crate) fn copies(&self) -> PathBuf {
        self.folder.path().join("home/stillframe/bin")
    }

    /// The `PATH` in which `ssh` knows this machine.
    pub(crate) fn path(&self) -> String {
        format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap())
    }

    /// How a server here is started that debugs there.
    pub(crate) async fn options(&self, args: &[&str]) -> ServerOptions {
        let mut options = STILLFRAME.options().await;
        options.args.extend(["--via".to_owned(), self.address()]);
        options.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        options.env.push(("PATH".to_owned(), self.path()));
        options
    }

    /// A server here that debugs there.
    pub(crate) async fn serve(&self, args: &[&str]) -> Server {
        self.options(args).await.start().await
    }

    /// Ends all connections and accepts no more.
    pub(crate) async fn end(&mut self) {
        for accepting in self.accepting.drain(..) {
            accepting.abort();
            let _ = accepting.await;
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.accepting.iter().for_each(JoinHandle::abort);
    }
}

async fn accept(listener: TcpListener, config: String, network_of: Option<u32>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let mut child = daemon(&config, stream, network_of);
        connections.spawn(async move { child.wait().await });
    }
}

#[expect(clippy::disallowed_methods, reason = "a program of the test, which ends with its connection")]
fn daemon(config: &str, stream: TcpStream, network_of: Option<u32>) -> Child {
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    let output: OwnedFd = stream.try_clone().unwrap().into();
    let mut command = match network_of {
        Some(process) => {
            let mut command = Command::new(which("nsenter"));
            command.args(["--target", &process.to_string(), "--net", "--"]).arg(which("sshd"));
            command
        }
        None => Command::new(which("sshd")),
    };
    command.args(["-i", "-e", "-f", config]).stdin(Stdio::from(OwnedFd::from(stream))).stdout(output);
    command.stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap()
}

/// A program of the system; sshd is not on everyone's `PATH`.
pub(crate) fn which(name: &str) -> PathBuf {
    let path = format!("{}:/usr/sbin:/usr/local/sbin:/sbin", std::env::var("PATH").unwrap());
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join(name));
    folders.find(|file| file.is_file()).unwrap_or_else(|| panic!("`{name}` is missing: run .ci/install"))
}

/// Writes a script that can be started.
pub(crate) fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes a program without symbols.
#[expect(clippy::disallowed_methods, reason = "a program that ends by itself, and is waited for")]
pub(crate) fn strip(program: &str, stripped: &Path) {
    let mut strip = std::process::Command::new("strip");
    assert!(strip.arg("-o").args([stripped, Path::new(program)]).status().unwrap().success(), "strip");
}

#[expect(clippy::disallowed_methods, reason = "a program that ends by itself, and is waited for")]
async fn run(program: &str, args: &[&str]) {
    assert!(Command::new(program).args(args).status().await.unwrap().success(), "{program} {args:?}");
}
