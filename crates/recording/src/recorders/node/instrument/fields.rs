//! Fields of classes. Their values are computed in a separate call, as in V8.

use std::collections::HashMap;

use oxc_ast::ast::{Class, ClassElement, Expression, MethodDefinitionKind, PropertyDefinition, PropertyKey};
use oxc_ast_visit::VisitJs;
use oxc_span::GetSpan;

use super::functions::is_code;
use super::{Instrumenter, Piece, text};

/// What V8 calls the function that computes the fields of an object, and that for those of a class.
const NAMES: [&str; 2] = ["<instance_members_initializer>", "<static_initializer>"];

/// The part of a field in the call that computes it and others.
#[derive(Debug, Default)]
pub(super) struct FieldStep {
    code: u32,
    /// The constructor whose call begins with the first field.
    maker: Option<u32>,
    is_first: bool,
    is_last: bool,
    /// The line, if it is another one than that of the field before.
    line: u32,
    /// It is a function, and so are all others. They are not noted where they are computed.
    is_function: bool,
}

impl Instrumenter<'_> {
    /// The steps of the fields of a class, by where they begin. The fields of the class itself are computed together
    /// where no block is between them. With them, the number of the constructor, if it begins before its fields are
    /// computed.
    pub(super) fn field_steps(&mut self, it: &Class<'_>) -> (HashMap<u32, FieldStep>, Option<u32>) {
        let mut steps = HashMap::new();
        if self.is_before_call {
            return (steps, None);
        }
        let (mut own, mut of_class) = (Vec::new(), Vec::new());
        let mut function = None;
        for element in &it.body.body {
            match element {
                ClassElement::PropertyDefinition(it) if it.r#static => of_class.extend(computed(it)),
                ClassElement::PropertyDefinition(it) => {
                    own.extend(computed(it));
                    function = function.or_else(|| it.value.as_ref().map(|_| it.span.start));
                }
                ClassElement::StaticBlock(_) => self.run(&std::mem::take(&mut of_class), 1, &mut steps),
                _ => {}
            }
        }
        self.run(&of_class, 1, &mut steps);
        let maker = it.body.body.iter().find_map(constructor).filter(|_| it.heritage.is_none());
        let maker = maker.filter(|(_, start)| !own.is_empty() && self.line(*start) > 0);
        let maker = maker.map(|(key, start)| self.new_code(self.member_name(key), start));
        self.run(&own, 0, &mut steps);
        if let Some(first) = own.first().and_then(|first| steps.get_mut(first)) {
            first.maker = maker;
        }
        if let (true, Some(function)) = (own.is_empty(), function) {
            steps.insert(function, FieldStep { is_function: true, ..FieldStep::default() });
        }
        (steps, maker)
    }

    fn run(&mut self, fields: &[u32], which: usize, steps: &mut HashMap<u32, FieldStep>) {
        let Some(first) = fields.first() else { return };
        let code = self.new_code(NAMES.get(which).copied().unwrap_or_default().to_owned(), *first);
        let mut before = 0;
        for (index, at) in fields.iter().enumerate() {
            let line = self.line(*at);
            let is_last = index + 1 == fields.len();
            let other = if line == before { 0 } else { line };
            let step = FieldStep { code, is_first: index == 0, is_last, line: other, ..FieldStep::default() };
            steps.insert(*at, step);
            before = line;
        }
    }

    pub(super) fn field(&mut self, it: &PropertyDefinition<'_>, step: Option<&FieldStep>) {
        if it.computed {
            self.visit_property_key(&it.key);
        }
        let Some(value) = &it.value else { return };
        self.hint = Some(self.member_name(&it.key));
        let class = self.class.take();
        let span = value.span();
        if step.is_some_and(|step| step.is_function) {
            self.named_by_field(it, value);
            self.class = class;
            self.hint = None;
            return;
        }
        if let Some(step) = step {
            let before = Self::before(step);
            self.put(span.start, before);
        }
        // What cannot be read afterwards is noted everywhere.
        let is_private = matches!(it.key, PropertyKey::PrivateIdentifier(_)) && !is_code(value);
        let write = if step.is_some() || is_private { written_by(it) } else { None };
        if let Some((helper, _)) = &write {
            self.put_text(span.start, format!("__${helper}("));
        }
        self.visit_expression(value);
        if let Some((_, name)) = write {
            self.put(span.end, vec![text(",this,"), Piece::Name(name), text(")")]);
        }
        match step {
            Some(step) if step.is_last => {
                self.put(span.end, vec![text(","), Piece::Code(step.code), text(",this))")]);
            }
            Some(_) => self.put_text(span.end, ")"),
            None => {}
        }
        self.class = class;
        self.hint = None;
    }

    /// A function, which gets its name as the value of a property as well.
    fn named_by_field(&mut self, it: &PropertyDefinition<'_>, value: &Expression<'_>) {
        let name = match &it.key {
            PropertyKey::PrivateIdentifier(key) => Some(format!("#{}", key.name)),
            _ if it.computed => None,
            other => other.static_name().map(|name| name.to_string()),
        };
        let span = value.span();
        if let Some(name) = &name {
            self.put_text(span.start, format!("__$fs(this,{{[{name:?}]:"));
        }
        self.visit_expression(value);
        if let Some(name) = name {
            self.put_text(span.end, format!("}}[{name:?}])"));
        }
    }

    /// `(__$fb(0x…,0x…,this),__$fl(0x…,0x…),__$fd(`, of which a field needs some.
    fn before(step: &FieldStep) -> Vec<Piece> {
        let code = || Piece::Code(step.code);
        let mut pieces = vec![text("(")];
        if step.is_first {
            let this = Piece::Name("this".to_owned());
            pieces.extend([text("__$fb("), code(), text(","), this, text(",this")]);
            pieces.extend(step.maker.into_iter().flat_map(|maker| [text(","), Piece::Code(maker)]));
            pieces.push(text("),"));
        }
        if step.line > 0 {
            let place = Piece::Place(step.code, step.line);
            pieces.extend([text("__$fl("), code(), text(","), place, text("),")]);
        }
        if step.is_last {
            pieces.push(text("__$fd("));
        }
        pieces
    }
}

/// The name of the constructor of a class, and where it begins.
fn constructor<'e, 'a>(it: &'e ClassElement<'a>) -> Option<(&'e PropertyKey<'a>, u32)> {
    let ClassElement::MethodDefinition(it) = it else { return None };
    let is_it = it.kind == MethodDefinitionKind::Constructor && it.value.body.is_some();
    is_it.then(|| (&it.key, it.value.span.start))
}

/// Where a field begins whose value is noted. A function gets its name from where it is written.
fn computed(it: &PropertyDefinition<'_>) -> Option<u32> {
    let value = it.value.as_ref().filter(|value| !it.declare && !is_code(value));
    value.map(|_| it.span.start)
}

/// The helper that notes the value of a field, and the name of the field; none where that is computed.
fn written_by(it: &PropertyDefinition<'_>) -> Option<(&'static str, String)> {
    match &it.key {
        PropertyKey::PrivateIdentifier(key) => Some(("o", format!("#{}", key.name))),
        _ if it.computed => None,
        other => other.static_name().map(|name| ("fw", name.to_string())),
    }
}
