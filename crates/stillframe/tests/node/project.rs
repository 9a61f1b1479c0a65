//! Projects with packages, each built in a separate folder.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use test_support::{Fixture, repository, run_tool, toolchains};

use crate::STILLFRAME;
use crate::debugging::{Debugging, folder};

/// A project in a folder of its own, which goes with it.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// A project that these packages are installed for.
    pub(crate) async fn with(packages: &[&str]) -> Self {
        Self::linked(&toolchains().await, packages)
    }

    /// The same, with packages from another folder.
    pub(crate) fn linked(installed: &Path, packages: &[&str]) -> Self {
        let project = Self { folder: folder() };
        project.file("package.json", "{}");
        for package in packages {
            let link = project.path("node_modules").join(package);
            std::fs::create_dir_all(link.parent().expect("a folder")).expect("a folder can be made");
            std::os::unix::fs::symlink(installed.join(package), link).expect("a link can be made");
        }
        project
    }

    /// The project of `fixtures/typescript`, with the packages that run it.
    pub(crate) async fn typescript(packages: &[&str]) -> Self {
        let project = Self::with(packages).await;
        for name in ["main.ts", "basket.ts"] {
            let text = std::fs::read_to_string(repository().join("fixtures/typescript/src").join(name));
            project.file(&format!("src/{name}"), &text.expect("the fixture is there"));
        }
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, text: &str) -> Fixture {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        Fixture::write(self.folder(), name, text)
    }

    /// A file that is there.
    pub(crate) fn read(&self, name: &str) -> Fixture {
        Fixture::read(self.path(name))
    }

    /// Runs an installed command.
    pub(crate) async fn run(&self, tool: &str, args: &[&str]) {
        run_tool(self.folder(), tool, args).await;
    }
}

impl Debugging {
    /// A session whose programs are run by this one.
    pub(crate) async fn with_executable(executable: PathBuf) -> Self {
        let server = STILLFRAME.serve().await;
        let arguments = json!({ "language": "javascript", "executablePath": executable });
        let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
        Self { server, id }
    }
}
