//! The part of XML that DBGp uses: elements, attributes, text, CDATA and character references. It accepts references
//! that XML forbids, such as `&#0;`, because Xdebug writes them.

use data_encoding::BASE64;

/// An element with its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name, such as `response` or `xdebug:message`.
    pub name: String,
    /// Its attributes, in order.
    pub attributes: Vec<(String, String)>,
    /// Its text, and that of its CDATA.
    pub text: String,
    /// Its children.
    pub children: Vec<Self>,
}

impl Element {
    /// The first element of a document.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        reader.element(0)
    }

    /// An attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An attribute that is a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.parse().ok()
    }

    /// Its first child of that name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Its children of that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Its text, decoded if it is base64.
    pub fn content(&self) -> String {
        if self.attribute("encoding") == Some("base64") {
            let bytes = BASE64.decode(self.text.trim().as_bytes()).unwrap_or_default();
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        self.text.clone()
    }
}

/// How deep elements may be nested.
const DEEPEST: usize = 200;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes after the next `end`, and returns what is before it.
    fn until(&mut self, end: &str) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find(end)?;
        self.at += length + end.len();
        rest.get(..length)
    }

    fn element(&mut self, depth: usize) -> Option<Element> {
        loop {
            self.until("<")?;
            if self.rest().starts_with(['?', '!']) {
                self.until(">")?;
                continue;
            }
            return self.opened(depth);
        }
    }

    /// An element whose `<` was read.
    fn opened(&mut self, depth: usize) -> Option<Element> {
        if depth > DEEPEST {
            return None;
        }
        let mut element = Element { name: self.word()?, ..Element::default() };
        loop {
            self.skip_spaces();
            if self.take("/>") {
                return Some(element);
            }
            if self.take(">") {
                break;
            }
            let name = self.word()?;
            self.skip_spaces();
            if !self.take("=") {
                return None;
            }
            self.skip_spaces();
            let quote = if self.take("\"") { "\"" } else { self.take("'").then_some("'")? };
            let value = self.until(quote)?;
            element.attributes.push((name, unescape(value)));
        }
        loop {
            let text = self.until("<")?;
            element.text.push_str(&unescape(text));
            if self.take("![CDATA[") {
                element.text.push_str(self.until("]]>")?);
            } else if self.take("!--") {
                self.until("-->")?;
            } else if self.take("/") {
                self.until(">")?;
                return Some(element);
            } else {
                element.children.push(self.opened(depth + 1)?);
            }
        }
    }

    fn word(&mut self) -> Option<String> {
        let is_part = |letter: char| !letter.is_whitespace() && !matches!(letter, '/' | '>' | '=' | '<');
        let rest = self.rest();
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).filter(|word| !word.is_empty()).map(str::to_owned)
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }
}

/// Replaces references. Anything else stays as it is.
fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        if let Some((letter, rest)) = known {
            found.push(letter);
            found.push_str(rest);
        } else {
            found.push('&');
            found.push_str(part);
        }
    }
    found
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        name => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_text_are_read() {
        let text = "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<response xmlns=\"urn:x\" status='break'>\
                    <xdebug:message filename=\"file:///a&amp;b.php\" lineno=\"3\"><![CDATA[a <b>]]></xdebug:message>\
                    <property name=\"&#0;x\" encoding=\"base64\">aGk=</property></response>";
        let element = Element::parse(text).unwrap();
        assert_eq!((element.name.as_str(), element.attribute("status")), ("response", Some("break")));
        let message = element.child("xdebug:message").unwrap();
        assert_eq!(
            (message.attribute("filename"), message.number::<u32>("lineno")),
            (Some("file:///a&b.php"), Some(3))
        );
        assert_eq!(message.text, "a <b>");
        let property = element.child("property").unwrap();
        assert_eq!((property.attribute("name"), property.content()), (Some("\0x"), "hi".to_owned()));
    }

    #[test]
    fn what_is_cut_or_nested_without_end_is_none() {
        assert_eq!(Element::parse("<a><b></b>"), None);
        assert_eq!(Element::parse("no element"), None);
        assert_eq!(Element::parse(&"<a>".repeat(10_000)), None);
        assert_eq!(Element::parse("<a b>"), None);
    }

    #[test]
    fn references_that_are_none_stay() {
        assert_eq!(unescape("a & b &unknown; &#x41;&lt;"), "a & b &unknown; A<");
    }
}
