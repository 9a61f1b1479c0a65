//! What a value is made of.

use ::cdp::runtime::{GetProperties, PropertyDescriptor, RemoteObject};
use serde_json::json;

use super::frame::context_of;
use super::helper::{argument, object};
use super::reader::ValueReader;
use super::references::{Expandable, ValuePath};
use super::rows::{ShownValue, ValueRow, ValueRows};
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::variable::{Children, Page, Value, Variable};

/// An object with more children is not asked for private ones, because all others would come with them.
const FEW: u64 = 2_000;

/// How many values of a page are asked for private fields: each takes requests of its own.
const MOST_PRIVATE: usize = 20;

const GETTER: &str = "--read-only runs a getter only if it has no side effects; this one may have some, so \
                      it did not run";

/// A member that only the debugger can list.
struct InternalMember {
    name: String,
    special: bool,
    value: Option<RemoteObject>,
    text: Option<String>,
}

impl ValueReader {
    /// The children of a scope or value, in pages.
    ///
    /// A getter is a child, too, and is run when its own children are asked for: it has one, `(value)`. Where
    /// nothing may be changed, one that could change something is refused.
    pub(in super::super) async fn variables(
        &self,
        reference: RawId,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        match self.0.references.find(reference)? {
            Expandable::Scope(frame, index) => self.scope_variables(&frame, index, page, text).await,
            Expandable::Value(place) => {
                let page = Page { special: page.special && page.internals, ..page };
                self.children(&place, page, text).await
            }
        }
    }

    /// Which of several values another one is itself.
    pub(in super::super) async fn same_as(&self, value: RawId, among: &[RawId]) -> Result<Option<usize>> {
        let Expandable::Value(value) = self.0.references.find(value)? else { return Ok(None) };
        let Some(helper) = self.helper(context_of(&value.root)).await? else { return Ok(None) };
        // A scope has no identity that a value could have.
        let mut others = Vec::new();
        for (number, other) in among.iter().enumerate() {
            if let Expandable::Value(place) = self.0.references.find(*other)? {
                others.push((number, place));
            }
        }
        let steps: Vec<_> = others.iter().map(|(_, place)| &place.steps).collect();
        let options = json!({ "steps": value.steps, "others": steps });
        let roots = std::iter::once(&value).chain(others.iter().map(|(_, place)| place));
        let roots: Vec<_> = roots.map(|place| object(&place.root)).collect();
        let found: Option<usize> = self.call(&helper, "same", options, roots).await?;
        Ok(found.and_then(|found| others.get(found).map(|(number, _)| *number)))
    }

    pub(super) async fn children(
        &self,
        place: &ValuePath,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let Some(helper) = self.helper(context_of(&place.root)).await? else {
            return self.plain_children(place, page, text).await;
        };
        let options = json!({
            "steps": place.steps, "start": page.start, "count": page.count, "special": page.special,
            "limit": text,
        });
        let rows: ValueRows = self.call(&helper, "children", options, [object(&place.root)]).await?;
        if rows.accessor {
            return self.run_getter(&helper, place, page, text).await;
        }
        self.complete(&helper, place, rows, page, text).await
    }

    /// Adds what only the debugger can read to the children of a value.
    pub(super) async fn complete(
        &self,
        helper: &str,
        place: &ValuePath,
        rows: ValueRows,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let inner =
            if rows.inner && rows.total < FEW { self.inner(helper, place).await? } else { Vec::new() };
        let private = private_rows(&rows.variables);
        let mut children = self.rows(rows, place, page);
        self.add_private(helper, &mut children.variables, private, text).await;
        self.add_inner(helper, place, inner, &mut children, page, text).await?;
        Ok(children)
    }

    async fn run_getter(
        &self,
        helper: &str,
        place: &ValuePath,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let context = context_of(&place.root).unwrap_or_default();
        let options = json!({ "steps": place.steps });
        let get = async {
            let answer = self.run(context, "get", options, [object(&place.root)]).await?;
            match answer.exception_details {
                Some(details) => {
                    let refusal = self.0.careful.then_some(GETTER);
                    Err(self.raised(details, place.frame.as_ref(), refusal).await)
                }
                None => Ok(answer),
            }
        };
        let answer = if self.0.careful { self.unprepared(Some(context), get).await? } else { get.await? };
        let held =
            ValuePath::of(answer.result.object_id.as_deref().unwrap_or_default(), place.frame.as_ref());
        let held = held.then(json!({ "key": "v" }));
        let options = json!({ "steps": held.steps, "limit": text });
        let shown: ShownValue = self.call(helper, "describe", options, [object(&held.root)]).await?;
        let value = self.value(shown, || Some(held));
        let variable = Variable { name: "(value)".to_owned(), value, special: false };
        let variables = if page.start == 0 && page.count > 0 { vec![variable] } else { Vec::new() };
        Ok(Children { variables, total: 1, start: page.start, hidden: 0 })
    }

    /// Private members, and what functions and generators have inside.
    async fn inner(&self, helper: &str, place: &ValuePath) -> Result<Vec<InternalMember>> {
        let id = if place.steps.is_empty() {
            Some(place.root.to_string())
        } else {
            self.held(helper, place).await?.object_id
        };
        let Some(object_id) = id else { return Ok(Vec::new()) };
        let ask = GetProperties { object_id, own_properties: true, ..GetProperties::default() };
        let found = self.request(ask).await?;
        let private = found.private_properties.into_iter().map(private);
        let internal = found.internal_properties.into_iter().filter_map(|property| self.internal(property));
        Ok(private.chain(internal).collect())
    }

