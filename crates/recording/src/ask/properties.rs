//! Conditions on attributes that properties and getters compute from their object, as their source says.
//!
//! What they return is recorded only where the program reads them, which may be long after it has changed.

use crate::error::Result;
use crate::methods::Method;
use crate::predicate::Expression;
use crate::reading::{Recording, list};
use crate::value::{Key, Kind};

/// Properties that return other properties are followed so far.
const MOST_DEPTH: usize = 8;

/// A condition in which such attributes are replaced by what computes them, and what to say of that; none if there is no such
/// attribute in it.
///
/// With codes, variables are those of calls of these.
pub(super) fn condition(
    recording: &Recording,
    condition: &Expression,
    within: Option<&[i64]>,
) -> Result<Option<(Expression, String)>> {
    let (mut condition, mut notes) = (condition.clone(), Vec::new());
    for _ in 0..MOST_DEPTH {
        let Some((attribute, returned, note)) = computed(recording, &condition, within)? else { break };
        condition = condition.replaced(&|part| (*part == attribute).then(|| returned.clone()));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok((!notes.is_empty()).then(|| (condition, notes.join("\n"))))
}

impl Recording {
    /// An expression with what computes them in the place of such attributes.
    pub(crate) fn without_properties(&self, expression: Expression) -> Result<Expression> {
        Ok(condition(self, &expression, None)?.map_or(expression, |(computed, _)| computed))
    }
}

/// An attribute in an expression that is computed, what computes it, and how to say that.
fn computed(
    recording: &Recording,
    part: &Expression,
    within: Option<&[i64]>,
) -> Result<Option<(Expression, Expression, String)>> {
    if let Expression::Attribute(of, name) = part
        && let Some((returned, note)) = returned(recording, of, name, within)?
    {
        return Ok(Some((part.clone(), returned, note)));
    }
    for part in part.parts() {
        if let Some(found) = computed(recording, part, within)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// What computes an attribute of what an expression gives: the same for all types of objects that its variable or attribute
/// ever had.
fn returned(
    recording: &Recording,
    of: &Expression,
    name: &str,
    within: Option<&[i64]>,
) -> Result<Option<(Expression, String)>> {
    let roots = of.roots();
    let mut found: Option<(Expression, String)> = None;
    for object in objects(recording, of, within)? {
        if recording.object(object)?.kind != Kind::Instance {
            return Ok(None);
        }
        let Some(method) = recording.property_of(object, name)? else { return Ok(None) };
        let Some((parameter, body)) = recording.returned_by(&method) else { return Ok(None) };
        let is_object = |part: &Expression| matches!(part, Expression::Name(name) if name == parameter);
        let returned = body.replaced(&|part| is_object(part).then(|| of.clone()));
        if body.roots().is_empty()
            || calls(&body)
            || binds(&body, &roots)
            || found.as_ref().is_some_and(|(other, _)| *other != returned)
        {
            return Ok(None);
        }
        let text = method.returned().unwrap_or_default();
        found.get_or_insert((returned, format!("`{}` returns `{text}`", method.name)));
    }
    Ok(found)
}

/// An object of each type that the variable or the attribute of an expression ever had: if calls of these codes have the
/// variable, then in these.
fn objects(recording: &Recording, of: &Expression, within: Option<&[i64]>) -> Result<Vec<i64>> {
    let Some(number) = of.last_name().and_then(|last| recording.number(last)) else { return Ok(Vec::new()) };
    let objects = |of: &str| {
        let objects = format!(
            "SELECT min(objects.id) FROM writes JOIN objects ON objects.id = value >> 3 \
             WHERE key = ? AND value & 7 = 4 {of} GROUP BY type"
        );
        recording.rows(&objects, [Key::Name(number).stored()], |row| row.get(0))
    };
    if let (Expression::Name(_), Some(codes)) = (of, within) {
        let own = format!("AND owner IN (SELECT owner FROM calls WHERE code IN ({}))", list(codes));
        let own: Vec<i64> = objects(&own)?;
        if !own.is_empty() {
            return Ok(own);
        }
    }
    objects("")
}

/// That a property in a condition is known only where the program read it; nothing if there is none.
pub(super) fn note(
    recording: &Recording,
    part: &Expression,
    within: Option<&[i64]>,
) -> Result<Option<String>> {
    if let Expression::Attribute(of, name) = part {
        for object in objects(recording, of, within)? {
            if let Some(Method { name, .. }) = recording.property_of(object, name)? {
                let unknown = "would have returned is not known, so it may have held.";
                return Ok(Some(format!("What `{name}` {unknown}")));
            }
        }
    }
    let inner = part.parts().into_iter().map(|part| note(recording, part, within));
    Ok(inner.collect::<Result<Vec<_>>>()?.into_iter().flatten().next())
}

/// Whether it has a call, whose result is recorded only where the program calls it.
fn calls(part: &Expression) -> bool {
    matches!(part, Expression::Returned(_)) || part.parts().into_iter().any(calls)
}

/// Whether it has a comprehension with a variable of one of these names.
fn binds(part: &Expression, names: &[String]) -> bool {
    matches!(part, Expression::Each(each) if each.variables.iter().any(|variable| names.contains(variable)))
        || part.parts().into_iter().any(|part| binds(part, names))
}
