//! Values in depth.

use engine::bounds::Bounds;
use engine::error::Error;
use engine::model::ids::Reference;
use engine::model::variable::{Page, Variable};
use engine::session::Session;
use tokio::time::Instant;

use crate::ToolError;

/// How many properties are read of a value inside another one.
const INSIDE: u64 = 50;
/// How many values are opened: each is a round trip.
const OPENED: usize = 300;

/// What to read of a value.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// How many levels: 1 is the properties alone.
    pub levels: usize,
    /// The first of its properties.
    pub start: u64,
    /// How many of them.
    pub count: u64,
    /// Characters of a value.
    pub text: usize,
}

/// Some of the properties of a value.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// In the language's order.
    pub list: Vec<Property>,
    /// How many there are, those on other pages included.
    pub total: u64,
    /// Where the next page starts, if there is one.
    pub next_start: Option<u64>,
}

/// A property, and what is in it.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name and value.
    pub variable: Variable<Reference>,
    /// How many levels up the value is that it leads back to.
    pub circular: Option<usize>,
    /// What is in it, as far as it was opened.
    pub inside: Option<Properties>,
}

/// How many levels to read: `maxDepth` of the call, at least 1, or else the default. More than the maximum is an error.
pub fn levels(bounds: &Bounds, asked: Option<usize>, usual: usize) -> Result<usize, Error> {
    let number = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    let levels = match asked {
        Some(asked) => bounds.within("depth", "maxDepth", number(asked))?,
        None => number(usual).min(bounds.depth),
    };
    Ok(usize::try_from(levels).unwrap_or(usize::MAX).max(1))
}

/// Reads the properties of a value, and of those that are values with properties themselves, level by level. A
/// value that contains itself is not opened again.
pub async fn properties(
    session: &Session,
    object: Reference,
    depth: ReadLimits,
) -> Result<Properties, ToolError> {
    let mut reading = ObjectReader {
        session,
        text: depth.text,
        left: OPENED,
        until: Instant::now() + engine::deadlines::READ,
    };
    let page = Page { start: depth.start, count: depth.count, special: false, internals: false };
    let id = object.to_string();
    let read = reading.read(vec![object], page, depth.levels.max(1)).await;
    read.map_err(|error| ToolError::no_object(&id, error))
}

struct ObjectReader<'a> {
    session: &'a Session,
    text: usize,
    /// How many more values may be opened.
    left: usize,
    until: Instant,
}

impl ObjectReader<'_> {
    /// Reads the last one of a path of values.
    fn read(
        &mut self,
        path: Vec<Reference>,
        page: Page,
        levels: usize,
    ) -> std::pin::Pin<Box<dyn Future<Output = engine::error::Result<Properties>> + Send + '_>> {
        Box::pin(async move {
            let Some(object) = path.last().copied() else { return Ok(Properties::default()) };
            let children = self.session.variables(object, page, self.text).await?;
            let (total, next_start) = (children.total, children.next_start());
            let mut list = Vec::new();
            for variable in children.variables {
                list.push(self.open(variable, &path, levels).await);
            }
            Ok(Properties { list, total, next_start })
        })
    }

    /// What cannot be opened, because it is a getter that throws or there is no time, stays closed.
    async fn open(&mut self, variable: Variable<Reference>, path: &[Reference], levels: usize) -> Property {
        let mut property = Property { variable, circular: None, inside: None };
        let Some(object) = property.variable.value.reference else { return property };
        if self.left == 0 || Instant::now() >= self.until {
            return property;
        }
        self.left -= 1;
        let same = self.session.same_as(object, path.to_vec()).await;
        property.circular = same.ok().flatten().map(|place| path.len() - place);
        if levels > 1 && property.circular.is_none() && !is_code(&property.variable) {
            let page = Page { start: 0, count: INSIDE, special: false, internals: false };
            let path = path.iter().copied().chain([object]).collect();
            property.inside = self.read(path, page, levels - 1).await.ok();
        }
        property
    }
}

/// What has nothing of the program's data in it, or would run code of it.
fn is_code(variable: &Variable<Reference>) -> bool {
    let value = &variable.value;
    value.text.starts_with("[Getter") || matches!(value.type_name.as_str(), "Function" | "function" | "type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_depths_are_lowered_and_explicit_ones_refused() {
        let bounds = Bounds { depth: 3, ..Bounds::default() };
        assert_eq!(levels(&bounds, None, 2).unwrap(), 2);
        assert_eq!(levels(&bounds, None, 9).unwrap(), 3);
        assert_eq!(levels(&bounds, Some(0), 2).unwrap(), 1);
        let refused = levels(&bounds, Some(4), 2).unwrap_err();
        assert_eq!(refused.to_string(), "`maxDepth` is 4: the limit `depth` is 3");
    }
}
