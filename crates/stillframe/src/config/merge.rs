//! Which of several values holds: an option before the environment, that before the project's file, that before the
//! user's, and then the default.
//!
//! A project's file comes with its repository, from unknown authors. For safety and limits, it can only tighten;
//! it sets the toolset only if nothing else does, and it cannot set where the journal is and how much of it is kept.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use engine::adapter;
use engine::policy::Policy;
use engine::safety::{Safety, common as common_folders, resolved};
use engine::sources;

use super::{SettingSource, SettingValue, Value, table};

/// The effective settings.
#[derive(Debug)]
pub(super) struct EffectiveSettings {
    pub(super) policy: Policy,
    pub(super) all: Vec<SettingValue>,
    /// A setting of a project's file without effect.
    pub(super) warnings: Vec<String>,
}

/// Computes the effective settings. Later sources take precedence.
pub(super) fn merge(given: Vec<SettingValue>) -> anyhow::Result<EffectiveSettings> {
    let (projects, users): (Vec<SettingValue>, Vec<SettingValue>) =
        given.into_iter().partition(|given| matches!(given.origin, SettingSource::Project { .. }));
    let mut all: Vec<SettingValue> = table::all()
        .map(|setting| SettingValue {
            name: setting.name,
            value: setting.default(),
            origin: SettingSource::Default,
        })
        .collect();
    for given in users {
        if let Some(known) = find(&mut all, given.name) {
            *known = given;
        }
    }
    let was_read_only = flag(&all, "safety.read_only");
    let asked_to_confirm = flag(&all, "safety.confirm");
    let had_client_roots = flag(&all, "safety.client_roots");
    let mut warnings = Vec::new();
    for given in projects {
        let Some(known) = find(&mut all, given.name) else { continue };
        if given.value == known.value {
            continue;
        }
        let is_said = matches!(known.origin, SettingSource::Environment(_) | SettingSource::Option(_));
        let refused = match (given.name, &given.value) {
            ("safety.roots" | "safety.languages", Value::List(inner)) => {
                if let Some(left) = narrowed(known, inner, &given.origin)? {
                    *known =
                        SettingValue { name: known.name, value: Value::List(left), origin: given.origin };
                }
                continue;
            }
            ("safety.programs", _) if was_read_only => Some("cannot allow programs".to_owned()),
            ("safety.remote_attach", Value::Flag(true)) => {
                Some("cannot allow attaching to other machines".to_owned())
            }
            ("safety.redact", Value::Flag(false)) => Some("cannot show credentials".to_owned()),
            ("safety.confirm", Value::Flag(false)) if asked_to_confirm => {
                Some("cannot turn off confirmations".to_owned())
            }
            ("safety.client_roots", Value::Flag(false)) if had_client_roots => {
                Some("cannot allow other folders than the client's".to_owned())
            }
            ("safety.read_only", Value::Flag(false)) if was_read_only => {
                Some("cannot allow changes".to_owned())
            }
            ("journal.file" | "limits.journal_size" | "limits.journal_files", _) => {
                Some("cannot set the journal".to_owned())
            }
            _ if is_said => continue,
            ("serve.toolset", _) if known.origin != SettingSource::Default => {
                Some(format!("cannot set the toolset, which is set by {}", known.origin))
            }
            (name, Value::Number(asked)) => match known.value {
                Value::Number(held) if size(name, *asked) > size(name, held) => {
                    Some(format!("cannot raise a limit, which is {held} by {}", known.origin))
                }
                _ => None,
            },
            _ => None,
        };
        match refused {
            Some(reason) => {
                warnings.push(format!(
                    "{}: a project's file {reason}: `{}` is ignored",
                    given.origin, given.name
                ));
            }
            None if is_said => {}
            None => *known = given,
        }
    }
    let policy = policy_of(&all)?;
    Ok(EffectiveSettings { policy, all, warnings })
}

