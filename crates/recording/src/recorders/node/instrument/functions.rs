//! Functions and classes: that a call begins and ends.

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, BindingIdentifier, Class, ClassElement, Expression,
    FormalParameters, Function, FunctionBody, MethodDefinition, MethodDefinitionKind, PropertyKey, Statement,
    TryStatement, VariableDeclaration,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::super::scopes::{Scope, names_of_parameters};
use super::{FunctionContext, Instrumenter, NO_HEADING, text};
use crate::recorders::node::edits::Piece;

/// What kind of function something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Plain,
    Arrow,
    Constructor,
    /// A constructor in which `this` is only there after `super()`.
    Derived,
}

/// A function that is begun.
struct Begun<'f, 'a> {
    name: String,
    span: Span,
    start: u32,
    kind: Kind,
    is_async: bool,
    is_generator: bool,
    own_name: Option<&'f BindingIdentifier<'a>>,
    params: &'f FormalParameters<'a>,
}

impl Instrumenter<'_> {
    /// A function with a body in braces.
    pub(super) fn function(&mut self, it: &Function<'_>, kind: Kind) {
        let Some(body) = &it.body else { return };
        let Some(start) = self.first_of_source(it.span.start, |finder| finder.visit_function_body(body))
        else {
            self.hint = None;
            return;
        };
        let name = it.id.as_ref().map(|id| id.name.to_string()).or_else(|| self.hint.take());
        let name = name.unwrap_or_else(|| "<anonymous>".to_owned());
        let begun = Begun {
            name,
            span: it.span,
            start,
            kind,
            is_async: it.r#async,
            is_generator: it.generator,
            own_name: it.id.as_ref(),
            params: &it.params,
        };
        self.enter(begun, |this| this.body(body, &it.params));
    }

    pub(super) fn arrow(&mut self, it: &ArrowFunctionExpression<'_>) {
        let visit = |finder: &mut SourceFinder<'_, '_>| finder.visit_arrow_function_body(&it.body);
        let Some(start) = self.first_of_source(it.span.start, visit) else {
            self.hint = None;
            return;
        };
        let name = self.hint.take().unwrap_or_else(|| "<anonymous>".to_owned());
        let begun = Begun {
            name,
            span: it.span,
            start,
            kind: Kind::Arrow,
            is_async: it.r#async,
            is_generator: false,
            own_name: None,
            params: &it.params,
        };
        self.enter(begun, |this| {
            if let ArrowFunctionBody::FunctionBody(body) = &it.body {
                this.body(body, &it.params);
            } else if let Some(value) = it.body.as_expression() {
                this.value_body(value, &it.params);
            }
        });
    }

    /// Where a function begins, or what is first in it if the compiler of the script has added its beginning, as for an
    /// `enum`; none if nothing in it is of the source.
    fn first_of_source(&self, start: u32, visit: impl FnOnce(&mut SourceFinder<'_, '_>)) -> Option<u32> {
        if !self.original.is_compiled() || self.line(start) > 0 {
            return Some(start);
        }
        let mut finder = SourceFinder { script: self, found: None };
        visit(&mut finder);
        finder.found
    }

    /// The number of a function that begins at a place.
    pub(super) fn new_code(&mut self, name: String, start: u32) -> u32 {
        let code = u32::try_from(self.codes.len()).unwrap_or(u32::MAX);
        let line = self.line(start);
        self.codes.push((name, line));
        code
    }

    fn enter(&mut self, begun: Begun<'_, '_>, body: impl FnOnce(&mut Self)) {
        let Begun { name, span, start, kind, is_async, is_generator, own_name, params } = begun;
        self.hint = None;
        // A constructor ends what the fields of its object have begun.
        if self.reserved.is_none() && self.skipped.contains(&span) {
            return;
        }
        self.named.push((name.clone(), span));
        let code = self.reserved.take().unwrap_or_else(|| self.new_code(name, start));
        // The call of the function around has a number, unless this is among the values of its parameters.
        let level = self.functions.len();
        let hidden = self.hidden.len();
        let mut scope = Scope::new(level);
        scope.code(own_name);
        scope.variables(names_of_parameters(params));
        scope.level = None;
        self.scopes.push(scope);
        let was_before_call = std::mem::replace(&mut self.is_before_call, true);
        self.visit_formal_parameters(params);
        self.is_before_call = false;
        if let Some(scope) = self.scopes.last_mut() {
            scope.level = Some(level);
        }
        self.functions.push(FunctionContext {
            code,
            part: self.part(span),
            level,
            kind,
            is_async,
            uses_this: false,
            ends_in_finally: is_generator,
            temporaries: 0,
        });
        let head_line = std::mem::replace(&mut self.head_line, 0);
        let class = self.class.take();
        let has_this = self.has_this;
        match kind {
            Kind::Plain | Kind::Constructor => self.has_this = true,
            Kind::Derived => self.has_this = false,
            Kind::Arrow => {}
        }
        body(self);
        self.has_this = has_this;
        self.class = class;
        self.head_line = head_line;
        self.hidden.truncate(hidden);
        let done = self.functions.pop();
        if let (Some(done), Some(around)) = (done, self.functions.last_mut()) {
            around.uses_this |= done.kind == Kind::Arrow && done.uses_this;
        }
        self.is_before_call = was_before_call;
        self.scopes.pop();
    }

    /// What a call begins with.
    fn beginning(&self) -> Vec<Piece> {
        let Some(function) = self.functions.last() else { return Vec::new() };
        // Functions in values of parameters do not see the call around them.
        let around = self.scopes.iter().rev().skip(1).find_map(|scope| scope.level).unwrap_or(0);
        let level = function.level;
        let code = Piece::Code(function.code);
        if around == 0 {
            vec![text(format!("const __$s{level}=__$e(")), code, text(");try{")]
        } else {
            vec![text(format!("const __$s{level}=__$n(__$s{around},")), code, text(");try{")]
        }
    }

    fn ending(&self) -> String {
        let Some(function) = self.functions.last() else { return String::new() };
        let call = self.call();
        if function.ends_in_finally {
            let value = format!("__$t{}_1", function.level);
            format!("}}catch(__$0){{throw __$u({call},__$0)}}finally{{__$f({call},{value})}}{NO_HEADING}")
        } else {
            format!(";__$r({call})}}catch(__$0){{throw __$u({call},__$0)}}{NO_HEADING}")
        }
    }

    fn body(&mut self, it: &FunctionBody<'_>, params: &FormalParameters<'_>) {
        let start = it.directives.last().map_or(it.span.start + 1, |last| last.span.end);
        let handle = self.put(start, vec![text(";")]);
        let mut finder = FinallyFinder(false);
        finder.visit_function_body(it);
        if let Some(function) = self.functions.last_mut() {
            function.ends_in_finally |= finder.0;
            // The first one has what is returned.
            function.temporaries += usize::from(function.ends_in_finally);
        }
        let mut scope = Scope::new(self.level());
        scope.lexical(&it.statements);
        scope.hoisted(&it.statements);
        self.in_scope(scope, |this| this.statements(&it.statements));
        let Some(function) = self.functions.last() else { return };
        let mut pieces = vec![text(Self::declared_temporaries(function))];
        pieces.extend(self.beginning());
        match function.kind {
            Kind::Constructor => pieces.extend(self.write_of_this("b")),
            Kind::Plain if function.uses_this => pieces.extend(self.write_of_this("v")),
            Kind::Arrow => pieces.extend(self.write_of_this_around()),
            _ => {}
        }
        pieces.extend(self.writes_of(&names_of_parameters(params)));
        self.edits.extend(handle, pieces);
        let ending = self.ending();
        self.put_text(it.span.end - 1, ending);
    }

    /// `__$v(__$s1,0x…,this);`
    fn write_of_this(&self, helper: &str) -> Vec<Piece> {
        let call = self.call();
        vec![text(format!("__${helper}({call},")), Piece::Name("this".to_owned()), text(",this);")]
    }

    /// The same in an arrow function, which has `this` from around it. Of a constructor that has not called `super()` yet
    /// nothing is read, nor outside of functions and classes.
    fn write_of_this_around(&self) -> Vec<Piece> {
        let uses_this = self.functions.last().is_some_and(|function| function.uses_this);
        if uses_this && self.has_this { self.write_of_this("v") } else { Vec::new() }
    }

    /// The body of an arrow function that is an expression.
    fn value_body(&mut self, value: &Expression<'_>, params: &FormalParameters<'_>) {
        let span = value.span();
        let handle = self.put(span.start, vec![text("{")]);
        self.visit_expression(value);
        let Some(function) = self.functions.last() else { return };
        let mut pieces = vec![text(Self::declared_temporaries(function))];
        pieces.extend(self.beginning());
        pieces.extend(self.write_of_this_around());
        pieces.extend(self.writes_of(&names_of_parameters(params)));
        pieces.extend(self.line_event(self.line(span.start)));
        pieces.push(text(format!(";return __$r({},", self.call())));
        self.edits.extend(handle, pieces);
        let call = self.call();
        self.put_text(span.end, format!(")}}catch(__$0){{throw __$u({call},__$0)}}}}{NO_HEADING}"));
    }

    pub(super) fn class(&mut self, it: &Class<'_>) {
        let name = it.id.as_ref().map(|id| id.name.to_string()).or_else(|| self.hint.take());
        let name = name.unwrap_or_else(|| "<class>".to_owned());
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
        }
        // By this, the recorder knows the program's own classes.
        self.put_text(it.body.span.start + 1, "/*__$*/");
        let outer = self.class.replace(name);
        let mut scope = Scope::default();
        scope.level = Some(self.level());
        scope.code(it.id.as_ref());
        let is_derived = it.heritage.is_some();
        // What is in the class is another `this` than that of the function around.
        let has_this = std::mem::replace(&mut self.has_this, true);
        let uses_this = self.functions.last().is_some_and(|function| function.uses_this);
        let (steps, constructor) = self.field_steps(it);
        self.in_scope(scope, |this| {
            for element in &it.body.body {
                match element {
                    ClassElement::MethodDefinition(it) => {
                        let is_constructor =
                            it.kind == MethodDefinitionKind::Constructor && it.value.body.is_some();
                        this.reserved = constructor.filter(|_| is_constructor);
                        this.method(it, is_derived);
                    }
                    ClassElement::PropertyDefinition(it) => this.field(it, steps.get(&it.span.start)),
                    ClassElement::StaticBlock(it) => {
                        let mut scope = Scope::new(this.level());
                        scope.lexical(&it.body);
                        scope.hoisted(&it.body);
                        let class = this.class.take();
                        this.in_block(scope, |this| this.statements(&it.body));
                        this.class = class;
                    }
                    other => this.visit_class_element(other),
                }
            }
        });
        self.has_this = has_this;
        if let Some(function) = self.functions.last_mut() {
            function.uses_this = uses_this;
        }
        self.class = outer;
    }

    fn method(&mut self, it: &MethodDefinition<'_>, is_derived: bool) {
        if it.computed {
            self.visit_property_key(&it.key);
        }
        let is_constructor = it.kind == MethodDefinitionKind::Constructor;
        self.hint = Some(self.member_name(&it.key));
        let kind = match (is_constructor, is_derived) {
            (true, true) => Kind::Derived,
            (true, false) => Kind::Constructor,
            (false, _) => Kind::Plain,
        };
        self.function(&it.value, kind);
        self.hint = None;
    }

    pub(super) fn member_name(&self, key: &PropertyKey<'_>) -> String {
        let key = match key {
            PropertyKey::PrivateIdentifier(it) => format!("#{}", it.name),
            PropertyKey::StaticMemberExpression(it) if it.object.is_specific_id("Symbol") => {
                format!("[Symbol.{}]", it.property.name)
            }
            other => other.static_name().map_or_else(|| "<computed>".to_owned(), |name| name.to_string()),
        };
        match &self.class {
            Some(class) => format!("{class}.{key}"),
            None => key,
        }
    }
}

/// Whether an expression is a function or a class, which gets its name from where it is written.
pub(super) fn is_code(value: &Expression<'_>) -> bool {
    matches!(
        value.without_parentheses(),
        Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_)
    )
}

/// What is the first of the source in a part of a script that a compiler made.
struct SourceFinder<'i, 't> {
    script: &'i Instrumenter<'t>,
    found: Option<u32>,
}

impl SourceFinder<'_, '_> {
    fn look_at(&mut self, start: u32) -> bool {
        if self.found.is_none() && self.script.line(start) > 0 {
            self.found = Some(start);
        }
        self.found.is_some()
    }
}

impl<'a> VisitJs<'a> for SourceFinder<'_, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.look_at(it.span().start) {
            walk_js::walk_statement(self, it);
        }
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        if !self.look_at(it.span().start) {
            walk_js::walk_expression(self, it);
        }
    }
}

/// Whether a function has a `finally` of its own, or `using`, which ends as one does.
struct FinallyFinder(bool);

impl<'a> VisitJs<'a> for FinallyFinder {
    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.0 |= it.finalizer.is_some();
        walk_js::walk_try_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.0 |= it.kind.is_using();
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.0 {
            walk_js::walk_statement(self, it);
        }
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}
