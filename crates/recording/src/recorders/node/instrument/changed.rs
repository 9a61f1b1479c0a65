//! What a call may change that is not recorded where it happens.

use oxc_ast::ast::{Argument, ArrayExpressionElement, CallExpression, Expression, ObjectPropertyKind};

use super::Instrumenter;

/// Objects of the language whose functions change nothing that they get.
const HARMLESS_OBJECTS: &str = "Math console JSON Number String Date Symbol BigInt Promise performance process Intl \
                                Array Object Reflect Buffer";
/// Functions of those that do: to their first argument, and `Object` returns that.
const HARMFUL: &str = "assign defineProperty defineProperties setPrototypeOf set deleteProperty apply";
/// Functions of the language that change nothing that they get.
const HARMLESS: &str = "parseInt parseFloat isNaN isFinite Number String Boolean Symbol BigInt require setTimeout \
                        setInterval setImmediate clearTimeout clearInterval queueMicrotask structuredClone \
                        encodeURIComponent decodeURIComponent describe it test";
/// Methods that change nothing, whatever has them.
const PURE: &str = "toString valueOf hasOwnProperty toISOString getTime toFixed charAt charCodeAt codePointAt trim \
                    toUpperCase toLowerCase startsWith endsWith padStart padEnd substring substr localeCompare";
/// Methods of the language that change at most what a function does that they get. Others may have these names, too.
const READERS: &str = "map filter forEach slice join indexOf lastIndexOf includes find findIndex findLast some every \
                       reduce reduceRight concat keys values entries at get has split replace replaceAll test match \
                       matchAll then catch finally repeat flat flatMap toSorted toReversed with";
/// Methods that change only the object whose they are.
const CHANGERS: &str = "pop shift unshift splice sort reverse fill copyWithin clear";

/// What a call may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Nothing,
    /// The object whose method is called.
    Receiver,
    /// The same, by items at its end.
    Appended,
    Arguments,
    All,
    /// The same, unless the method is the language's.
    Read,
    /// What it returns.
    Result,
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|each| each == word)
}

/// Whether a method of this name changes nothing.
pub(super) fn is_pure(method: &str) -> bool {
    is_in(PURE, method)
}

/// Whether a method of this name only reads if it is the language's.
pub(super) fn is_reader(method: &str) -> bool {
    is_in(READERS, method)
}

/// Whether the value of an argument may be an object that something else refers to.
pub(super) fn may_be_object(value: &Expression<'_>) -> bool {
    matches!(
        value,
        Expression::Identifier(_)
            | Expression::ThisExpression(_)
            | Expression::StaticMemberExpression(_)
            | Expression::ComputedMemberExpression(_)
    )
}

/// The variables in a literal, as in `{ retry: { status }, rows: [first] }`, each with the property that its name alone
/// makes.
pub(super) fn variables_in<'e, 'a>(
    literal: &'e Expression<'a>,
) -> Vec<(&'e Expression<'a>, Option<&'e str>)> {
    match literal {
        Expression::Identifier(_) => vec![(literal, None)],
        Expression::ObjectExpression(it) => it
            .properties
            .iter()
            .flat_map(|property| match property {
                ObjectPropertyKind::ObjectProperty(property) => match &property.value {
                    // With a value, it would be the prototype.
                    Expression::Identifier(id) if property.shorthand && id.name == "__proto__" => Vec::new(),
                    Expression::Identifier(id) if property.shorthand => {
                        vec![(&property.value, Some(id.name.as_str()))]
                    }
                    value => variables_in(value),
                },
                ObjectPropertyKind::SpreadProperty(_) => Vec::new(),
            })
            .collect(),
        Expression::ArrayExpression(it) => it
            .elements
            .iter()
            .filter_map(ArrayExpressionElement::as_expression)
            .flat_map(variables_in)
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether a call gets objects that something else refers to.
pub(super) fn gets_objects(call: &CallExpression<'_>) -> bool {
    let mut values = call.arguments.iter().filter_map(Argument::as_expression);
    values.any(|value| may_be_object(value) || !variables_in(value).is_empty())
}

impl Instrumenter<'_> {
    /// The name of a function that is bound to an object.
    pub(super) fn bound_name(&self, function: &Expression<'_>) -> Option<String> {
        let Expression::Identifier(id) = function else { return None };
        (self.facts.bound.contains(id.name.as_str()) && self.is_declared(&id.name))
            .then(|| id.name.to_string())
    }

    fn is_harmless_object(&self, name: &str) -> bool {
        is_in(HARMLESS_OBJECTS, name) && !self.is_declared(name)
    }

    /// Whether a function is one of the language that changes nothing that it gets.
    pub(super) fn is_harmless(&self, function: &Expression<'_>) -> bool {
        match function {
            Expression::Identifier(id) => is_in(HARMLESS, &id.name) && !self.is_declared(&id.name),
            Expression::StaticMemberExpression(member) => {
                let Expression::Identifier(object) = &member.object else { return false };
                self.is_harmless_object(&object.name) && !is_in(HARMFUL, &member.property.name)
            }
            _ => false,
        }
    }

    /// What a call may change that is not recorded where it happens.
    pub(super) fn changed_by(&self, it: &CallExpression<'_>) -> Changed {
        let by_arguments = || if gets_objects(it) { Changed::Arguments } else { Changed::Nothing };
        let mut values = it.arguments.iter().filter_map(Argument::as_expression);
        if self.bound_name(&it.callee).is_some() || values.any(|value| self.bound_name(value).is_some()) {
            return Changed::Arguments;
        }
        // `Array.from(items, set.add, set)` calls a function that may change the object that it gets as its `this`.
        let is_from =
            matches!(&it.callee, Expression::StaticMemberExpression(it) if it.property.name == "from");
        if self.is_harmless(&it.callee) && !(is_from && it.arguments.len() > 2) {
            return Changed::Nothing;
        }
        match &it.callee {
            Expression::Identifier(id) if self.is_code(&id.name) => Changed::Nothing,
            Expression::StaticMemberExpression(member) => {
                let method = member.property.name.as_str();
                match &member.object {
                    Expression::Identifier(id)
                        if id.name == "Object" && self.is_harmless_object(&id.name) =>
                    {
                        Changed::Result
                    }
                    Expression::Identifier(id)
                        if self.is_harmless_object(&id.name) || self.is_foreign(&id.name) =>
                    {
                        by_arguments()
                    }
                    _ if is_pure(method) => Changed::Nothing,
                    _ if is_reader(method) => Changed::Read,
                    _ if method == "push" => Changed::Appended,
                    _ if is_in(CHANGERS, method) => Changed::Receiver,
                    _ => Changed::All,
                }
            }
            Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) => Changed::Nothing,
            _ => by_arguments(),
        }
    }
}