/// How large a limit is: 0, for a session that may be unused forever, is the largest.
fn size(name: &str, value: u64) -> u64 {
    if name == "limits.idle" && value == 0 { u64::MAX } else { value }
}

fn find<'a>(all: &'a mut [SettingValue], name: &str) -> Option<&'a mut SettingValue> {
    all.iter_mut().find(|known| known.name == name)
}

fn named<'a>(all: &'a [SettingValue], name: &str) -> Option<&'a SettingValue> {
    all.iter().find(|known| known.name == name)
}

fn flag(all: &[SettingValue], name: &str) -> bool {
    named(all, name).is_some_and(|known| known.value == Value::Flag(true))
}

fn list<'a>(all: &'a [SettingValue], name: &str) -> &'a [String] {
    match named(all, name).map(|known| &known.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// The languages that are in both lists, or the folders that are inside one of both lists; none if these are all of the
/// first list. An empty first list does not restrict.
fn narrowed(
    known: &SettingValue,
    inner: &[String],
    origin: &SettingSource,
) -> anyhow::Result<Option<Vec<String>>> {
    let Value::List(outer) = &known.value else { return Ok(Some(inner.to_vec())) };
    if outer.is_empty() || inner.is_empty() {
        return Ok(outer.is_empty().then(|| inner.to_vec()));
    }
    let (outer, both, problem) = if known.name == "safety.roots" {
        let (outer, inner) = (folders(outer, &known.origin)?, folders(inner, origin)?);
        let both = common_folders(&outer, &inner);
        let shown = |folders: &[PathBuf]| folders.iter().map(|folder| folder.display().to_string()).collect();
        (shown(&outer), shown(&both), "folder: the `safety.roots` of the project's file are outside")
    } else {
        let (outer, inner) = (languages(outer), languages(inner));
        let both: Vec<String> = outer.iter().filter(|name| inner.contains(name)).cloned().collect();
        (outer, both, "language: the `safety.languages` of the project's file are not among")
    };
    if both.is_empty() {
        bail!("{origin}: no allowed {problem} those allowed by {}", known.origin);
    }
    let all_is_left = outer.iter().all(|item| both.contains(item));
    Ok((!all_is_left).then_some(both))
}

/// Languages by their own names.
fn languages(names: &[String]) -> Vec<String> {
    names.iter().filter_map(|name| Some(adapter::by_name(name)?.name().to_owned())).collect()
}

/// Folders that are there, with links resolved.
fn folders(paths: &[String], origin: &SettingSource) -> anyhow::Result<Vec<PathBuf>> {
    let folder = |path: &String| {
        let real = PathBuf::from(path).canonicalize();
        let real = real.with_context(|| format!("{origin}: `{path}` cannot be in `safety.roots`"))?;
        ensure!(real.is_dir(), "{origin}: `{path}` cannot be in `safety.roots`: it is not a folder");
        Ok(real)
    };
    paths.iter().map(folder).collect()
}

fn policy_of(all: &[SettingValue]) -> anyhow::Result<Policy> {
    let mut policy = Policy::default();
    for given in all {
        if let (Some(name), Value::Number(number)) = (given.name.strip_prefix("limits."), &given.value) {
            policy.bounds.set(name, *number, given.origin.set_by());
        }
    }
    let some = |list: Vec<PathBuf>| (!list.is_empty()).then_some(list);
    let programs = list(all, "safety.programs").iter().map(|path| {
        let path = sources::absolute(&PathBuf::from(path));
        resolved(&path).unwrap_or(path)
    });
    let names = languages(list(all, "safety.languages"));
    let roots = match named(all, "safety.roots") {
        Some(SettingValue { value: Value::List(paths), origin, .. }) => folders(paths, origin)?,
        _ => Vec::new(),
    };
    policy.safety = Safety {
        roots: some(roots),
        client_roots: None,
        read_only: flag(all, "safety.read_only"),
        programs: programs.collect(),
        languages: (!names.is_empty()).then_some(names),
        remote_attach: flag(all, "safety.remote_attach"),
    };
    Ok(policy)
}
