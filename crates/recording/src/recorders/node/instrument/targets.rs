//! What an assignment writes, in all its forms.

use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetPropertyIdentifier, Expression, PrivateFieldExpression,
    SimpleAssignmentTarget,
};
use oxc_ast_visit::VisitJs;
use oxc_span::GetSpan;

use super::{Instrumenter, Piece, text};

/// The variables among targets of an assignment.
pub(super) fn targets_of(target: &AssignmentTarget<'_>) -> Vec<String> {
    let mut found = Targets::default();
    found.visit_assignment_target(target);
    found.names
}

impl Instrumenter<'_> {
    /// What is put after an assignment to members of variables, such as `[this.a, this.#b] = pair`.
    pub(super) fn member_writes(&self, target: &AssignmentTarget<'_>) -> Vec<Vec<Piece>> {
        let mut found = Targets::default();
        found.visit_assignment_target(target);
        let objects = found.objects.iter().map(|object| vec![text(format!("__$k(0,{object})"))]);
        // Reading runs nothing, and the variable is still the object.
        let is_field = |object: &String, name: &String| {
            !self.facts.private_accessors.contains(name) && !found.names.contains(object)
        };
        let fields =
            found.fields.iter().filter(|(object, name)| is_field(object, name)).map(|(object, name)| {
                let read = text(format!("__$h({object}.#{name},{object},"));
                vec![read, Piece::Name(format!("#{name}")), text(")")]
            });
        objects.chain(fields).collect()
    }

    /// `this.#count ??= 0`, which writes the field only where it computes the value.
    pub(super) fn assign_private_perhaps(
        &mut self,
        field: &PrivateFieldExpression<'_>,
        value: &Expression<'_>,
    ) {
        let kept = self.keep(&field.object);
        self.visit_kept(&field.object, &kept);
        let span = value.span();
        self.put_text(span.start, "__$h(");
        self.visit_expression(value);
        let name = Piece::Name(format!("#{}", field.field.name));
        let after = text(format!("{})", kept.cleared()));
        self.put(span.end, vec![text(format!(",{},", kept.text())), name, after]);
    }
}

#[derive(Default)]
struct Targets {
    names: Vec<String>,
    /// Variables whose members are among the targets.
    objects: Vec<String>,
    /// Those whose private fields are, with the names of these.
    fields: Vec<(String, String)>,
}

fn variable(object: &Expression<'_>) -> Option<String> {
    match object {
        Expression::Identifier(id) => Some(id.name.to_string()),
        Expression::ThisExpression(_) => Some("this".to_owned()),
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Targets {
    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        let object = match it {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => {
                self.names.push(id.name.to_string());
                return;
            }
            SimpleAssignmentTarget::StaticMemberExpression(member) => &member.object,
            SimpleAssignmentTarget::ComputedMemberExpression(member) => &member.object,
            SimpleAssignmentTarget::PrivateFieldExpression(member) => {
                let name = member.field.name.to_string();
                self.fields.extend(variable(&member.object).map(|object| (object, name)));
                return;
            }
            _ => return,
        };
        self.objects.extend(variable(object));
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.names.push(it.binding.name.to_string());
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}
}
