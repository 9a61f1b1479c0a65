//! Values: expressions, variables, assignments, and that nothing stale is read.

mod assignments;
mod changes;
mod expressions;
mod hostile;
mod limits;
mod pages;
mod stale;
mod watches;

use serde_json::{Value, json};
use test_support::{Fixture, Language};

use crate::debugging::Debugging;

/// The program with values of all kinds, stopped where they are all there.
async fn stopped(language: impl Into<Language>) -> Debugging {
    Debugging::stopped_at(&Fixture::of(language, "values"), "main").await.0
}

impl Debugging {
    /// The reference of an expression's value.
    async fn reference(&self, expression: &str) -> u64 {
        let value = self.ok("evaluate_expression", json!({ "expression": expression })).await;
        let reference = value["variablesReference"].as_u64().expect("a number");
        assert!(reference > 0, "{expression} has no children: {}", value.text);
        reference
    }

    /// Names and values of the children of an expression's value.
    async fn children(&self, expression: &str) -> Vec<(String, String)> {
        let scope = self.reference(expression).await;
        let page = self.ok("get_variables", json!({ "scope": scope })).await;
        pairs(&page["variables"])
    }
}

fn pairs(variables: &Value) -> Vec<(String, String)> {
    let text = |variable: &Value, field: &str| variable[field].as_str().expect("a text").to_owned();
    let variables = variables.as_array().expect("a list");
    variables.iter().map(|variable| (text(variable, "name"), text(variable, "value"))).collect()
}

/// The same, without addresses.
fn plain_pairs(language: Language, variables: &Value) -> Vec<(String, String)> {
    let pairs = pairs(variables).into_iter();
    pairs.map(|(name, value)| (name, language.plain(&value).to_owned())).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
