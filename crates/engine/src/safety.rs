//! What a server may be asked to touch: files, programs, languages, machines, and the state of what it debugs.
//!
//! The rules are data, made from the command line and the configuration. They are consulted where everything
//! passes: when a session is opened, when it starts or reaches a program, when a rule of a breakpoint is set, when
//! something is evaluated or assigned, and when a file is read to be shown. A program that is debugged is not
//! confined by any of this: it does what the user who runs stillframe may do.

mod client_roots;
mod loopback;
mod roots;
mod words;

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::host::Host;
use crate::model::breakpoint::Rule;
use crate::model::launch::{Attach, Endpoint, Launch, Program, Stdin};
use crate::source_map;
use crate::sources;

pub use client_roots::ClientRoots;
pub use roots::{common, resolved};
pub(crate) use words::parts_of;

/// What a server may be asked to touch. The default allows everything but other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Safety {
    /// Folders outside of which nothing is used, links resolved; none for the whole machine.
    pub roots: Option<Vec<PathBuf>>,
    /// The folders that a client lists, inside `roots`; none where clients are not asked.
    pub client_roots: Option<ClientRoots>,
    /// What is debugged must not be changed.
    pub read_only: bool,
    /// The programs that may be started nevertheless, links resolved.
    pub programs: Vec<PathBuf>,
    /// The languages that may be used, by name; none for all.
    pub languages: Option<Vec<String>>,
    /// Programs of other machines may be attached to.
    pub remote_attach: bool,
}

fn forbidden(problem: String, rule: impl Into<String>) -> Error {
    Error::Forbidden { problem, rule: rule.into() }
}

impl Safety {
    /// Whether files and programs are restricted to some folders.
    pub(crate) fn is_confined(&self) -> bool {
        self.roots.is_some() || self.client_roots.is_some()
    }

