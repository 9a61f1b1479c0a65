//! Reads expressions.

use super::tables::of_elements;
use super::tokens::{Token, describe, tokens};
use super::{Comparison, Each, Expression, Function, Literal};

type Parsed<T> = Result<T, String>;

pub(super) fn parse(text: &str) -> Parsed<Expression> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = parser.or()?;
    match parser.tokens.get(parser.at) {
        None => Ok(expression),
        Some(token) => Err(format!("unexpected {}", describe(token))),
    }
}

/// The variable of comprehensions that are ours. No expression can name it.
const ITEM: &str = "item of each";

/// Deeper expressions are refused.
const DEEPEST: usize = 50;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn sign(&mut self, sign: &str) -> bool {
        let is_next = self.is_next(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn is_next(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(next)) if *next == sign)
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.tokens.get(self.at), Some(Token::Word(next)) if next == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn or(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        let mut left = self.and()?;
        while self.word("or") || self.sign("||") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expression> {
        let mut left = self.not()?;
        while self.word("and") || self.sign("&&") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expression> {
        let mut count = 0;
        while self.word("not") {
            count += 1;
        }
        Ok(negated(self.comparison()?, count))
    }

    fn comparison(&mut self) -> Parsed<Expression> {
        let first = self.sum()?;
        if self.word("instanceof") {
            return Ok(is_of(&first, self.class()?));
        }
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_sign() {
            let other = self.sum()?;
            // A class is compared by its name, and has no other value here.
            let is_class = matches!(first, Expression::Of(Function::Class, _));
            let other = if is_class { named(other) } else { other };
            rest.push((comparison, other));
        }
        Ok(if rest.is_empty() { first } else { Expression::Comparison(Box::new(first), rest) })
    }

    fn comparison_sign(&mut self) -> Option<Comparison> {
        let signs = [
            ("===", Comparison::Is),
            ("!==", Comparison::IsNot),
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        if let Some((_, comparison)) = signs.into_iter().find(|(sign, _)| self.sign(sign)) {
            return Some(comparison);
        }
        if self.word("is") {
            return Some(if self.word("not") { Comparison::IsNot } else { Comparison::Is });
        }
        if self.word("in") {
            return Some(Comparison::In);
        }
        let is_not_in = matches!(self.tokens.get(self.at..self.at + 2), Some([Token::Word(not), Token::Word(is_in)]) if not == "not" && is_in == "in");
        self.at += if is_not_in { 2 } else { 0 };
        is_not_in.then_some(Comparison::NotIn)
    }

    fn sum(&mut self) -> Parsed<Expression> {
        let mut left = self.product()?;
        loop {
            let sign = if self.sign("+") {
                '+'
            } else if self.sign("-") {
                '-'
            } else {
                return Ok(left);
            };
            left = Expression::Arithmetic(Box::new(left), sign, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed<Expression> {
        let mut left = self.unary()?;
        loop {
            let signs = [("*", '*'), ("//", '|'), ("/", '/'), ("%", '%')];
            let Some((_, sign)) = signs.into_iter().find(|(sign, _)| self.sign(sign)) else {
                return Ok(left);
            };
            left = Expression::Arithmetic(Box::new(left), sign, Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let mut count = 0;
        while self.sign("!") {
            count += 1;
        }
        let inner = if self.word("typeof") {
            Expression::of(Function::TypeOf, self.postfix()?)
        } else if self.sign("-") {
            Expression::of(Function::Negative, self.postfix()?)
        } else {
            self.postfix()?
        };
        Ok(negated(inner, count))
    }

    fn postfix(&mut self) -> Parsed<Expression> {
        let mut value = self.atom()?;
        loop {
            // What `?.` is for, that there may be nothing, is so for each attribute here.
            let is_optional = self.sign("?.");
            if self.sign(".") || is_optional && !self.is_next("[") {
                let name = self.name()?;
                value = match (value.path().as_deref(), name.as_str()) {
                    (Some("math" | "np" | "numpy"), "inf") => {
                        Expression::Literal(Literal::Float(f64::INFINITY))
                    }
                    _ => Expression::Attribute(Box::new(value), name),
                };
            } else if self.sign("[") {
                let first = if self.is_next(":") { None } else { Some(self.or()?) };
                if self.sign(":") {
                    value = self.slice(value, first, "]")?;
                    self.expect("]")?;
                    continue;
                }
                let key = match self.rest_of_list(first.ok_or("a key is missing")?, "]")? {
                    keys if keys.len() > 1 => Expression::List(keys),
                    keys => keys.into_iter().next().ok_or("a key is missing")?,
                };
                value = Expression::Item(Box::new(value), Box::new(key));
            } else if self.sign("(") {
                value = self.call(value)?;
            } else if !self.sign("!") {
                // What `!` is for in TypeScript, that there is something, changes no value.
                return Ok(value);
            }
        }
    }

    /// A part, of which the beginning and the sign after it are read. `end` follows it.
    fn slice(&mut self, of: Expression, from: Option<Expression>, end: &str) -> Parsed<Expression> {
        let has_end = !self.is_next(end) && !self.is_next(":");
        let to = if has_end { Some(Box::new(self.or()?)) } else { None };
        if self.is_next(":") {
            return Err("a slice with a step is not supported".to_owned());
        }
        Ok(Expression::Slice(Box::new(of), [from.map(Box::new), to]))
    }

    /// A call of what stands before the parenthesis.
    fn call(&mut self, called: Expression) -> Parsed<Expression> {
        let path = called.path();
        if self.sign(")") {
            if let Expression::Attribute(of, name) = &called {
                if let Some(function) = Function::of_elements(name) {
                    return Ok(of_elements(function, (**of).clone()));
                }
                if let Some(function) = Function::method(name) {
                    return Ok(Expression::Of(function, of.clone()));
                }
            }
            let path = path.ok_or("only a named function can be called")?;
            return Ok(Expression::Returned(path));
        }
        if path.as_deref() == Some("enumerate") {
            // The number of the first one would be a second argument.
            let over = self.or()?;
            self.expect(")")?;
            return Ok(Expression::of(Function::Numbered, over));
        }
        if let Some(function @ (Function::Zip | Function::Range)) = path.as_deref().and_then(Function::named)
        {
            let first = self.or()?;
            let values = self.rest_of_list(first, ")")?;
            if function == Function::Range && values.len() > 3 {
                return Err("`range` takes one to three numbers".to_owned());
            }
            return Ok(Expression::of(function, Expression::List(values)));
        }
        if let Some(function) = path.as_deref().and_then(Function::named) {
            return Ok(Expression::of(function, self.arguments()?));
        }
        if let Some(function) = path.as_deref().and_then(Function::of_elements) {
            return Ok(of_elements(function, self.arguments()?));
        }
        if let Some("date" | "datetime" | "time") = called.last_name() {
            let first = self.or()?;
            return Ok(Expression::List(self.rest_of_list(first, ")")?));
        }
        if path.as_deref() == Some("Array.isArray") {
            return Ok(is_of(&self.arguments()?, "Array".to_owned()));
        }
        if let Some("Decimal" | "float" | "Number") = called.last_name() {
            return match self.arguments()? {
                Expression::Literal(Literal::Text(text)) => Ok(Expression::Literal(number(&text)?)),
                other if called.last_name() == Some("Decimal") => Ok(other),
                other => Ok(Expression::of(Function::Number, other)),
            };
        }
        if let Expression::Attribute(of, method) = called
            && let Some(value) = self.method(*of, &method)?
        {
            self.expect(")")?;
            return Ok(value);
        }
        let path = path.unwrap_or_else(|| "that".to_owned());
        Err(format!(
            "`{path}` cannot be called with arguments here; `{path}()` is what a call of it returned"
        ))
    }

    /// What a method with arguments gives; none if it is not known.
    fn method(&mut self, of: Expression, method: &str) -> Parsed<Option<Expression>> {
        let compared = |comparison, item, container| {
            Expression::Comparison(Box::new(item), vec![(comparison, container)])
        };
        Ok(Some(match method {
            "get" => {
                let item = Expression::Item(Box::new(of), Box::new(self.or()?));
                let otherwise = self.sign(",").then(|| self.or()).transpose()?;
                Expression::of(Function::Get, Expression::List([item].into_iter().chain(otherwise).collect()))
            }
            "at" | "charAt" => Expression::Item(Box::new(of), Box::new(self.or()?)),
            "slice" | "substring" => {
                let from = self.or()?;
                self.sign(",");
                self.slice(of, Some(from), ")")?
            }
            "for" if of.last_name() == Some("Symbol") => super::functions::symbol(self.or()?),
            "has" => compared(Comparison::In, self.or()?, Expression::of(Function::Keyed, of)),
            "includes" => {
                let is_list = matches!(of, Expression::List(_));
                let of = if is_list { of } else { Expression::of(Function::Sequence, of) };
                compared(Comparison::In, self.or()?, of)
            }
            "startswith" | "startsWith" => compared(Comparison::BeginsWith, of, self.or()?),
            "endswith" | "endsWith" => compared(Comparison::EndsWith, of, self.or()?),
            "some" => Expression::of(Function::Any, self.function_of_each(of)?),
            "every" => Expression::of(Function::All, self.function_of_each(of)?),
            "map" => self.function_of_each(of)?,
            "filter" => {
                let each = self.function_of_each(of)?;
                filtered(each)
            }
            "count" => {
                let same = compared(Comparison::Equal, Expression::Name(ITEM.to_owned()), self.or()?);
                Expression::of(Function::Length, filtered(each(same, vec![ITEM.to_owned()], of)))
            }
            _ => return Ok(None),
        }))
    }

    /// `item => value`, `({ price }) => value` or `([key, item]) => value`, applied to each item.
    fn function_of_each(&mut self, over: Expression) -> Parsed<Expression> {
        let in_parentheses = self.sign("(");
        let is_object = self.sign("{");
        let in_brackets = !is_object && self.sign("[");
        let variables = self.names()?;
        if is_object {
            self.expect("}")?;
        } else if in_brackets {
            self.expect("]")?;
        }
        if in_parentheses {
            self.expect(")")?;
        }
        self.expect("=>")?;
        let value = self.or()?;
        if !is_object {
            return Ok(each(value, variables, over));
        }
        let attribute =
            |name: &String| Expression::Attribute(Box::new(Expression::Name(ITEM.to_owned())), name.clone());
        let value = value.replaced(&|part| match part {
            Expression::Name(name) if variables.contains(name) => Some(attribute(name)),
            _ => None,
        });
        Ok(each(value, vec![ITEM.to_owned()], over))
    }

    fn name(&mut self) -> Parsed<String> {
        let Some(Token::Word(name)) = self.tokens.get(self.at).cloned() else {
            return Err("a name is missing".to_owned());
        };
        self.at += 1;
        Ok(name)
    }

    /// Names with commas between.
    fn names(&mut self) -> Parsed<Vec<String>> {
        let mut names = vec![self.name()?];
        while self.sign(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.sign(sign) { Ok(()) } else { Err(format!("`{sign}` is missing")) }
    }

    /// What is in the parentheses of one of our functions: one value, a comprehension, or several values.
    fn arguments(&mut self) -> Parsed<Expression> {
        self.sign("...");
        let first = self.or()?;
        let items = self.rest_of_list(first, ")")?;
        Ok(match <[_; 1]>::try_from(items) {
            Ok([only]) => only,
            Err(items) => Expression::List(items),
        })
    }

    /// The items of a list after the first one; one comprehension, if it is one.
    fn rest_of_list(&mut self, first: Expression, end: &str) -> Parsed<Vec<Expression>> {
        let first = if self.word("for") { self.comprehension(first)? } else { first };
        let mut items = vec![first];
        while self.sign(",") {
            // One may stand after the last item.
            if self.sign(end) {
                return Ok(items);
            }
            items.push(self.or()?);
        }
        self.expect(end)?;
        Ok(items)
    }

    /// What follows `value for`.
    fn comprehension(&mut self, value: Expression) -> Parsed<Expression> {
        let variables = self.names()?;
        if !self.word("in") {
            return Err("`in` is missing".to_owned());
        }
        let over = self.or()?;
        let filter = if self.word("if") { Some(self.or()?) } else { None };
        Ok(Expression::Each(Box::new(Each { value, variables, over, filter })))
    }

    /// A value in parentheses, or a tuple.
    fn in_parentheses(&mut self) -> Parsed<Expression> {
        let first = self.or()?;
        if self.sign(")") {
            return Ok(first);
        }
        Ok(Expression::List(self.rest_of_list(first, ")")?))
    }

    fn list(&mut self) -> Parsed<Expression> {
        if self.sign("]") {
            return Ok(Expression::List(Vec::new()));
        }
        let is_spread = self.sign("...");
        let first = self.or()?;
        let mut items = self.rest_of_list(first, "]")?;
        let is_whole = is_spread || matches!(items.as_slice(), [Expression::Each(_)]);
        match items.pop() {
            Some(only) if is_whole && items.is_empty() => Ok(only),
            last => Ok(Expression::List(items.into_iter().chain(last).collect())),
        }
    }

    /// What is in the parentheses of `isinstance`: a value, and a class or several in parentheses.
    fn is_instance(&mut self) -> Parsed<Expression> {
        let value = self.or()?;
        if !self.sign(",") {
            return Err("`isinstance` needs a class".to_owned());
        }
        let is_group = self.sign("(");
        let mut is_any = is_of(&value, self.class()?);
        while is_group && self.sign(",") {
            is_any = Expression::Or(Box::new(is_any), Box::new(is_of(&value, self.class()?)));
        }
        let is_closed = (!is_group || self.sign(")")) && self.sign(")");
        if is_closed { Ok(is_any) } else { Err("`)` is missing".to_owned()) }
    }

    /// The last name of a class.
    fn class(&mut self) -> Parsed<String> {
        match named(self.postfix()?) {
            Expression::Literal(Literal::Text(name)) => Ok(name),
            _ => Err("the name of a class is missing".to_owned()),
        }
    }

    fn atom(&mut self) -> Parsed<Expression> {
        let token = self.tokens.get(self.at).cloned().ok_or("unexpected end")?;
        self.at += 1;
        Ok(match token {
            Token::Sign("(") => self.in_parentheses()?,
            Token::Sign("[") => self.list()?,
            Token::Sign(_) => return Err(format!("unexpected {}", describe(&token))),
            Token::Text(text) => Expression::Literal(Literal::Text(text)),
            Token::Number(number) => Expression::Literal(self::number(&number)?),
            Token::Word(word) => match word.as_str() {
                "None" | "null" => Expression::Literal(Literal::None),
                "undefined" => Expression::Literal(Literal::Undefined),
                "True" | "true" => Expression::Literal(Literal::Bool(true)),
                "Infinity" => Expression::Literal(Literal::Float(f64::INFINITY)),
                "False" | "false" => Expression::Literal(Literal::Bool(false)),
                "isinstance" if self.sign("(") => self.is_instance()?,
                _ => Expression::Name(word),
            },
        })
    }
}

/// The opposite of a value, this many times.
fn negated(value: Expression, times: usize) -> Expression {
    (0..times).fold(value, |value, _| Expression::of(Function::Not, value))
}

/// Something of each item of a container.
fn each(value: Expression, variables: Vec<String>, over: Expression) -> Expression {
    Expression::Each(Box::new(Each { value, variables, over, filter: None }))
}

/// The items for which something holds.
fn filtered(holds: Expression) -> Expression {
    let Expression::Each(each) = holds else { return holds };
    let item = match each.variables.as_slice() {
        [only] => Expression::Name(only.clone()),
        several => Expression::List(several.iter().cloned().map(Expression::Name).collect()),
    };
    Expression::Each(Box::new(Each { value: item, filter: Some(each.value), ..*each }))
}

/// Whether a value is of a class with this name.
fn is_of(value: &Expression, class: String) -> Expression {
    let class = Expression::Literal(Literal::Text(class));
    Expression::Comparison(
        Box::new(Expression::of(Function::Class, value.clone())),
        vec![(Comparison::Equal, class)],
    )
}

/// The name of a class in place of the class.
fn named(class: Expression) -> Expression {
    match class {
        Expression::Name(name) | Expression::Attribute(_, name) => Expression::Literal(Literal::Text(name)),
        other => other,
    }
}

fn number(text: &str) -> Parsed<Literal> {
    // JavaScript's `bigint` ends with `n`.
    if let Ok(number) = text.strip_suffix('n').unwrap_or(text).parse() {
        return Ok(Literal::Integer(number));
    }
    text.parse().map(Literal::Float).map_err(|_| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_reported() {
        let cases = [
            ("", "unexpected end"),
            ("total <", "unexpected end"),
            ("total < 0)", "unexpected `)`"),
            ("(total", "`)` is missing"),
            ("items[0", "`]` is missing"),
            ("f(3)", "`f` cannot be called with arguments here; `f()` is what a call of it returned"),
            (
                "items.push(3)",
                "`items.push` cannot be called with arguments here; `items.push()` is what a call of it returned",
            ),
            ("any(x for items)", "`in` is missing"),
            ("items.some(x < 3)", "`=>` is missing"),
            ("[1, 2", "`]` is missing"),
            ("(a or b)()", "only a named function can be called"),
            ("isinstance(a)", "`isinstance` needs a class"),
            ("isinstance(a, (int, float)", "`)` is missing"),
            ("a instanceof 3", "the name of a class is missing"),
            ("'abc", "unterminated string"),
            ("a ? b", "`?` is not supported here"),
            ("range(0, 9, 2, 1)", "`range` takes one to three numbers"),
            ("a[::2]", "a slice with a step is not supported"),
            ("a[1:", "unexpected end"),
            ("3x < 1", "`3x` is not a number"),
        ];
        for (text, problem) in cases {
            assert_eq!(parse(text).unwrap_err(), problem, "{text}");
        }
        assert_eq!(parse(&"(".repeat(1000)).unwrap_err(), "it is nested too deeply");
    }

    #[test]
    fn operators_bind_as_in_python() {
        let same = [
            ("not a < 1 and b or c", "((not (a < 1)) and b) or c"),
            ("a + b * 2 - 1 > len(c.d['e'])", "((a + (b * 2)) - 1) > len((c.d)['e'])"),
            ("a is not None", "a is not (None)"),
            ("type(a) is shop.Cart and b", "(type(a) is 'Cart') and b"),
            ("isinstance(a, (int, float))", "type(a) == int or type(a) == 'float'"),
            ("a.b instanceof Map", "type(a.b) == 'Map'"),
            ("!(typeof a.b === 'string')", "not ((typeof (a.b)) === 'string')"),
            ("items.some((x) => x.n < 0)", "any(x.n < 0 for x in items)"),
            ("d.items.every(x => x > 1)", "all([x > 1 for x in d.items])"),
            ("rows.filter(r => r.n).length > 1", "[r for r in rows if r.n].length > 1"),
            ("Object.entries(m).some(([k, v]) => v < k)", "any(v < k for k, v in m.entries())"),
            ("Math.max(...xs) > cart.at('a')", "max(xs) > cart['a']"),
            ("m.has(1) && [...m.values()].includes(2)", "m.has(1) and m.values().includes(2)"),
            ("[1, 2].includes(a)", "a in [1, 2]"),
            ("!a === true && !!b.c == d", "((not a) === true) and ((not (not (b.c))) == d)"),
            ("not !a < 1", "not ((not a) < 1)"),
            ("day < dt.date(2026, 3, 1)", "day < [2026, 3, 1]"),
            ("paid > Decimal('2.5')", "paid > 2.5"),
            ("a[0]!.b! > 1", "a[0].b > 1"),
            ("any(a < b for a, b in zip(x, y))", "any([a < b for a, b in zip(x, y)])"),
            ("a?.b?.[0] < float('inf')", "a.b[0] < Infinity"),
            ("math.isnan(a) or a < -math.inf", "isNaN(a) or a < -Infinity"),
            ("a.slice(1, -1) == b.slice(2)", "a[1:-1] == b[2:]"),
            ("Array.isArray(a)", "type(a) == 'Array'"),
            ("a in (1, 2,) or min(a, b) < 0", "a in [1, 2] or min([a, b]) < 0"),
        ];
        for (one, other) in same {
            assert_eq!(parse(one).unwrap(), parse(other).unwrap(), "{one}");
        }
    }
}
