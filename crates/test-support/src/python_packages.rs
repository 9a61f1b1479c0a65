//! Python packages, installed by pip into separate environments.

use std::path::PathBuf;

use tokio::sync::OnceCell;

use crate::repository;
use crate::toolchains::{alone, changed, run};

/// The interpreter of an environment that has them. It is made at the first call, unless that was done before and
/// nothing has changed.
pub async fn python_with_packages() -> PathBuf {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    INSTALLED.get_or_init(install).await.clone()
}

/// A GDB with a debug adapter, which few systems have, among the packages; `STILLFRAME_TESTS_GDB` is the path of another
/// version.
pub async fn gdb() -> PathBuf {
    match std::env::var_os("STILLFRAME_TESTS_GDB") {
        Some(path) => path.into(),
        None => python_with_packages().await.with_file_name("gdb"),
    }
}

async fn install() -> PathBuf {
    let folder = repository().join("fixtures/toolchains");
    let environment = folder.join("venv");
    let python = environment.join("bin/python");
    let done = environment.join("installed");
    let _alone = alone().await;
    if changed(&done) < changed(&folder.join("requirements.txt")) {
        let advice = "run pip in fixtures/toolchains/venv to see what is wrong";
        let made = run("python3".as_ref(), &["-m", "venv", "venv"], &folder).await;
        made.unwrap_or_else(|problem| panic!("no environment can be made: {problem}"));
        let args = ["-m", "pip", "install", "--quiet", "-r", "requirements.txt"];
        let installed = run(&python, &args, &folder).await;
        installed.unwrap_or_else(|problem| panic!("the packages cannot be installed: {problem}; {advice}"));
        std::fs::write(&done, "").expect("the environment can be written to");
    }
    python
}
