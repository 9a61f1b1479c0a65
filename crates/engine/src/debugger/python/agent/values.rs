//! Reading variables, in pages.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{AgentClient, RawValue};
use crate::deadlines;
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::variable::{Children, ExpandedLocals, ExpandedValue, Expansion, Page, Variable};

#[derive(Debug, Deserialize)]
struct Rows {
    total: u64,
    hidden: u64,
    start: u64,
    variables: Vec<(String, RawValue, bool)>,
}

/// The variables of a frame; of each expanded value, whose child it is, its place there, and its own children.
#[derive(Debug, Deserialize)]
pub(in super::super) struct ExpandedRows {
    rows: Rows,
    expanded: Vec<(Option<usize>, usize, Rows)>,
}

impl AgentClient {
    pub(in super::super) async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        let Expansion { values, children, depth, within } = expansion;
        let expansion = [json!(values), json!(children), json!(depth), json!(within.as_secs_f64())];
        let mut arguments = vec![json!(frame.0), json!(page.start), json!(page.count), json!(text)];
        arguments.extend([json!(page.special), json!(expansion)]);
        let ExpandedRows { rows, expanded } = match self.ahead.locals(frame, &arguments) {
            Ok(sent) => sent,
            Err(levels) => {
                arguments.extend(levels.map(Json::from));
                self.call(frame, "locals", Json::Array(arguments), deadlines::READ).await?
            }
        };
        let variables = self.children(rows, frame);
        let mut values: Vec<ExpandedValue> = Vec::with_capacity(expanded.len());
        for (parent, index, rows) in expanded {
            let siblings = match parent {
                Some(parent) => values.get(parent).map(|value| &value.children),
                None => Some(&variables),
            };
            let Some(variable) = siblings.and_then(|siblings| siblings.variables.get(index)) else { break };
            let name = variable.name.clone();
            values.push(ExpandedValue { parent, name, children: self.children(rows, frame) });
        }
        Ok(ExpandedLocals { scope: "Locals".to_owned(), variables, values })
    }

    pub(in super::super) async fn variables(
        &self,
        reference: RawId,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let frame = self.frame_of(reference)?;
        let arguments = json!([reference.0, page.start, page.count, text, page.special]);
        let rows = self.call(frame, "children", arguments, deadlines::READ).await?;
        Ok(self.children(rows, frame))
    }

    fn children(&self, rows: Rows, frame: RawId) -> Children<RawId> {
        let variable = |(name, value, special)| Variable { name, value: self.value(value, frame), special };
        Children {
            variables: rows.variables.into_iter().map(variable).collect(),
            total: rows.total,
            start: rows.start,
            hidden: rows.hidden,
        }
    }
}
