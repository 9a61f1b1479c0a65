//! Where the files are.

use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use etcetera::BaseStrategy;

use super::{ConfigArgs, environment};

/// What a file is called.
pub(super) const NAME: &str = "stillframe.toml";

/// The files to read, the weakest first, and whether each is a project's.
pub(super) fn files(args: &ConfigArgs) -> anyhow::Result<Vec<(PathBuf, bool)>> {
    if args.no_config {
        return Ok(Vec::new());
    }
    let of_variable = || Some((environment::CONFIG, environment::variable(environment::CONFIG)?.into()));
    let chosen = args.config.clone().map(|file| ("--config", file)).or_else(of_variable);
    if let Some((origin, chosen)) = chosen {
        if chosen.as_os_str() == "off" {
            return Ok(Vec::new());
        }
        if !chosen.is_file() {
            let shown = chosen.display();
            bail!("{origin}: no configuration file `{shown}`; use `--no-config` to run without one");
        }
        return Ok(vec![(chosen, false)]);
    }
    let strategy = etcetera::choose_base_strategy().ok();
    let user = strategy.as_ref().map(|strategy| strategy.config_dir().join("stillframe").join(NAME));
    let home = strategy.as_ref().map(|strategy| strategy.home_dir().to_owned());
    let here = std::env::current_dir().ok();
    let mut files = Vec::new();
    if let Some(user) = user
        && is_there(&user)?
    {
        files.push((user, false));
    }
    if let Some(here) = here
        && let Some(project) = of_project(&here, home.as_deref())?
    {
        files.push((project, true));
    }
    Ok(files)
}

/// Whether there is a file of that name. What is there and cannot be read is an error: it may forbid something.
fn is_there(file: &Path) -> anyhow::Result<bool> {
    let shown = file.display();
    let look = || format!("cannot access `{shown}`; use `--no-config` to run without it");
    match file.symlink_metadata() {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(false),
        Err(error) => return Err(error).with_context(look),
    }
    // A link may lead nowhere, or round and round.
    let leads_to = file.metadata().with_context(look)?;
    ensure!(leads_to.is_file(), "`{shown}` is not a regular file; use `--no-config` to run without it");
    Ok(true)
}

/// The nearest file above a folder: in its repository, or below the home. Outside of both, only the folder itself is
/// searched, because its parents may belong to other users.
fn of_project(here: &Path, home: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    let repository = here.ancestors().find(|folder| folder.join(".git").exists());
    let below_home = |folder: &&Path| home.is_some_and(|home| folder.starts_with(home) && *folder != home);
    let folders: Vec<&Path> = match repository {
        Some(repository) => here.ancestors().take_while(|folder| folder.starts_with(repository)).collect(),
        None if below_home(&here) => here.ancestors().take_while(below_home).collect(),
        None => vec![here],
    };
    for folder in folders {
        let file = folder.join(NAME);
        if is_there(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_is_searched_up_to_the_repository_or_home() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let deep = base.join("home/repository/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        let write = |folder: &str| {
            let file = base.join(folder).join(NAME);
            std::fs::write(&file, "").unwrap();
            file
        };
        let home = base.join("home");
        let above = write("");
        let in_home = write("home");
        assert_eq!(
            of_project(&deep, Some(&home)).unwrap(),
            None,
            "what is in the home itself is no project's"
        );
        let here = base.join("home/repository");
        let in_repository = write("home/repository");
        assert_eq!(of_project(&deep, Some(&home)).unwrap(), Some(in_repository.clone()));
        std::fs::create_dir(here.join(".git")).unwrap();
        assert_eq!(of_project(&deep, None).unwrap(), Some(in_repository));
        let nearer = write("home/repository/src");
        assert_eq!(of_project(&deep, None).unwrap(), Some(nearer));
        assert_eq!(of_project(&base.join("home"), None).unwrap(), Some(in_home), "a folder alone");
        assert_eq!(of_project(&base, None).unwrap(), Some(above));
    }
}
