//! The methods of the program's classes in Python, properties, and getters in JavaScript, as far as their source says what
//! they return.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Result;
use crate::predicate::Expression;
use crate::reading::Recording;
use crate::spelling::Spelling;
use crate::value::Kind;

/// A method of a class.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Method {
    /// As it is shown: `Cart.__len__`.
    pub(crate) name: String,
    parameters: Vec<String>,
    /// The lines of its body without comments and those of a documentation in one line.
    lines: Vec<String>,
    /// It computes an attribute.
    is_property: bool,
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
    pub(crate) fn returned(&self) -> Option<&str> {
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
        expression.roots().iter().all(|root| root == parameter).then_some((parameter, expression))
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
        let classes = self.classes_of(object)?;
        let methods = |name| classes.iter().find_map(move |class| self.method(class, name));
        let found = names.iter().find_map(|name| methods(*name));
        self.methods.borrow_mut().inherited.insert(key, found.clone());
        Ok(found)
    }

    /// The property or the getter that computes an attribute of an object.
    pub(crate) fn property_of(&self, object: i64, name: &str) -> Result<Option<Method>> {
        let classes = self.classes_of(object)?;
        let found = classes.iter().find_map(|class| self.method_in_sources(class, name));
        Ok(found.filter(|method| method.is_property))
    }

    /// The names of an object's class and of those that it inherits from.
    fn classes_of(&self, object: i64) -> Result<Vec<Rc<str>>> {
        let mut classes = vec![self.object(object)?.type_name];
        for class in self.inherited(object)? {
            let name = self.object(class)?.type_name;
            classes.push(name.strip_suffix(".prototype").map_or(Rc::clone(&name), Rc::from));
        }
        Ok(classes)
    }

    /// A method of a class of this name. What it does is not known where several classes have the name.
    fn method(&self, class: &Rc<str>, name: &'static str) -> Option<Rc<Method>> {
        let key = (Rc::clone(class), name);
        if let Some(known) = self.methods.borrow().own.get(&key) {
            return known.clone();
        }
        let found = self.method_in_sources(class, name).map(Rc::new);
        self.methods.borrow_mut().own.insert(key, found.clone());
        found
    }

    fn method_in_sources(&self, class: &str, name: &str) -> Option<Method> {
        let sources = self.sources.values();
        let all: Vec<Option<Method>> =
            sources.flat_map(|lines| methods_in(lines, class, name, self.spelling)).collect();
        let is_clear = all.iter().all(|method| Some(method) == all.first());
        let mut found = all.into_iter().flatten().next();
        if !is_clear && let Some(found) = &mut found {
            found.lines.clear();
        }
        found
    }
}

/// What the classes of a name in a source have as a method, each; in JavaScript, as a getter.
fn methods_in(lines: &[String], class: &str, name: &str, spelling: Spelling) -> Vec<Option<Method>> {
    let last = class.rsplit('.').next().unwrap_or(class);
    let is_python = spelling == Spelling::Python;
    let head = if is_python { format!("def {name}(") } else { format!("get {name}(") };
    let is_before = |word: &str| matches!(word, "export" | "default" | "abstract");
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let rest = line.split_once("class ").filter(|(before, _)| before.split_whitespace().all(is_before));
        let rest = rest.and_then(|(_, rest)| rest.strip_prefix(last));
        if !rest.is_some_and(|rest| rest.starts_with([':', '(', ' ', '{', '<'])) {
            continue;
        }
        let body: Vec<&str> = below(lines.get(at..).unwrap_or_default()).collect();
        let own = body.first().map(|line| depth(line));
        let lines = body.iter().copied().enumerate();
        let own: Vec<(usize, &str)> = lines.filter(|(_, line)| Some(depth(line)) == own).collect();
        let method = own.iter().find_map(|(at, line)| Some((*at, behind_head(line, &head)?)));
        let shown = format!("{class}.{name}");
        found.push(match method {
            Some((at, text)) if is_python => Some(method_of_python(shown, text, &body, at)),
            Some((at, text)) => Some(getter(shown, text, below(body.get(at..).unwrap_or_default()))),
            // What else has the name, as a variable of the class, hides what is inherited.
            None if own.iter().any(|(_, line)| is_declared(line, name)) => {
                Some(Method { name: shown, ..Method::default() })
            }
            None => None,
        });
    }
    found
}

/// What is after the head of a method in its first line.
fn behind_head<'a>(line: &'a str, head: &str) -> Option<&'a str> {
    let is_before = |word: &str| matches!(word, "override" | "public" | "protected" | "private");
    let (before, text) = line.split_once(head)?;
    before.split_whitespace().all(is_before).then_some(text)
}

/// Whether a line of the body of a class declares a name.
fn is_declared(line: &str, name: &str) -> bool {
    let declared = line.split(['(', '=', ':', ';', '{']).next().unwrap_or_default();
    declared.split_whitespace().last().is_some_and(|last| last.trim_end_matches(['?', '!']) == name)
}

/// A method of Python, by what is after its parenthesis and where it is in the body of its class.
fn method_of_python(name: String, text: &str, body: &[&str], at: usize) -> Method {
    let is_text = |line: &&str| line.starts_with(['"', '\'', '#']);
    let lines = below(body.get(at..).unwrap_or_default()).map(str::trim);
    let mut decorators = body.iter().take(at).rev().map(|line| line.trim());
    Method {
        name,
        parameters: parameters(text),
        lines: lines.filter(|line| !is_text(line)).map(str::to_owned).collect(),
        is_property: decorators.next() == Some("@property")
            && !decorators.next().is_some_and(|line| line.starts_with('@')),
    }
}

/// A getter of JavaScript, by what is after its parenthesis, and the lines below that.
fn getter<'a>(name: String, text: &'a str, below: impl Iterator<Item = &'a str>) -> Method {
    let in_line = text.split_once('{').and_then(|(_, rest)| rest.trim_end().strip_suffix('}'));
    let lines = in_line.into_iter().chain(below).map(|line| line.trim().trim_end_matches(';'));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    Method {
        name,
        parameters: vec!["this".to_owned()],
        lines: lines.map(str::to_owned).collect(),
        is_property: true,
    }
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
