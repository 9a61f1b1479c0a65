//! What an assignment writes, in all its forms.

use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetPropertyIdentifier, Expression, SimpleAssignmentTarget,
};
use oxc_ast_visit::VisitJs;

/// The variables among targets of an assignment.
pub(super) fn targets_of(target: &AssignmentTarget<'_>) -> Vec<String> {
    let mut found = Targets::default();
    found.visit_assignment_target(target);
    found.names
}

/// The variables whose members are among targets of an assignment.
pub(super) fn objects_of(target: &AssignmentTarget<'_>) -> Vec<String> {
    let mut found = Targets::default();
    found.visit_assignment_target(target);
    found.objects
}

#[derive(Default)]
struct Targets {
    names: Vec<String>,
    objects: Vec<String>,
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
            _ => return,
        };
        match object {
            Expression::Identifier(id) => self.objects.push(id.name.to_string()),
            Expression::ThisExpression(_) => self.objects.push("this".to_owned()),
            _ => {}
        }
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.names.push(it.binding.name.to_string());
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}
}
