//! Expressions: assignments, calls that may change what they get, `await` and `yield`.

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, AwaitExpression, CallExpression, ChainElement,
    ChainExpression, Expression, MemberExpression, SimpleAssignmentTarget, UnaryExpression, UpdateExpression,
    YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::UnaryOperator;

use super::super::scopes::is_bind;
use super::changed::{Changed, gets_objects, is_pure, is_reader, may_be_object, variables_in};
use super::functions::{Kind, is_code};
use super::targets::targets_of;
use super::{Instrumenter, Kept, Piece, text};

/// Maximum number of objects that are compared after a call.
const MOST_GIVEN: usize = 4;

/// A function and its name, which esbuild gives it by a call (`keepNames`, version 0.25, as tsx and vite have it).
fn named_function<'e, 'a>(it: &'e CallExpression<'a>) -> Option<(&'e Expression<'a>, String)> {
    let [function, Argument::StringLiteral(name)] = it.arguments.as_slice() else { return None };
    let function = function.as_expression().filter(|function| is_code(function))?;
    let is_it = matches!(&it.callee, Expression::Identifier(callee) if callee.name == "__name");
    is_it.then(|| (function, name.value.to_string()))
}

impl Instrumenter<'_> {
    pub(super) fn expression(&mut self, it: &Expression<'_>) {
        if !is_code(it) && !matches!(it, Expression::ParenthesizedExpression(_)) {
            self.hint = None;
        }
        match it {
            Expression::AssignmentExpression(it) => {
                let names = targets_of(&it.left);
                self.seen_by_others(it.span, &names, |this| this.assignment(it));
            }
            Expression::UpdateExpression(it) => {
                let name = match &it.argument {
                    SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => vec![id.name.to_string()],
                    _ => Vec::new(),
                };
                self.seen_by_others(it.span, &name, |this| this.update(it));
            }
            Expression::CallExpression(it) => self.call_expression(it),
            Expression::ChainExpression(it) => self.chain(it),
            Expression::AwaitExpression(it) => self.await_expression(it),
            Expression::YieldExpression(it) => self.yield_expression(it),
            Expression::UnaryExpression(it) if it.operator == UnaryOperator::Delete => self.delete(it),
            other => walk_js::walk_expression(self, other),
        }
    }

    /// Something that writes variables. Those that the module exports are variables of others, too.
    fn seen_by_others(&mut self, span: Span, names: &[String], visit: impl FnOnce(&mut Self)) {
        let is_exported = |name: &String| self.module.exports.contains(name) && self.owner(name) == Some(0);
        if !names.iter().any(is_exported) {
            return visit(self);
        }
        self.wrap(span, "__$re(".to_owned(), visit, vec![text(")")]);
    }

    /// Something that is written, with what is put around it.
    fn wrap(&mut self, span: Span, before: String, visit: impl FnOnce(&mut Self), after: Vec<Piece>) {
        self.put_text(span.start, before);
        visit(self);
        self.put(span.end, after);
    }

    fn assignment(&mut self, it: &AssignmentExpression<'_>) {
        let is_logical = it.operator.is_logical();
        let right = |this: &mut Self, name: Option<&str>| {
            this.hint = name.map(str::to_owned);
            this.visit_expression(&it.right);
            this.hint = None;
        };
        match &it.left {
            AssignmentTarget::AssignmentTargetIdentifier(id) => {
                let name = id.name.as_str();
                let Some(level) = self.owner(name) else {
                    right(self, Some(name));
                    return;
                };
                let span = if is_logical { it.right.span() } else { it.span };
                let before = vec![text(format!("__$v(__$s{level},")), self.variable(name), text(",")];
                self.put(span.start, before);
                right(self, Some(name));
                self.put_text(span.end, ")");
            }
            AssignmentTarget::ArrayAssignmentTarget(_) | AssignmentTarget::ObjectAssignmentTarget(_) => {
                let names = targets_of(&it.left);
                let mut after = Vec::new();
                for name in &names {
                    if let Some(write) = self.write_of(name) {
                        after.push(text(","));
                        after.extend(write);
                    }
                }
                for write in self.member_writes(&it.left) {
                    after.push(text(","));
                    after.extend(write);
                }
                after.push(text(")"));
                let visit = |this: &mut Self| {
                    this.visit_assignment_target(&it.left);
                    right(this, None);
                };
                self.wrap(it.span, "__$q(".to_owned(), visit, after);
            }
            _ => {
                let Some(target) = it.left.as_simple_assignment_target() else { return right(self, None) };
                if let (SimpleAssignmentTarget::PrivateFieldExpression(field), true) = (target, is_logical) {
                    return self.assign_private_perhaps(field, &it.right);
                }
                let helper = if is_logical { Member::Check } else { Member::Write };
                let name = match target {
                    SimpleAssignmentTarget::StaticMemberExpression(it) => Some(it.property.name.as_str()),
                    _ => None,
                };
                self.member(it.span, target, helper, |this| right(this, name));
            }
        }
    }

    /// A write to a member of an object. `rest` visits what follows the target.
    fn member(
        &mut self,
        span: Span,
        target: &SimpleAssignmentTarget<'_>,
        helper: Member,
        rest: impl FnOnce(&mut Self),
    ) {
        let (object, key) = match target {
            SimpleAssignmentTarget::StaticMemberExpression(it) => {
                (&it.object, Key::Name(it.property.name.to_string()))
            }
            SimpleAssignmentTarget::PrivateFieldExpression(it) => {
                (&it.object, Key::Private(format!("#{}", it.field.name)))
            }
            SimpleAssignmentTarget::ComputedMemberExpression(it) => {
                (&it.object, Key::Computed(&it.expression))
            }
            other => {
                self.visit_simple_assignment_target(other);
                rest(self);
                return;
            }
        };
        if matches!(object, Expression::Super(_)) {
            self.visit_simple_assignment_target(target);
            rest(self);
            return;
        }
        let kept = self.keep(object);
        // In the value of a parameter, the temporary is that of the function around, which a call within the value may
        // give another object.
        let is_safe =
            !self.is_before_call || matches!((&kept, &key), (Kept::Text(_), _) | (_, Key::Private(_)));
        let helper = if is_safe { helper } else { Member::Check };
        let by = if let Member::Step(by) = helper { Some(format!(",{by}")) } else { None };
        let of = |write, step| if by.is_some() { step } else { write };
        let mut all = vec![text(format!(",{}", kept.text()))];
        let (name, key) = match (helper, key) {
            (Member::Check, Key::Computed(key)) => ("k", Some((key, None))),
            (Member::Check, _) => ("k", None),
            (_, Key::Name(name)) => {
                all.extend([text(","), Piece::Name(name)].into_iter().chain(by.clone().map(text)));
                (of("m", "a"), None)
            }
            (_, Key::Private(name)) => {
                all.extend([text(","), Piece::Name(name)].into_iter().chain(by.clone().map(text)));
                (of("h", "d"), None)
            }
            (_, Key::Computed(key)) => {
                let kept = self.keep(key);
                let by = by.as_deref().unwrap_or_default();
                all.push(text(format!(",{}{by}{}", kept.text(), kept.cleared())));
                (of("i", "j"), Some((key, Some(kept))))
            }
        };
        all.push(text(format!("{})", kept.cleared())));
        let visit = |this: &mut Self| {
            this.visit_kept(object, &kept);
            match key {
                Some((key, Some(kept))) => this.visit_kept(key, &kept),
                Some((key, None)) => this.visit_expression(key),
                None => {}
            }
            rest(this);
        };
        self.wrap(span, format!("__${name}("), visit, all);
    }

    fn update(&mut self, it: &UpdateExpression<'_>) {
        let by = if it.operator == oxc_syntax::operator::UpdateOperator::Increment { 1 } else { -1 };
        match &it.argument {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => {
                let name = id.name.to_string();
                let Some(level) = self.owner(&name) else { return };
                let helper = if it.prefix { "v" } else { "p" };
                let before = vec![text(format!("__${helper}(__$s{level},")), self.variable(&name), text(",")];
                self.put(it.span.start, before);
                let after = if it.prefix { ")".to_owned() } else { format!(",{name})") };
                self.put_text(it.span.end, after);
            }
            target => {
                let helper = if it.prefix { Member::Write } else { Member::Step(by) };
                self.member(it.span, target, helper, |_| {});
            }
        }
    }

    fn delete(&mut self, it: &UnaryExpression<'_>) {
        let object = match &it.argument {
            Expression::StaticMemberExpression(member) => &member.object,
            Expression::ComputedMemberExpression(member) => &member.object,
            Expression::ChainExpression(chain) => return self.delete_in_chain(it, chain),
            _ => return walk_js::walk_unary_expression(self, it),
        };
        if matches!(object, Expression::Super(_)) {
            return walk_js::walk_unary_expression(self, it);
        }
        let kept = self.keep(object);
        let after = vec![text(format!(",{}{})", kept.text(), kept.cleared()))];
        let visit = |this: &mut Self| {
            this.visit_kept(object, &kept);
            if let Expression::ComputedMemberExpression(member) = &it.argument {
                this.visit_expression(&member.expression);
            }
        };
        self.wrap(it.span, "__$k(".to_owned(), visit, after);
    }

    /// `delete options?.limits.most`.
    fn delete_in_chain(&mut self, it: &UnaryExpression<'_>, chain: &ChainExpression<'_>) {
        let object = chain.expression.as_member_expression().map(MemberExpression::object);
        let Some((begin, steps)) = object.and_then(begin_of_chain) else { return self.chain(chain) };
        let kept = self.keep(begin);
        let after = format!(",{},{}{})", kept.text(), list_of(&steps), kept.cleared());
        self.put_text(it.span.start, "__$cc(__$w(),");
        self.chain_begin = Some((begin.span(), kept));
        self.chain(chain);
        self.chain_begin = None;
        self.put_text(it.span.end, after);
    }

    fn await_expression(&mut self, it: &AwaitExpression<'_>) {
        if self.is_before_call || !self.functions.last().is_some_and(|function| function.is_async) {
            return walk_js::walk_await_expression(self, it);
        }
        let call = self.call();
        self.put_text(it.span.start, format!("__$y({call},"));
        self.visit_in(&it.argument, format!("__$z({call},"));
        self.put_text(it.span.end, ")");
    }

    fn yield_expression(&mut self, it: &YieldExpression<'_>) {
        let call = self.call();
        self.put_text(it.span.start, format!("__$y({call},"));
        if let Some(argument) = &it.argument {
            self.visit_in(argument, format!("__$z({call},"));
        } else {
            self.put_text(it.span.end, format!(" __$z({call})"));
        }
        self.put_text(it.span.end, ")");
    }

    /// `cart?.items.push(item)`. What is changed is found from the object that the chain begins at, by its properties.
    fn chain(&mut self, it: &ChainExpression<'_>) {
        let ChainElement::CallExpression(call) = &it.expression else {
            if let Some(member) = it.expression.as_member_expression() {
                self.spine(member.object());
                if let MemberExpression::ComputedMemberExpression(member) = member {
                    self.visit_expression(&member.expression);
                }
            }
            return;
        };
        let (begin, method) = match &call.callee {
            Expression::StaticMemberExpression(member) if !is_pure(&member.property.name) => {
                (begin_of_chain(&member.object), member.property.name.as_str())
            }
            _ => (None, ""),
        };
        if begin.is_none() && !gets_objects(call) {
            return self.spine_of_call(call, None);
        }
        let helper = if begin.is_some() && is_reader(method) { "rc" } else { "cc" };
        self.put_text(it.span.start, format!("__${helper}(__$w(),"));
        let (object, steps) = begin.unzip();
        let kept = object.map(|object| self.keep_receiver(object));
        let begin = kept.clone().unwrap_or_else(|| Kept::Text("undefined".to_owned()));
        let mut values = vec![begin, Kept::Text(list_of(&steps.unwrap_or_default()))];
        let mut given = Vec::new();
        self.chain_begin = object.map(GetSpan::span).zip(kept);
        self.spine_of_call(call, Some(&mut given));
        self.chain_begin = None;
        values.extend(given);
        self.put_text(it.span.end, format!("{})", Kept::list(&values)));
    }

    /// What a chain is made of: nothing can be put around its parts, but for the one that it begins at.
    fn spine(&mut self, it: &Expression<'_>) {
        if let Some((_, kept)) = self.chain_begin.take_if(|(span, _)| *span == it.span()) {
            return self.visit_kept(it, &kept);
        }
        match it {
            Expression::CallExpression(call) => self.spine_of_call(call, None),
            Expression::StaticMemberExpression(member) => self.spine(&member.object),
            Expression::PrivateFieldExpression(member) => self.spine(&member.object),
            Expression::TSNonNullExpression(it) => self.spine(&it.expression),
            Expression::ComputedMemberExpression(member) => {
                self.spine(&member.object);
                self.visit_expression(&member.expression);
            }
            other => self.visit_expression(other),
        }
    }

    /// A call in a chain. Its arguments are kept, if that is asked for.
    fn spine_of_call(&mut self, call: &CallExpression<'_>, given: Option<&mut Vec<Kept>>) {
        self.spine(&call.callee);
        // Where the chain is not taken, a variable among the arguments need not have a value yet.
        self.visit_given(&call.arguments, given, |this, _| Kept::Temporary(this.temporary()));
    }

    /// Arguments, up to a limit kept if they may be objects, and after them variables in literals.
    fn visit_given(
        &mut self,
        arguments: &[Argument<'_>],
        given: Option<&mut Vec<Kept>>,
        keep: impl Fn(&mut Self, &Expression<'_>) -> Kept,
    ) {
        let mut in_literals = Vec::new();
        let mut unused = Vec::new();
        let most = if given.is_some() { MOST_GIVEN } else { 0 };
        let given = given.unwrap_or(&mut unused);
        for argument in arguments {
            let value = argument.as_expression().filter(|value| !self.is_harmless(value));
            if let Some(value) = value.filter(|value| may_be_object(value) && given.len() < most) {
                let object = keep(self, value);
                self.visit_kept(value, &object);
                given.push(object);
            } else {
                in_literals.extend(value.into_iter().flat_map(variables_in));
                self.visit_argument(argument);
            }
        }
        for (variable, property) in in_literals.into_iter().take(most.saturating_sub(given.len())) {
            let object = keep(self, variable);
            if let (Some(name), Kept::Temporary(_)) = (property, &object) {
                self.put_text(variable.span().start, format!("{name}:"));
            }
            self.visit_kept(variable, &object);
            given.push(object);
        }
    }

    fn call_expression(&mut self, it: &CallExpression<'_>) {
        if matches!(it.callee, Expression::Super(_)) {
            return self.super_call(it);
        }
        if let Some((function, name)) = named_function(it) {
            self.hint = Some(name);
            return self.visit_expression(function);
        }
        if is_bind(it) {
            return self.bind(it);
        }
        let changed = self.changed_by(it);
        if changed == Changed::Nothing {
            return walk_js::walk_call_expression(self, it);
        }
        if changed == Changed::Result {
            return self.wrap(
                it.span,
                "__$kk(".to_owned(),
                |this| walk_js::walk_call_expression(this, it),
                vec![text(")")],
            );
        }
        let mut kept = Vec::new();
        kept.extend(self.bound_name(&it.callee).map(Kept::Text));
        let helper = match changed {
            Changed::Appended => "x",
            Changed::Read => "rd",
            _ => "c",
        };
        self.put_text(it.span.start, format!("__${helper}(__$w(),"));
        match &it.callee {
            // A method of the class above, which may be one of the language.
            Expression::StaticMemberExpression(member) if matches!(member.object, Expression::Super(_)) => {
                kept.push(Kept::Text("this".to_owned()));
            }
            Expression::StaticMemberExpression(member) if changed != Changed::Arguments => {
                let object = self.keep_receiver(&member.object);
                self.visit_kept(&member.object, &object);
                kept.push(object);
            }
            other => self.visit_expression(other),
        }
        let is_given = !matches!(changed, Changed::Receiver | Changed::Appended);
        self.visit_given(&it.arguments, Some(&mut kept).filter(|_| is_given), Self::keep);
        self.put_text(it.span.end, format!("{})", Kept::list(&kept)));
    }

    /// What makes a function of another one, which is bound to an object: where the function is called, the object may
    /// change.
    fn bind(&mut self, it: &CallExpression<'_>) {
        let mut kept = Vec::new();
        self.put_text(it.span.start, "__$bo(");
        self.visit_expression(&it.callee);
        self.visit_given(&it.arguments, Some(&mut kept), Self::keep);
        self.put_text(it.span.end, format!("{})", Kept::list(&kept)));
    }

    fn super_call(&mut self, it: &CallExpression<'_>) {
        let constructor = self.functions.iter().rfind(|function| function.kind != Kind::Arrow);
        let level = constructor.map_or(0, |function| function.level);
        if self.is_before_call {
            return walk_js::walk_call_expression(self, it);
        }
        self.put_text(it.span.start, "(");
        for argument in &it.arguments {
            self.visit_argument(argument);
        }
        let name = Piece::Name("this".to_owned());
        self.put(it.span.end, vec![text(format!(",__$b(__$s{level},")), name, text(",this))")]);
    }
}

/// Where an optional chain begins, and the properties from there: all that follows the first `?.` is in it. A call on the
/// way, as in `names?.add(1).add(2)`, may give the object whose method it is.
fn begin_of_chain<'a>(object: &'a Expression<'a>) -> Option<(&'a Expression<'a>, Vec<String>)> {
    let mut steps = Vec::new();
    let mut at = object;
    loop {
        at = match at {
            Expression::StaticMemberExpression(member) => {
                steps.push(member.property.name.to_string());
                &member.object
            }
            Expression::CallExpression(call) if is_in_chain(at) => {
                steps.clear();
                call.callee.as_member_expression()?.object()
            }
            Expression::TSNonNullExpression(it) => &it.expression,
            _ => break,
        }
    }
    steps.reverse();
    (!is_in_chain(at)).then_some((at, steps))
}

fn list_of(steps: &[String]) -> String {
    let steps: Vec<String> = steps.iter().map(|step| format!("'{step}'")).collect();
    format!("[{}]", steps.join(","))
}

/// Whether an expression has a `?.` of the chain that it is part of.
fn is_in_chain(it: &Expression<'_>) -> bool {
    match it {
        Expression::CallExpression(call) => call.optional || is_in_chain(&call.callee),
        Expression::StaticMemberExpression(member) => member.optional || is_in_chain(&member.object),
        Expression::PrivateFieldExpression(member) => member.optional || is_in_chain(&member.object),
        Expression::ComputedMemberExpression(member) => member.optional || is_in_chain(&member.object),
        Expression::TSNonNullExpression(it) => is_in_chain(&it.expression),
        Expression::Super(_) => true,
        _ => false,
    }
}

/// How a member is written.
#[derive(Clone, Copy, Debug)]
enum Member {
    /// To the value of the expression.
    Write,
    /// By a step, after the value of the expression.
    Step(i8),
    /// Perhaps.
    Check,
}

enum Key<'e, 'a> {
    Name(String),
    Private(String),
    Computed(&'e Expression<'a>),
}
