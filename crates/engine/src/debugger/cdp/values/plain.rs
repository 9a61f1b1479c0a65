//! Values by the debugger's own requests, for a context that the helper cannot get into.
//!
//! They show less: V8's short descriptions, and strings that are sent whole. Nothing of the program runs.

use std::sync::Arc;

use ::cdp::runtime::{GetProperties, PropertyDescriptor};

use super::frame::Frame;
use super::reader::ValueReader;
use super::references::ValuePath;
use super::rows::{ShownValue, ValueRow};
use super::text;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::variable::{Children, Page, Value, Variable};

impl ValueReader {
    /// The variables of scopes, the first of each name.
    pub(super) async fn plain_scopes(
        &self,
        frame: &Arc<Frame>,
        scopes: &[usize],
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let mut found: Vec<(ValueRow, Option<ValuePath>)> = Vec::new();
        for scope in scopes.iter().filter_map(|index| frame.chain().get(*index)) {
            let Some(id) = scope.object.object_id.clone() else { continue };
            for (row, place) in self.properties(id, Some(frame), text).await? {
                if !row.special && !found.iter().any(|(known, _)| known.name == row.name) {
                    found.push((row, place));
                }
            }
        }
        Ok(self.plain_page(found, page))
    }

    pub(super) async fn plain_children(
        &self,
        place: &ValuePath,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let found = self.properties(place.root.to_string(), place.frame.as_ref(), text).await?;
        Ok(self.plain_page(found, page))
    }

    /// The value in a box, or that a statement gave.
    pub(super) async fn plain_value(&self, place: &ValuePath, text: usize) -> Result<Value<RawId>> {
        let found = self.properties(place.root.to_string(), place.frame.as_ref(), text).await?;
        let boxed = found.into_iter().find(|(row, _)| row.name == "v" && !place.steps.is_empty());
        let (row, place) = boxed.ok_or_else(|| Error::Refused("the value cannot be read".to_owned()))?;
        Ok(self.value(row.value, || place))
    }

    async fn properties(
        &self,
        object_id: String,
        frame: Option<&Arc<Frame>>,
        text: usize,
    ) -> Result<Vec<(ValueRow, Option<ValuePath>)>> {
        let ask = GetProperties { object_id, own_properties: true, ..GetProperties::default() };
        let found = self.request(ask).await?;
        let listed = found.result.into_iter().map(|property| (!property.enumerable, property));
        let private = found.private_properties.into_iter().map(|property| (false, property));
        let internal = found.internal_properties.into_iter().map(|property| (true, property));
        let read = |(special, property): (bool, PropertyDescriptor)| {
            let id = property.value.as_ref().and_then(|value| value.object_id.clone());
            let value = property.value.as_ref().map_or_else(accessor, |value| text::shown(value, text));
            let row = ValueRow { name: property.name, value, special, ..ValueRow::default() };
            (row, id.map(|id| ValuePath::of(&id, frame)))
        };
        Ok(listed.chain(private).chain(internal).map(read).collect())
    }

    fn plain_page(&self, found: Vec<(ValueRow, Option<ValuePath>)>, page: Page) -> Children<RawId> {
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let all = found.len();
        let shown: Vec<_> = found.into_iter().filter(|(row, _)| page.special || !row.special).collect();
        let (total, hidden) = (shown.len() as u64, (all - shown.len()) as u64);
        let variable = |(row, place): (ValueRow, _)| Variable {
            name: row.name,
            value: self.value(row.value, || place),
            special: row.special,
        };
        let variables = shown.into_iter().skip(at(page.start)).take(at(page.count)).map(variable).collect();
        Children { variables, total, start: page.start, hidden }
    }
}

fn accessor() -> ShownValue {
    let (text, type_name) = ("[Getter/Setter]".to_owned(), "accessor".to_owned());
    ShownValue { text, type_name, ..ShownValue::default() }
}
