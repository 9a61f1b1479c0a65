//! What a YAML document holds, and on which lines.

use anyhow::{anyhow, bail};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Value, json};

/// A value, and where it is. Lines count from 1, columns from 0.
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) column: usize,
    /// The column after its end.
    pub(super) end: usize,
    /// The last line with a part of it.
    pub(super) last_line: usize,
}

pub(super) enum NodeKind {
    /// The text, and whether it is in quotes.
    Scalar(String, bool),
    /// A reference to another value.
    Alias(usize),
    List(Vec<Node>),
    /// A mapping, a line for each key.
    Block(Vec<Pair>),
    /// A mapping in braces.
    Braces(Vec<Pair>),
}

pub(super) struct Pair {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) value: Node,
}

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// The only document of a text; none if it has none.
pub(super) fn parse(text: &str) -> anyhow::Result<Option<Node>> {
    let mut reader = Reader { parser: Parser::new_from_str(text), length: text.chars().count() };
    let mut root = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(root),
            (Event::DocumentStart(_), _) if root.is_some() => bail!("this file has several documents"),
            (Event::DocumentStart(_), _) => {
                let event = reader.next()?;
                root = Some(reader.node(event, 0)?);
            }
            _ => {}
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    /// Of the text, in characters.
    length: usize,
}

fn wrong(error: &ScanError) -> anyhow::Error {
    let at = error.marker();
    anyhow!("line {}, column {}: {}", at.line(), at.col() + 1, error.info())
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> anyhow::Result<(Event<'t>, Span)> {
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, Span::default())),
            Some(event) => event.map_err(|error| wrong(&error)),
        }
    }

    fn node(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> anyhow::Result<Node> {
        if depth > DEEPEST {
            bail!("line {}: values are nested too deeply", span.start.line());
        }
        // A value that ends with its line ends where the next line begins; a text below `|` or `>`, after the
        // indentation of that line.
        let is_text = matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..));
        let ends_before = span.end.col() == 0 || is_text && span.end.index() < self.length;
        let is_last = !ends_before || span.end.line() == span.start.line();
        let mut last_line = if is_last { span.end.line() } else { span.end.line() - 1 };
        let kind = match event {
            Event::Scalar(text, style, ..) => {
                NodeKind::Scalar(text.into_owned(), style != ScalarStyle::Plain)
            }
            Event::Alias(of) => NodeKind::Alias(of),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            last_line = last(&items).max(last_line).max(closed(end));
                            break NodeKind::List(items);
                        }
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                // In a block, the start is the place of the first key, which has no width.
                let is_block = span.is_empty();
                let pairs = self.pairs(depth, &mut last_line)?;
                if is_block { NodeKind::Block(pairs) } else { NodeKind::Braces(pairs) }
            }
            _ => bail!("line {}: this is not a value", span.start.line()),
        };
        Ok(Node { kind, column: span.start.col(), end: span.end.col(), last_line })
    }

    fn pairs(&mut self, depth: usize, last_line: &mut usize) -> anyhow::Result<Vec<Pair>> {
        let mut pairs: Vec<Pair> = Vec::new();
        loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd, end) => {
                    let last = pairs.last().map_or(0, |pair| pair.value.last_line.max(pair.line));
                    *last_line = last.max(*last_line).max(closed(end));
                    return Ok(pairs);
                }
                event => event,
            };
            let key = match event {
                Event::Scalar(text, ..) => text.into_owned(),
                _ => bail!("line {}: keys must be strings", span.start.line()),
            };
            let event = self.next()?;
            let mut value = self.node(event, depth + 1)?;
            let line = span.start.line();
            if matches!(&value.kind, NodeKind::Scalar(text, false) if text.is_empty()) {
                // Nothing is on the line of its key.
                value.last_line = line;
            }
            pairs.push(Pair { key, line, column: span.start.col(), value });
        }
    }
}

/// The line of a closing brace or bracket; 0 for the end of a block, which has no width.
fn closed(end: Span) -> usize {
    if end.is_empty() { 0 } else { end.start.line() }
}

fn last(items: &[Node]) -> usize {
    items.last().map_or(0, |item| item.last_line)
}

fn number(text: &str) -> Option<Value> {
    let float = || text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::from);
    text.parse::<i64>().ok().map(Value::from).or_else(float)
}

impl Node {
    /// The same without places.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(text, true) => json!(text),
            NodeKind::Scalar(text, false) => match text.as_str() {
                "" | "~" | "null" | "Null" | "NULL" => Value::Null,
                "true" => json!(true),
                "false" => json!(false),
                text => number(text).unwrap_or_else(|| json!(text)),
            },
            NodeKind::Alias(of) => json!({ "alias": of }),
            NodeKind::List(items) => items.iter().map(Self::value).collect::<Vec<_>>().into(),
            NodeKind::Block(pairs) | NodeKind::Braces(pairs) => {
                pairs.iter().map(|pair| (pair.key.clone(), pair.value.value())).collect()
            }
        }
    }
}
