//! Containers: one made of namespaces of the kernel, reached by stand-ins for docker, podman and kubectl that record
//! their command lines, and podman and docker's own client where they run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use test_support::{Fixture, Server, ServerOptions};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::STILLFRAME;
use crate::machine::{executable, which};

/// A container: processes and mounts of its own, among them `/srv/app` with a program, and nothing of this project.
struct Container {
    folder: tempfile::TempDir,
    process: Child,
}

impl Container {
    /// Starts it. None where the system has no namespaces for us.
    async fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("here");
        std::fs::create_dir_all(here.join("src")).unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        let program = Fixture::python("shop");
        std::fs::copy(program.path(), here.join("src/shop.py")).unwrap();
        let script = format!(
            "mount -t tmpfs none /srv && mkdir /srv/app && cp {} /srv/app/shop.py && mount -t tmpfs none {} && \
             echo ready && exec sleep 1000",
            program.path(),
            here.display()
        );
        let mut unshare = command("unshare");
        if !rustix::process::geteuid().is_root() {
            unshare.arg("--map-root-user");
        }
        unshare.args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", &script]);
        let mut process = unshare.stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        if process.stdout.take().unwrap().read_exact(&mut ready).await.is_err() {
            test_support::say("NOT TESTED: a container of namespaces, which this system does not allow\n");
            return None;
        }
        Some(Self { folder, process })
    }

    /// The number of its first process.
    fn init(&self) -> String {
        let parent = self.process.id().unwrap();
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
        children.trim().to_owned()
    }

    fn here(&self) -> PathBuf {
        self.folder.path().join("here")
    }

    /// A server here that debugs there, by an engine that is a stand-in: it records its arguments, and runs what
    /// follows `last` in the container.
    async fn options(&self, engine: &str, last: &str, args: &[&str]) -> ServerOptions {
        let bin = self.folder.path().join("bin");
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >{record}\nuntil [ \"$1\" = {last} ]; do shift; done\nshift\n\
             export XDG_CACHE_HOME={cache}\nexec {nsenter} --target {pid} --mount --pid -- \"$@\"\n",
            record = self.record().display(),
            cache = self.folder.path().join("cache").display(),
            nsenter = which("nsenter").display(),
            pid = self.init(),
        );
        executable(&bin.join(engine), &script);
        let mut options = STILLFRAME.options().await;
        options.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        options
            .env
            .push(("PATH".to_owned(), format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())));
        options.cwd = Some(self.here());
        options
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join("record")
    }

    /// The recorded command line, without the script.
    fn recorded(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.record()).unwrap();
        text.lines().take_while(|line| *line != "umask 077").map(str::to_owned).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "a container that ends with the test")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.kill_on_drop(true);
    command
}

/// Debugs the program of `/srv/app` by its path here, and returns the server's instructions.
async fn debugs(server: &Server, file: &Path) {
    let shop = Fixture::python("shop");
    let until = json!([{ "line": shop.line("total") }]);
    let call =
        json!({ "program": file, "until": until, "expressions": ["__file__", "amount"], "close": true });
    let stop = server.ok("run_until", call).await;
    assert_eq!(stop["location"]["file"], file.to_str().unwrap(), "{stop:?}");
    let values = stop["values"].to_string();
    assert!(values.contains("'/srv/app/shop.py'") && values.contains("11"), "{values}");
}

#[tokio::test]
async fn each_engine_runs_the_program_in_a_container() {
    let Some(container) = Container::start().await else { return };
    let table = [
        ("docker", "web", "docker://web", "exec --interactive web sh -c"),
        ("podman", "web", "podman://app@web", "exec --interactive --user app web sh -c"),
        (
            "kubectl",
            "--",
            "kubectl://shop/web-0/app",
            "exec --stdin --namespace shop --container app web-0 -- sh -c",
        ),
        ("wsl.exe", "--exec", "wsl://Debian", "--distribution Debian --exec sh -c"),
    ];
    for (engine, last, address, expected) in table {
        let options = container.options(engine, last, &["--via", address, "--map", "/srv/app=src"]).await;
        let server = options.start().await;
        debugs(&server, &container.here().join("src/shop.py")).await;
        server.finish().await;
        assert_eq!(container.recorded().join(" "), expected);
    }
}

#[tokio::test]
async fn a_mapping_is_guessed_by_the_content_of_files_and_reported() {
    let Some(container) = Container::start().await else { return };
    let file = container.here().join("src/shop.py");
    let src = container.here().join("src").display().to_string();
    let mut options = container.options("docker", "web", &["--via", "docker://web"]).await;
    options.era = test_support::ProtocolEra::Stateless;
    let server = options.start().await;
    let info = server.request("server/discover", json!({})).await.unwrap();
    let instructions = info["instructions"].as_str().unwrap();
    assert!(instructions.contains(&format!("`/srv/app` there is `{src}` here")), "{instructions}");
    assert!(instructions.contains("guessed from 1 file"), "{instructions}");
    debugs(&server, &file).await;
    server.finish().await;

    let server =
        container.options("docker", "web", &["--via", "docker://web", "--map", "none"]).await.start().await;
    let refused = server.call("run_until", json!({ "program": file, "close": true })).await;
    assert!(refused.is_error && refused.text.contains("shop.py"), "{}", refused.text);
    server.finish().await;
}

