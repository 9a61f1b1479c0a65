//! Which expressions can be put into a script.
//!
//! What V8 refuses there would break the program, so only what is fine everywhere is taken: in strict code and in
//! sloppy code, in modules, in generators and in the static blocks of classes.

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, BindingIdentifier, BindingPattern, Expression, Function, IdentifierReference,
    NumericLiteral, PropertyKey, Statement, StringLiteral, TemplateElement, UnaryExpression, UnaryOperator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::scope::ScopeFlags;

use crate::javascript::{CONTEXTUAL, deeply, is_expression, is_valid};

/// What the names begin with that the inserted text has for itself.
const OWN: &str = "__stillframe";

/// Whether an expression means the same in the statement that is put in as inside an arrow function at its
/// place, wherever in a script that is. Names that begin with `__stillframe` are the inserted text's own.
pub(crate) fn is_portable(expression: &str) -> bool {
    let parses = || parses_as(expression, SourceType::mjs()) && parses_as(expression, SourceType::cjs());
    is_expression(expression).is_ok() && deeply(parses).unwrap_or(false)
}

fn parses_as(expression: &str, kind: SourceType) -> bool {
    let allocator = Allocator::default();
    let wrapped = format!("(\n{expression}\n)");
    let parsed = Parser::new(&allocator, &wrapped, kind).parse();
    if !is_valid(&parsed) || !parsed.program.directives.is_empty() {
        return false;
    }
    let mut fine = PortabilityCheck(true);
    fine.visit_program(&parsed.program);
    fine.0
}

/// As far as nothing else was seen.
struct PortabilityCheck(bool);

impl PortabilityCheck {
    /// One that is a keyword in some places, or means what the function around says, is refused.
    fn name(&mut self, name: &str) {
        let is_particular = ["arguments", "eval"].contains(&name) || CONTEXTUAL.contains(&name);
        self.0 &= !name.starts_with(OWN) && !is_particular;
    }

    /// Digits after a backslash are octal in sloppy code only.
    fn raw(&mut self, raw: &str) {
        let mut rest = raw.chars();
        while let Some(character) = rest.next() {
            self.0 &= character != '\\' || !rest.next().is_some_and(|next| next.is_ascii_digit());
        }
    }
}

impl<'a> VisitJs<'a> for PortabilityCheck {
    /// Regular expressions are left out because versions of V8 differ in what they take.
    fn visit_expression(&mut self, it: &Expression<'a>) {
        self.0 &= matches!(
            it,
            Expression::ArrayExpression(_)
                | Expression::ArrowFunctionExpression(_)
                | Expression::AssignmentExpression(_)
                | Expression::BigIntLiteral(_)
                | Expression::BinaryExpression(_)
                | Expression::BooleanLiteral(_)
                | Expression::CallExpression(_)
                | Expression::ChainExpression(_)
                | Expression::ComputedMemberExpression(_)
                | Expression::ConditionalExpression(_)
                | Expression::Identifier(_)
                | Expression::LogicalExpression(_)
                | Expression::NewExpression(_)
                | Expression::NullLiteral(_)
                | Expression::NumericLiteral(_)
                | Expression::ObjectExpression(_)
                | Expression::ParenthesizedExpression(_)
                | Expression::SequenceExpression(_)
                | Expression::StaticMemberExpression(_)
                | Expression::StringLiteral(_)
                | Expression::TaggedTemplateExpression(_)
                | Expression::TemplateLiteral(_)
                | Expression::ThisExpression(_)
                | Expression::UnaryExpression(_)
                | Expression::UpdateExpression(_)
        );
        walk_js::walk_expression(self, it);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.0 &= matches!(it, Statement::ExpressionStatement(_));
        walk_js::walk_statement(self, it);
    }