    /// The folders that they are restricted to.
    fn allowed(&self) -> Option<Cow<'_, [PathBuf]>> {
        match &self.client_roots {
            Some(listed) => Some(Cow::Owned(listed.folders())),
            None => self.roots.as_deref().map(Cow::Borrowed),
        }
    }

    /// Allows the folders that a client lists, as far as they are inside the roots. Those that are not there are left
    /// out.
    pub fn set_client_roots(&self, listed: &[PathBuf]) {
        let Some(known) = &self.client_roots else { return };
        let real: Vec<PathBuf> = listed.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        known.set(match &self.roots {
            Some(outer) => common(outer, &real),
            None => real,
        });
    }

    /// Refuses a language that is not allowed.
    pub fn check_language(&self, name: &str) -> Result<()> {
        match &self.languages {
            Some(allowed) if !allowed.iter().any(|allowed| allowed == name) => Err(forbidden(
                format!("the language `{name}` is not allowed"),
                format!("allowed languages: {}", listed(allowed)),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a file or folder outside of the roots, after all links are resolved. What is not there yet is
    /// judged by where it would be.
    pub fn check_path(&self, path: &Path) -> Result<()> {
        let Some(allowed) = self.allowed() else { return Ok(()) };
        let path = sources::absolute(path);
        match resolved(&path) {
            Some(real) if roots::is_inside(&real, &allowed) => Ok(()),
            _ => Err(self.outside(&path)),
        }
    }

    fn outside(&self, path: &Path) -> Error {
        let allowed = self.allowed().unwrap_or_default();
        let allowed: Vec<String> = allowed.iter().map(|root| root.display().to_string()).collect();
        forbidden(
            format!("`{}` is outside the allowed folders", path.display()),
            format!("allowed folders: {}", listed(&allowed)),
        )
    }

    /// Refuses a file that is open, and that a link has led outside of the roots meanwhile.
    pub(crate) fn check_open(&self, file: &File, path: &Path) -> Result<()> {
        let Some(allowed) = self.allowed() else { return Ok(()) };
        match roots::of_open(file, path) {
            Some(real) if roots::is_inside(&real, &allowed) => Ok(()),
            _ => Err(self.outside(path)),
        }
    }

    /// The lines of a source file, when it may be read. Errors are those of [`sources::read_text`].
    pub fn read_lines(&self, path: &Path) -> Result<Vec<String>> {
        Ok(self.read_text(path)?.lines().map(str::to_owned).collect())
    }

    /// The text of a source file, when it may be read.
    pub(crate) fn read_text(&self, path: &Path) -> Result<String> {
        self.check_path(path)?;
        let read = sources::read_checked(path, |file| self.check_open(file, path));
        read.map_err(|error| self.without_forbidden_names(error))
    }

    /// Refuses a program that must not be used, or whose file cannot be read.
    pub fn check_program_file(&self, path: &Path) -> Result<()> {
        self.check_path(path)?;
        sources::check_readable(path).map_err(|error| self.without_forbidden_names(error))
    }

    /// Names no file that must not be used.
    fn without_forbidden_names(&self, error: Error) -> Error {
        match error {
            Error::NoFile { path, mut similar } => {
                similar.retain(|similar| self.check_path(similar).is_ok());
                Error::NoFile { path, similar }
            }
            error => error,
        }
    }

    /// A source map, not yet decoded, if it may be read.
    pub(crate) fn read_map(
        &self,
        place: &source_map::MapLocation,
    ) -> Result<Vec<u8>, source_map::MapProblem> {
        source_map::read_checked(place, |file, path| self.check_open(file, path))
    }

    /// Refuses an interpreter or a command that is neither inside the roots nor in a folder of the search path.
    /// One without a folder is looked up on the search path.
    pub fn check_executable(&self, host: &dyn Host, executable: &Path) -> Result<()> {
        if !self.is_confined() || is_bare(executable) {
            return Ok(());
        }
        let checked = self.check_path(executable);
        if checked.is_err() && words::is_on_search_path(host, executable) {
            return Ok(());
        }
        checked
    }

    /// Refuses to start a program that must not be.
    ///
    /// `names_files` is whether an environment variable gives code or files to the programs of some language.
    pub fn check_launch(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        launch: &Launch,
        names_files: impl Fn(&str) -> bool,
    ) -> Result<()> {
        self.check_listed(executable, launch)?;
        if !self.is_confined() {
            return Ok(());
        }
        if let Program::Script(path) | Program::Package(path) = &launch.program {
            self.check_path(path)?;
        }
        if let Some(cwd) = &launch.cwd {
            self.check_path(cwd)?;
        }
        if let Stdin::File(path) = &launch.stdin
            && !roots::is_nothing(path)
        {
            self.check_path(path)?;
        }
        if let Some(executable) = executable {
            self.check_executable(host, executable)?;
        }
        // The words after a script belong to the script; the words of a command are files that it runs.
        let own: &[String] =
            if matches!(launch.program, Program::Script(_)) { &[] } else { launch.args.as_slice() };
        let words = || launch.runtime_args.iter().chain(own).map(String::as_str);
        let command: Vec<&str> = executable.and_then(Path::to_str).into_iter().chain(words()).collect();
        if let Some(shell) = words::shell_of_text(&command) {
            return Err(forbidden(
                format!(
                    "cannot check what `{shell}` does with a script text, and files are restricted to some \
                     folders"
                ),
                "run the command directly, without a shell",
            ));
        }
        let folder = launch.working_folder();
        self.check_words(host, &folder, words())?;
        let variables = launch.env.iter().filter(|(name, _)| words::names_files(name) || names_files(name));
        let values = variables.filter_map(|(_, value)| value.as_deref());
        for path in values.flat_map(|value| words::paths_in(&folder, value)) {
            if !words::is_search_folder(host, &path) {
                self.check_executable(host, &path)?;
            }
        }
        Ok(())
    }

    /// Refuses words of a command that are paths outside of the roots.
    pub(crate) fn check_words<'w>(
        &self,
        host: &dyn Host,
        folder: &Path,
        words: impl Iterator<Item = &'w str>,
    ) -> Result<()> {
        let mut paths = words.flat_map(|word| words::paths_in(folder, word));
        paths.try_for_each(|path| self.check_executable(host, &path))
    }

    /// With `--read-only`, a listed program starts unchanged: options and variables can make any interpreter run
    /// something else first.
    fn check_listed(&self, executable: Option<&Path>, launch: &Launch) -> Result<()> {
        if !self.read_only {
            return Ok(());
        }
        let is_listed = |path: &Path| resolved(path).is_some_and(|real| self.programs.contains(&real));
        let listing = || match self.programs.as_slice() {
            [] => "no program is allowed; allow one with `--allow-program PATH`".to_owned(),
            programs => {
                let names: Vec<String> =
                    programs.iter().map(|program| program.display().to_string()).collect();
                format!("allowed programs: {}", listed(&names))
            }
        };
        let problem = match &launch.program {
            Program::Script(path) if is_listed(&sources::absolute(path)) => match executable {
                Some(executable) if !is_listed(executable) => {
                    format!("--read-only does not allow running `{}`", executable.display())
                }
                _ if !launch.runtime_args.is_empty() => {
                    "--read-only does not allow arguments to the interpreter".to_owned()
                }
                _ if !launch.env.is_empty() => {
                    "--read-only does not allow changes to the environment".to_owned()
                }
                _ => return Ok(()),
            },
            program => format!("--read-only does not allow starting `{}`", program.name()),
        };
        Err(forbidden(problem, listing()))
    }

    /// Refuses to reach a program that must not be. `main_of` is the main file of the program, or its working folder
    /// where it is in no file of its own.
    pub(crate) fn check_attach(
        &self,
        attach: &Attach,
        main_of: impl Fn(&Endpoint) -> Option<PathBuf>,
    ) -> Result<()> {
        if !self.is_confined() {
            return Ok(());
        }
        let what = match &attach.to {
            Endpoint::Process(pid) => format!("process {pid}"),
            Endpoint::Core { file, program } => {
                self.check_path(file)?;
                return program.as_deref().map_or(Ok(()), |program| self.check_path(program));
            }
            Endpoint::Address { host, port } => format!("the program at {host}:{port}"),
        };
        match main_of(&attach.to) {
            Some(path) => self.check_path(&path),
            // A program of another machine is in none of the folders of this one.
            None if self.remote_attach => Ok(()),
            None => Err(forbidden(
                format!("cannot tell where {what} is, and programs are restricted to some folders"),
                "start it here, or attach to a local program in a supported language; \
                 `--allow-remote-attach` allows unknown programs",
            )),
        }
    }

    /// Refuses to reach a program on another machine.
    pub async fn check_endpoint(&self, endpoint: &Endpoint) -> Result<()> {
        let Endpoint::Address { host, .. } = endpoint else { return Ok(()) };
        if self.remote_attach || is_here(endpoint).await {
            return Ok(());
        }
        Err(forbidden(
            format!("`{host}` is not this machine"),
            "attach to `127.0.0.1`, `::1` or `localhost`; `--allow-remote-attach` allows other hosts, and a \
             tunnel such as `ssh -L` needs no permission",
        ))
    }

    /// Refuses a rule that evaluates something, when nothing may be changed. What counts hits does not.
    pub fn check_rule(&self, rule: &Rule) -> Result<()> {
        if !self.read_only {
            return Ok(());
        }
        let what = match rule {
            Rule { condition: Some(_), .. } => "a condition",
            Rule { log_message: Some(_), .. } => "a log message",
            Rule { record: Some(_), .. } => "a record",
            _ => return Ok(()),
        };
        Err(self.evaluates(what))
    }

    /// Refuses a condition on exceptions likewise.
    pub fn check_condition(&self, condition: Option<&str>) -> Result<()> {
        match condition {
            Some(_) if self.read_only => Err(self.evaluates("a condition on exceptions")),
            _ => Ok(()),
        }
    }

    #[expect(clippy::unused_self, reason = "it belongs to this policy")]
    fn evaluates(&self, what: &str) -> Error {
        forbidden(
            format!("--read-only does not allow {what}"),
            "the program evaluates it at each hit, and it may have side effects; leave it out, and evaluate \
             at the stop",
        )
    }

    /// Refuses to send anything to what is debugged, or to start something that does.
    pub fn check_trigger(&self) -> Result<()> {
        if self.read_only {
            let rule = "a request may change the debugged program; leave out `trigger`";
            return Err(forbidden("--read-only does not allow a trigger".to_owned(), rule));
        }
        Ok(())
    }

    /// Refuses to end a program that was not started here.
    pub fn check_termination(&self) -> Result<()> {
        if self.read_only {
            let rule = "debugged programs must not be changed; only the person who runs stillframe can lift --read-only";
            return Err(forbidden("--read-only does not allow ending an attached program".to_owned(), rule));
        }
        Ok(())
    }

    /// Refuses to assign.
    pub fn check_assignment(&self) -> Result<()> {
        if self.read_only {
            let rule = "debugged programs must not be changed; only the person who runs stillframe can lift --read-only";
            return Err(forbidden("--read-only does not allow assignments".to_owned(), rule));
        }
        Ok(())
    }

    /// Refuses data breakpoints where nothing may be changed: some debuggers replace what is watched.
    pub fn check_data_breakpoint(&self) -> Result<()> {
        if self.read_only {
            let rule = "debugged programs must not be changed; only the person who runs stillframe can lift --read-only";
            return Err(forbidden("--read-only does not allow watching values".to_owned(), rule));
        }
        Ok(())
    }
}

/// Whether a program is reached by an address of this machine.
pub(crate) async fn is_here(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Address { host, .. } => loopback::is_local(host).await,
        Endpoint::Process(_) | Endpoint::Core { .. } => true,
    }
}

/// A command's name without a folder.
fn is_bare(path: &Path) -> bool {
    path.components().count() == 1 && !path.is_absolute()
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
