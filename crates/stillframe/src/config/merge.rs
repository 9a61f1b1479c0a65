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
    let chosen = all.clone();
    let mut warnings = Vec::new();
    for given in projects {
        let Some(known) = find(&mut all, given.name) else { continue };
        if given.value == known.value {
            continue;
        }
        if let ("safety.roots" | "safety.languages", Value::List(inner)) = (given.name, &given.value) {
            if let Some(left) = narrowed(known, inner, &given.origin)? {
                *known = SettingValue { value: Value::List(left), ..given };
            }
            continue;
        }
        if let Some(reason) = refusal(&given, known, &chosen) {
            let SettingValue { origin, name, .. } = given;
            warnings.push(format!("{origin}: a project's file {reason}: `{name}` is ignored"));
        } else if !is_explicit(known) {
            *known = given;
        }
    }
    let policy = policy_of(&all)?;
    Ok(EffectiveSettings { policy, all, warnings })
}

/// Whether a value was given for this run: by an option or the environment.
fn is_explicit(known: &SettingValue) -> bool {
    matches!(known.origin, SettingSource::Environment(_) | SettingSource::Option(_))
}

/// Why a project's file may not change a setting, beside what the user has `chosen`. Without a reason, it still
/// has no effect on a setting that [`is_explicit`].
fn refusal(given: &SettingValue, known: &SettingValue, chosen: &[SettingValue]) -> Option<String> {
    let reason = match (given.name, &given.value) {
        ("safety.programs", _) if flag(chosen, "safety.read_only") => "cannot allow programs",
        ("safety.remote_attach", Value::Flag(true)) => "cannot allow attaching to other machines",
        ("safety.redact", Value::Flag(false)) => "cannot show credentials",
        ("safety.confirm", Value::Flag(false)) if flag(chosen, "safety.confirm") => {
            "cannot turn off confirmations"
        }
        ("safety.client_roots", Value::Flag(false)) if flag(chosen, "safety.client_roots") => {
            "cannot allow other folders than the client's"
        }
        ("safety.read_only", Value::Flag(false)) if flag(chosen, "safety.read_only") => {
            "cannot allow changes"
        }
        ("journal.file" | "limits.journal_size" | "limits.journal_files", _) => "cannot set the journal",
        _ if is_explicit(known) => return None,
        ("serve.toolset", _) if known.origin != SettingSource::Default => {
            return Some(format!("cannot set the toolset, which is set by {}", known.origin));
        }
        (name, Value::Number(asked)) => {
            let Value::Number(held) = known.value else { return None };
            let is_raised = size(name, *asked) > size(name, held);
            return is_raised.then(|| format!("cannot raise a limit, which is {held} by {}", known.origin));
        }
        _ => return None,
    };
    Some(reason.to_owned())
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