#[tokio::test]
async fn sources_that_are_nowhere_there_are_reported() {
    let Some(container) = Container::start().await else { return };
    std::fs::remove_file(container.here().join("src/shop.py")).unwrap();
    let file = container.here().join("src/other.py");
    std::fs::write(&file, format!("name = '{}'\n", file.display()).repeat(9)).unwrap();
    let mut options = container.options("docker", "web", &["--via", "docker://web"]).await;
    options.era = test_support::ProtocolEra::Stateless;
    let server = options.start().await;
    let info = server.request("server/discover", json!({})).await.unwrap();
    let nowhere = format!(
        "no folder on docker://web is known to have the sources of `{}`; give --map THERE=HERE",
        container.here().display()
    );
    assert!(info["instructions"].as_str().unwrap().contains(&nowhere), "{info}");
    let failed = server.call("run_until", json!({ "program": file, "close": true })).await;
    assert!(failed.text.contains("is here, and no `--map` names its folder there"), "{}", failed.text);
    let (_, log) = server.finish().await;
    assert!(log.contains(&nowhere), "{log}");
}

#[tokio::test]
async fn a_running_program_is_attached_to_by_its_number_there() {
    let Some(container) = Container::start().await else { return };
    let program = container.folder.path().join("waits.py");
    std::fs::write(
        &program,
        "import os, time\nprint(os.getpid(), flush=True)\nwhile True:\n    time.sleep(0.02)\n",
    )
    .unwrap();
    let mut command = command("nsenter");
    command.args(["--target", &container.init(), "--mount", "--pid", "--", "python3"]).arg(&program);
    let mut running = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let number: u32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    let server =
        container.options("docker", "web", &["--via", "docker://web", "--map", "none"]).await.start().await;
    let session =
        server.ok("create_debug_session", json!({ "language": "python" })).await["sessionId"].clone();
    let stop = server.ok("attach_to_process", json!({ "sessionId": session, "processId": number })).await;
    assert_eq!(stop["state"], "paused", "{stop:?}");
    let pid = json!({ "sessionId": session, "expression": "os.getpid()" });
    assert_eq!(server.ok("evaluate_expression", pid).await["result"], number.to_string());
    server.ok("detach_from_process", json!({ "sessionId": session })).await;
    server.finish().await;
    assert!(running.try_wait().unwrap().is_none(), "an attached program keeps running");
}

#[tokio::test]
#[ignore = "podman and docker's client are installed by `.ci/run --full`"]
async fn podman_and_docker_run_the_program_in_a_container() {
    let name = format!("stillframe-test-{}", std::process::id());
    // Every machine has the root file system; what is written to it stays in the container.
    let run = [
        "--ulimit",
        "nofile=1024:1024",
        "--ulimit",
        "nproc=1024:1024",
        "--network",
        "host",
        "--rootfs",
        "/:O",
    ];
    let engine = ["--cgroup-manager", "cgroupfs", "--runtime", "runc"];
    let mut podman = command("podman");
    let cache = format!("STILLFRAME_CACHE_DIR={}", STILLFRAME.cache().await.display());
    podman
        .args(engine)
        .args(["run", "--detach", "--name", &name, "--env", &cache])
        .args(run)
        .args(["sleep", "1000"]);
    let started = podman.stdin(Stdio::null()).output().await.unwrap();
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    runs_in_container(&format!("podman://{name}"), None).await;

    // podman answers docker's client as docker's daemon does.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("docker.sock");
    let host = format!("unix://{}", socket.display());
    let mut service = command("podman");
    service.args(engine).args(["system", "service", "--time", "0", &host]);
    let mut service = service.stdin(Stdio::null()).spawn().unwrap();
    test_support::eventually(|| socket.exists()).await;
    runs_in_container(&format!("docker://{name}"), Some(("DOCKER_HOST".to_owned(), host))).await;
    service.kill().await.unwrap();
    let _ = command("podman").args(["rm", "--force", "--time", "0", &name]).output().await;
}

/// Stops a program in a container whose first process is `sleep`.
async fn runs_in_container(address: &str, variable: Option<(String, String)>) {
    let mut options = STILLFRAME.options().await;
    options.args.extend(["--via", address, "--map", "none"].map(str::to_owned));
    options.env.extend(variable);
    let server = options.start().await;
    let shop = Fixture::python("shop");
    let until = json!([{ "line": shop.line("total") }]);
    let call =
        json!({ "program": shop.path(), "until": until, "expressions": ["open('/proc/1/comm').read()"] });
    let stop = server.ok("run_until", call).await;
    assert!(stop["values"].to_string().contains("sleep"), "{address}: {stop:?}");
    server.finish().await;
}