    /// Puts private fields into the texts of these variables. Only the debugger can read them.
    pub(super) async fn add_private(
        &self,
        helper: &str,
        variables: &mut [Variable<RawId>],
        which: Vec<usize>,
        text: usize,
    ) {
        for index in which {
            if let Some(variable) = variables.get_mut(index) {
                self.add_private_to(helper, &mut variable.value, text).await;
            }
        }
    }

    /// The same for one value. If they cannot be read, the text is unchanged.
    pub(super) async fn add_private_to(&self, helper: &str, value: &mut Value<RawId>, text: usize) {
        let Some(Ok(Expandable::Value(place))) = value.reference.map(|id| self.0.references.find(id)) else {
            return;
        };
        let members = self.inner(helper, &place).await.unwrap_or_default();
        let is_field = |member: &InternalMember| member.name.starts_with('#') && member.text.is_none();
        let fields = members.into_iter().filter(|member| is_field(member) && !member.special);
        let (names, values): (Vec<String>, Vec<_>) =
            fields.map(|field| (field.name, field.value.as_ref().map(argument).unwrap_or_default())).unzip();
        if names.is_empty() {
            return;
        }
        let rows = self.call::<Vec<ShownValue>>(helper, "each", json!({ "limit": text }), values).await;
        for (name, ShownValue { text: field, .. }) in names.into_iter().zip(rows.unwrap_or_default()) {
            let Some(before) = value.text.strip_suffix('}') else { return };
            let before = before.trim_end();
            let space = if before.ends_with('{') { " " } else { ", " };
            if before.len() + name.len() + field.len() > text {
                value.cut = true;
                return;
            }
            value.text = format!("{before}{space}{name}: {field} }}");
        }
    }

    fn internal(&self, property: PropertyDescriptor) -> Option<InternalMember> {
        let PropertyDescriptor { name, value, .. } = property;
        if matches!(name.as_str(), "[[Prototype]]" | "[[Scopes]]" | "[[PrimitiveValue]]" | "[[Entries]]") {
            return None;
        }
        let value = value?;
        let is_place = value.subtype.as_deref() == Some("internal#location");
        let text = if is_place { Some(self.place_text(&value)?) } else { None };
        Some(InternalMember { name, special: true, value: Some(value), text })
    }

    fn place_text(&self, location: &RemoteObject) -> Option<String> {
        let location = location.value.as_ref()?;
        let number = |name| location.get(name)?.as_i64().and_then(|number| i32::try_from(number).ok());
        let script = location.get("scriptId")?.as_str()?;
        self.0.scripts.name_of(script, number("lineNumber")?, number("columnNumber")?)
    }

    /// Puts them after the other children, as far as they belong to the page.
    async fn add_inner(
        &self,
        helper: &str,
        place: &ValuePath,
        inner: Vec<InternalMember>,
        children: &mut Children<RawId>,
        page: Page,
        text: usize,
    ) -> Result<()> {
        let before = children.total;
        let (shown, hidden): (Vec<_>, Vec<_>) =
            inner.into_iter().partition(|one| page.special || !one.special);
        children.hidden += hidden.len() as u64;
        children.total += shown.len() as u64;
        let is_asked = |number: u64| number >= page.start && number < page.start.saturating_add(page.count);
        let wanted: Vec<InternalMember> =
            (before..).zip(shown).filter(|(number, _)| is_asked(*number)).map(|(_, one)| one).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let values = wanted.iter().map(|one| one.value.as_ref().map(argument).unwrap_or_default());
        let rows: Vec<ShownValue> = self.call(helper, "each", json!({ "limit": text }), values).await?;
        let described = wanted.into_iter().zip(rows).map(|(one, shown)| self.described(one, shown, place));
        children.variables.extend(described);
        Ok(())
    }

    fn described(&self, inner: InternalMember, shown: ShownValue, parent: &ValuePath) -> Variable<RawId> {
        let InternalMember { name, special, value, text } = inner;
        let id = value.and_then(|value| value.object_id);
        let value = match text {
            Some(text) => self.value(ShownValue { text, ..ShownValue::default() }, || None),
            None => self.value(shown, || Some(ValuePath::of(&id?, parent.frame.as_ref()))),
        };
        Variable { name, value, special }
    }
}

/// The rows whose texts may lack private fields.
pub(super) fn private_rows(rows: &[ValueRow]) -> Vec<usize> {
    let lacking = rows.iter().enumerate().filter(|(_, row)| row.value.lacks_private);
    lacking.map(|(index, _)| index).take(MOST_PRIVATE).collect()
}

fn private(property: PropertyDescriptor) -> InternalMember {
    let PropertyDescriptor { name, value, get, set, .. } = property;
    let is_there =
        |accessor: &Option<RemoteObject>| accessor.as_ref().is_some_and(|it| it.kind != "undefined");
    let text = match (is_there(&get), is_there(&set)) {
        (false, false) => None,
        (true, false) => Some("[Getter]"),
        (false, true) => Some("[Setter]"),
        (true, true) => Some("[Getter/Setter]"),
    };
    // A private method is part of the class and not of the data.
    let special = value.as_ref().is_some_and(|value| value.kind == "function");
    InternalMember { name, special, value, text: text.map(str::to_owned) }
}