    /// A method.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {
        self.0 = false;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let mut names = BTreeSet::new();
        let is_plain = it.params.items.iter().all(|parameter| match &parameter.pattern {
            BindingPattern::BindingIdentifier(id) => names.insert(id.name.as_str()),
            _ => false,
        });
        self.0 &= is_plain && !it.r#async && it.body.as_expression().is_some();
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.name(&it.name);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.name(&it.name);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        let is_member = it.argument.as_member_expression().is_some()
            || matches!(it.argument, Expression::ChainExpression(_));
        self.0 &= it.operator != UnaryOperator::Delete || is_member;
        walk_js::walk_unary_expression(self, it);
    }

    /// A second `__proto__` in an object is an error.
    fn visit_property_key(&mut self, it: &PropertyKey<'a>) {
        self.0 &= it.static_name().is_none_or(|name| name != "__proto__");
        walk_js::walk_property_key(self, it);
    }

    /// A zero in front makes a number octal in sloppy code only.
    fn visit_numeric_literal(&mut self, it: &NumericLiteral<'a>) {
        let is_old =
            |raw: &str| raw.starts_with('0') && raw.chars().nth(1).is_some_and(|next| next.is_ascii_digit());
        self.0 &= !it.raw.as_ref().is_some_and(|raw| is_old(raw));
    }

    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        if let Some(raw) = &it.raw {
            self.raw(raw);
        }
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        self.raw(&it.value.raw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::{Host, Machine};
    use crate::deadlines;
    use crate::process::ProcessSpec;

    const FINE: &[&str] = &[
        "a",
        "this.a[b]?.c(1)",
        "a = b",
        "a, b",
        "items.map(x => x.id)",
        "(x, y) => x",
        "`${a}\\n`",
        "(a, b) => ({ c: a.map((d) => d), ...b })['e'] ??= `f${a}`",
        "a?.[b]?.c ?? (d = { e: [, ...f] }, g**2n)",
        "package_ + letter + $ + ünï",
        "'\\n'",
        "0",
        "0.5",
        "0x1f",
        "10n",
        "typeof a",
        "delete a.b",
        "new A(...b)",
        "{ a, b: 1, ...c }",
        "a // why",
        "JSON.stringify(a)",
        "/* } */ a",
    ];

    #[test]
    fn context_dependent_code_is_refused() {
        for fine in FINE {
            assert!(is_portable(fine), "{fine}");
        }
        for refused in [
            "arguments[0]",
            "eval('a')",
            "await",
            "await f()",
            "yield",
            "new.target",
            "super.a",
            "import.meta",
            "import('a')",
            "this.#a",
            "#a in b",
            "let",
            "static",
            "010",
            "'\\1'",
            "'\\08'",
            "delete a",
            "delete (a)",
            "(a, a) => a",
            "({ a }) => a",
            "async () => a",
            "() => { a }",
            "function () {}",
            "class {}",
            "{ a() {} }",
            "{ get a() { return 1 } }",
            "{ __proto__: a }",
            "/(/",
            "__stillframe_row",
            "a(__stillframe)",
            "x => let",
            "let => 1",
            "a b",
            "a) + (b",
            "",
        ] {
            assert!(!is_portable(refused), "{refused}");
        }
    }

    /// Compiles each of the expressions in code of all kinds.
    const KINDS: &str = "
      const vm = require('node:vm');
      for (const expression of JSON.parse(process.argv[1])) {
        const put = `;{ () => (\\n${expression}\\n) }`;
        for (const code of [
          put,
          `'use strict'${put}`,
          `async function* f() {${put}}`,
          `class A extends B { static {${put}} constructor() {${put}} static async *#m() {${put}} }`,
          `({ get a() {${put}}, async b() {${put}} })`,
        ]) new vm.Script(code);
        new vm.SourceTextModule(put);
      }";

    #[tokio::test]
    async fn v8_accepts_the_rest_anywhere() {
        let spec = ProcessSpec {
            program: std::env::var_os("STILLFRAME_TEST_NODE")
                .map_or_else(|| Machine.which("node").unwrap(), Into::into),
            args: ["--experimental-vm-modules", "-e", KINDS, &serde_json::to_string(FINE).unwrap()]
                .map(Into::into)
                .into(),
            ..ProcessSpec::default()
        };
        let finished = Machine.run(&spec, deadlines::HELPER).await.unwrap();
        assert!(finished.success, "{}", finished.stderr);
    }
}
