//! The methods of the program's classes in Python, as far as their source says what they return.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Result;
use crate::predicate::Expression;
use crate::reading::Recording;
use crate::spelling::Spelling;
use crate::value::Kind;

/// A method of a class.
#[derive(Debug, PartialEq)]
pub(crate) struct Method {
    /// As it is shown: `Cart.__len__`.
    pub(crate) name: String,
    parameters: Vec<String>,
    /// The lines of its body without comments and those of a documentation in one line.
    lines: Vec<String>,
}

/// What was found for a class and names of methods.
type FoundFor<Names> = HashMap<(Rc<str>, Names), Option<Rc<Method>>>;

/// Those that were looked for.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    /// By the class and the name.
    own: FoundFor<&'static str>,
    /// By the class of an object, and the names of which it has one or inherits it.
    inherited: FoundFor<&'static [&'static str]>,
}

impl Method {
    /// What it returns, if that is all that it does.
    fn returned(&self) -> Option<&str> {
        if let [only] = self.lines.as_slice() { only.strip_prefix("return ") } else { None }
    }
}

impl Recording {
    /// The attribute whose items a class gives as its own: all that its `__getitem__` returns is `self.NAME[KEY]`.
    pub(crate) fn kept_name(&self, class: &Rc<str>) -> Option<i64> {
        let method = self.method(class, "__getitem__")?;
        let [of, key] = method.parameters.as_slice() else { return None };
        let kept = method.returned()?.strip_prefix(&format!("{of}."))?.strip_suffix(&format!("[{key}]"))?;
        self.number(kept)
    }

    /// The expression that a method without arguments returns, but for `bool()`, and its parameter, if it reads nothing but
    /// this.
    pub(crate) fn returned_by<'a>(&self, method: &'a Method) -> Option<(&'a str, Expression)> {
        let [parameter] = method.parameters.as_slice() else { return None };
        let text = method.returned()?;
        let inner = text.strip_prefix("bool(").and_then(|rest| rest.strip_suffix(')'));
        let expression = inner.and_then(|inner| self.expression(inner).ok());
        let expression = expression.map_or_else(|| self.expression(text).ok(), Some)?;
        let mut roots = Vec::new();
        expression.roots(&mut roots);
        roots.iter().all(|root| root == parameter).then_some((parameter, expression))
    }

    /// The first of these methods that the class of an object has or inherits.
    pub(crate) fn method_of(
        &self,
        object: i64,
        names: &'static [&'static str],
    ) -> Result<Option<Rc<Method>>> {
        let of = self.object(object)?;
        if self.spelling != Spelling::Python || of.kind != Kind::Instance {
            return Ok(None);
        }
        let key = (Rc::clone(&of.type_name), names);
        if let Some(known) = self.methods.borrow().inherited.get(&key) {
            return Ok(known.clone());
        }
        let mut classes = vec![of.type_name];
        for class in self.inherited(object)? {
            classes.push(self.object(class)?.type_name);
        }
        let methods = |name| classes.iter().find_map(move |class| self.method(class, name));
        let found = names.iter().find_map(|name| methods(*name));
        self.methods.borrow_mut().inherited.insert(key, found.clone());
        Ok(found)
    }

    /// A method of a class of this name. What it does is not known where several classes have the name.
    fn method(&self, class: &Rc<str>, name: &'static str) -> Option<Rc<Method>> {
        let key = (Rc::clone(class), name);
        if let Some(known) = self.methods.borrow().own.get(&key) {
            return known.clone();
        }
        let all: Vec<Option<Method>> =
            self.sources.values().flat_map(|lines| methods_in(lines, class, name)).collect();
        let is_clear = all.iter().all(|method| Some(method) == all.first());
        let mut found = all.into_iter().flatten().next();
        if !is_clear && let Some(found) = &mut found {
            found.lines.clear();
        }
        let found = found.map(Rc::new);
        self.methods.borrow_mut().own.insert(key, found.clone());
        found
    }
}

/// What the classes of a name in a source have as a method, each.
fn methods_in(lines: &[String], class: &str, name: &str) -> Vec<Option<Method>> {
    let last = class.rsplit('.').next().unwrap_or(class);
    let head = format!("def {name}(");
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let rest = line.trim_start().strip_prefix("class ").and_then(|rest| rest.strip_prefix(last));
        if !rest.is_some_and(|rest| rest.starts_with([':', '(', ' '])) {
            continue;
        }
        let body: Vec<&str> = below(lines.get(at..).unwrap_or_default()).collect();
        let own = body.first().map(|line| depth(line));
        let is_it = |line: &&str| Some(depth(line)) == own && line.trim_start().starts_with(&head);
        let method = body.iter().position(is_it);
        found.push(method.map(|at| {
            let text =
                body.get(at).and_then(|line| line.trim_start().strip_prefix(&head)).unwrap_or_default();
            let lines = below(body.get(at..).unwrap_or_default());
            let is_text = |line: &&str| line.starts_with(['"', '\'', '#']);
            Method {
                name: format!("{class}.{name}"),
                parameters: parameters(text),
                lines: lines.map(str::trim).filter(|line| !is_text(line)).map(str::to_owned).collect(),
            }
        }));
    }
    found
}

/// The names in a list of parameters.
fn parameters(text: &str) -> Vec<String> {
    let list = text.split_once(')').map_or(text, |(list, _)| list);
    let names = list.split(',').map(|each| each.split([':', '=']).next().unwrap_or_default().trim());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The lines that are further to the right than the first, until one that is not. Empty ones are left out.
fn below<T: AsRef<str>>(lines: &[T]) -> impl Iterator<Item = &str> {
    let first = lines.first().map_or(0, |line| depth(line.as_ref()));
    let rest = lines.iter().skip(1).map(AsRef::as_ref).filter(|line| !line.trim().is_empty());
    rest.take_while(move |line| depth(line) > first)
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
