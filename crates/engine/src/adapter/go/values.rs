//! Values as Go writes them, made of what Delve prints.
//!
//! Delve puts lengths and types where they help a person in a terminal: `[]int len: 2, cap: 4, [1,2]`. This module
//! turns that into `[]int{1, 2}`. It leaves text that it cannot parse unchanged, as it does the end of a text that Delve
//! has cut.

use super::standard;
use super::type_names::{self, TypeName};

/// A value as Go writes it.
pub(super) fn in_go(text: &str) -> String {
    if text.starts_with("(unreadable could not find loclist entry ") {
        return "<optimized out>".to_owned();
    }
    let mut reader = Reader { rest: text, is_cut: text.ends_with("..."), is_whole: text.starts_with('(') };
    match reader.value() {
        Some(value) if reader.rest.is_empty() || reader.rest.starts_with("...") => {
            format!("{value}{}", reader.rest)
        }
        _ => text.to_owned(),
    }
}

/// A value of a type. Durations are shown as they print themselves.
pub(super) fn of_type(kind: &str, text: &str) -> String {
    let shown = (kind == "time.Duration").then(|| standard::duration(text)).flatten();
    shown.unwrap_or_else(|| in_go(text))
}

/// `* [Go 5] main.work (Thread 123)` is `goroutine 5: work`.
pub(super) fn goroutine(name: &str) -> String {
    let Some((number, function)) =
        name.trim_start_matches("* ").strip_prefix("[Go ").and_then(|rest| rest.split_once("] "))
    else {
        return name.to_owned();
    };
    let function = function.split(" (Thread ").next().unwrap_or(function);
    format!("goroutine {number}: {}", self::function(function))
}

/// The name of a function without the package of the program, as in its sources, and with types for parameters as Go's own
/// stacks have them: those of the compiled code are shapes that several types share.
pub(super) fn function(name: &str) -> String {
    let name = name.strip_prefix("main.").unwrap_or(name);
    let Some((before, rest)) = name.split_once("[go.shape.") else { return name.to_owned() };
    let mut depth = 1;
    let end = rest.find(|letter: char| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        depth == 0
    });
    let after = end.and_then(|end| rest.get(end + 1..)).unwrap_or_default();
    format!("{before}[...]{after}")
}

/// What the runtime writes in its own stack traces for `waitReasonChanReceive (14)`; none for a goroutine that does not
/// wait.
pub(super) fn wait_reason(value: &str) -> Option<String> {
    let name = value.strip_prefix("waitReason")?.split(' ').next()?;
    Some(match name {
        "Zero" => return None,
        "SelectNoCases" => "select (no cases)".to_owned(),
        "ChanReceiveNilChan" => "chan receive (nil chan)".to_owned(),
        "ChanSendNilChan" => "chan send (nil chan)".to_owned(),
        "IOWait" => "IO wait".to_owned(),
        "SyncMutexLock" => "sync.Mutex.Lock".to_owned(),
        "SyncRWMutexLock" => "sync.RWMutex.Lock".to_owned(),
        "SyncRWMutexRLock" => "sync.RWMutex.RLock".to_owned(),
        "SyncCondWait" => "sync.Cond.Wait".to_owned(),
        "SyncWaitGroupWait" => "sync.WaitGroup.Wait".to_owned(),
        other => {
            let mut words = String::new();
            for letter in other.chars() {
                if letter.is_uppercase() && !words.is_empty() {
                    words.push(' ');
                }
                words.extend(letter.to_lowercase());
            }
            words
        }
    })
}

struct Reader<'a> {
    rest: &'a str,
    /// The text ends in the middle of a value, with `...`.
    is_cut: bool,
    /// The text is a pointer as a whole.
    is_whole: bool,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (taken, rest) = (self.rest.get(..length)?, self.rest.get(length..)?);
        self.rest = rest;
        Some(taken)
    }

    /// A value with or without its type in front.
    fn value(&mut self) -> Option<String> {
        let before = self.rest;
        let read = self.whole_value();
        if read.is_none() && self.is_cut {
            self.rest = before;
            return Some(self.cut_pointer().unwrap_or_else(|| self.end().to_owned()));
        }
        read
    }

    /// What is left of a text that was cut.
    fn end(&mut self) -> &'a str {
        std::mem::take(&mut self.rest)
    }

    fn is_at_cut(&self) -> bool {
        self.is_cut && matches!(self.rest, "" | "...")
    }

    fn whole_value(&mut self) -> Option<String> {
        match self.rest.chars().next()? {
            '"' => self.quoted(),
            '{' => self.fields(""),
            '[' if !type_names::is_at_start(self.rest) => self.items(String::new()),
            '*' if self.rest.starts_with("*{") => {
                self.eat("*");
                Some(format!("&{}", self.fields("")?))
            }
            '(' => self.unread(),
            '*' if self.rest.starts_with("*(") => {
                self.eat("*");
                self.pointer()
            }
            _ if self.eat("*nil") => Some("nil".to_owned()),
            _ if self.eat("time.Time(") || self.eat("*time.Time(") => self.time(),
            _ => self.typed().or_else(|| self.plain()),
        }
    }

    fn quoted(&mut self) -> Option<String> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find_map(|(at, letter)| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends.then_some(at + 1)
        })?;
        let text = self.take(end)?.to_owned();
        // How much of a long text is left out.
        let more = self.rest.starts_with("...+").then(|| self.rest.find(" more").map(|at| at + 5)).flatten();
        Some(text + more.and_then(|length| self.take(length)).unwrap_or_default())
    }

    /// A structure that Delve has not read: `(*main.Point)(0xc000012345)`. A pointer has a star in front; only one to a
    /// pointer does not.
    fn unread(&mut self) -> Option<String> {
        let pointer = self.pointer()?;
        let kind = pointer.strip_prefix("(*").filter(|kind| !self.is_whole && !kind.starts_with('*'));
        Some(
            kind.and_then(|kind| kind.split_once(")(0x"))
                .map_or(pointer.clone(), |(kind, _)| format!("{kind}{{...}}")),
        )
    }

    /// What is left of a pointer or of a structure that Delve has not read, in a text that was cut: `(*"main.Point")(0xc00...`
    /// or `*(*"main.Po...`.
    fn cut_pointer(&mut self) -> Option<String> {
        let is_pointer = self.eat("*(*");
        if !is_pointer && (self.is_whole || self.rest.starts_with("(**") || !self.eat("(*")) {
            return None;
        }
        let rest = self.end().replace('"', "");
        Some(match rest.split_once(")(") {
            _ if is_pointer => format!("(*{rest}"),
            Some(("error" | "interface {}", _)) => "...".to_owned(),
            Some((kind, _)) => format!("{kind}{{..."),
            None => rest,
        })
    }

    /// The rest of `time.Time(2024-01-02T03:04:05Z, +1){wall: 0, ...}`.
    fn time(&mut self) -> Option<String> {
        let (time, rest) = self.rest.split_once(')')?;
        self.rest = rest;
        let fields = self.fields("").unwrap_or_default();
        Some(standard::time(time, &fields))
    }

    /// `(*main.Point)(0xc000012345)`. The name of a type with a path is in quotes.
    fn pointer(&mut self) -> Option<String> {
        let end = self.rest.find(")(0x")?;
        let kind = self.take(end + 1)?.replace('"', "");
        let end = self.rest.find(')')?;
        Some(kind + self.take(end + 1)?)
    }

    /// `main.Point {...}`, `[]int len: 1, cap: 1, [...]`, `error(*errors.errorString) *{...}`, `*main.Point nil`.
    fn typed(&mut self) -> Option<String> {
        let before = self.rest;
        let read = self.type_and_value();
        if read.is_none() {
            self.rest = before;
        }
        read
    }

    fn type_and_value(&mut self) -> Option<String> {
        let (TypeName { name, held }, length) = type_names::read(self.rest)?;
        self.take(length + 1)?;
        if let Some(held) = held {
            return self.of_interface(held);
        }
        let kind = without_fields(name);
        if self.eat("len: ") {
            let end = self.rest.find(", cap: ")?;
            self.take(end + 7)?;
            let end = self.rest.find(", ")?;
            self.take(end + 2)?;
            if self.is_at_cut() {
                return Some(format!("{kind}{{{}", self.end()));
            }
        }
        if self.eat("nil") {
            return Some("nil".to_owned());
        }
        if type_names::is_channel(name) {
            return Some(format!("{kind} {}", self.plain()?));
        }
        if name.starts_with("func(") {
            return self.plain();
        }
        match self.rest.chars().next()? {
            '{' => self.fields(&address_of(&kind)),
            '[' => self.items(kind),
            _ => None,
        }
    }

    /// The value in an interface: of the type that follows the interface's.
    fn of_interface(&mut self, kind: &str) -> Option<String> {
        if self.rest.starts_with("*{") {
            self.eat("*");
            return self.fields(&address_of(kind));
        }
        match self.rest.chars().next()? {
            '{' => self.fields(kind),
            '[' if !type_names::is_at_start(self.rest) => self.items(kind.to_owned()),
            _ => self.value(),
        }
    }

    /// `{x: 1, y: 2}`, after a type. Fields without a name only fill space.
    fn fields(&mut self, kind: &str) -> Option<String> {
        self.eat("{").then_some(())?;
        let mut shown: Vec<String> = Vec::new();
        let mut values = Vec::new();
        while !self.eat("}") {
            if self.is_at_cut() {
                let end = self.end().to_owned();
                let text = format!("{kind}{{{}", shown.join(", "));
                let comma = if shown.is_empty() || end.is_empty() { "" } else { ", " };
                return Some(format!("{text}{comma}{end}"));
            }
            if self.rest.starts_with("...") {
                let end = self.rest.find('}')?;
                shown.push(self.take(end)?.to_owned());
                continue;
            }
            let named = self.rest.find(": ").filter(|end| is_name(self.rest.get(..*end)));
            let name = named.and_then(|end| self.take(end + 2)).unwrap_or_default();
            let value = Some(self.value()?).filter(|value| !is_unread_interface(value));
            let value = value.unwrap_or_else(|| "...".to_owned());
            if name != "_: " {
                shown.push(format!("{name}{value}"));
                values.push((name.trim_end_matches(": "), value));
            }
            let _ = self.eat(", ") || self.eat(",");
        }
        let known = standard::value(kind.trim_start_matches('&'), &values);
        Some(known.unwrap_or_else(|| format!("{kind}{{{}}}", shown.join(", "))))
    }

    /// `[1,2,...+5 more]`, and `["a": 1, ]` of a map.
    fn items(&mut self, mut text: String) -> Option<String> {
        self.eat("[").then_some(())?;
        let kind = text.rsplit(']').next().unwrap_or_default().to_owned();
        text.push('{');
        let mut is_first = true;
        while !self.eat("]") {
            if self.is_at_cut() {
                text += if is_first || self.rest.is_empty() { "" } else { ", " };
                return Some(text + self.end());
            }
            if !is_first {
                text += ", ";
            }
            is_first = false;
            // Others are interfaces that Delve has not read.
            if self.rest.starts_with("...+") {
                let end = self.rest.find(']')?;
                text += self.take(end)?;
                continue;
            }
            text += &self.item(&kind)?;
            if self.eat(": ") {
                text += ": ";
                text += &self.item(&kind)?;
            }
            let _ = self.eat(", ") || self.eat(",");
        }
        text.push('}');
        Some(text)
    }

    /// An item of a type. The type of what has not been read is not repeated.
    fn item(&mut self, kind: &str) -> Option<String> {
        let value = self.value()?;
        let is_unread = is_unread_interface(&value)
            || value.strip_prefix(kind) == Some("{...}")
            || value.starts_with(&format!("(*{kind})(0x"));
        let duration = (kind == "time.Duration").then(|| standard::duration(&value)).flatten();
        Some(if is_unread { "{...}".to_owned() } else { duration.unwrap_or(value) })
    }

    /// A number, `true`, `nil`, the name of a function, `chan int 1/2`. Delve repeats small numbers in base 16.
    fn plain(&mut self) -> Option<String> {
        let end = self.rest.find([',', ']', '}']).unwrap_or(self.rest.len());
        let end = self.rest.find(": ").filter(|at| *at < end).unwrap_or(end);
        let is_value = |text: &&str| !text.is_empty() && !text.starts_with('[') && !text.ends_with('{');
        let text = self.take(end).filter(is_value)?;
        let text = text.split(" = 0x").next().unwrap_or(text);
        Some(if text.ends_with(" nil") { "nil".to_owned() } else { text.to_owned() })
    }
}

/// Whether a value is an interface whose value Delve has not read.
fn is_unread_interface(value: &str) -> bool {
    ["(*interface {})(0x", "(*error)(0x"].iter().any(|start| value.starts_with(start))
}

fn address_of(kind: &str) -> String {
    kind.strip_prefix('*').map_or_else(|| kind.to_owned(), |kind| format!("&{kind}"))
}

/// A type before a value, which names the fields of a structure without a name: `struct {...}`.
fn without_fields(kind: &str) -> String {
    let (Some((before, inside)), true) = (kind.split_once("struct {"), kind.ends_with('}')) else {
        return kind.to_owned();
    };
    let shown = if inside.trim() == "}" { "struct {}" } else { "struct {...}" };
    format!("{before}{shown}")
}

/// A type without the packages that Delve writes before the fields of a structure: `struct { name string }`.
pub(super) fn type_name(kind: &str) -> String {
    let mut is_field = false;
    let word = |word: &str| {
        let bare = if is_field { word.rsplit('.').next().unwrap_or(word) } else { word };
        is_field = word.ends_with('{') || word.ends_with(';');
        bare.to_owned()
    };
    kind.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn is_name(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_formatted_as_in_go() {
        let table = [
            ("5", "5"),
            ("200 = 0xc8", "200"),
            ("\"a, b]\"", "\"a, b]\""),
            ("[]int len: 3, cap: 4, [1,2,3]", "[]int{1, 2, 3}"),
            ("[]int len: 100, cap: 100, [0,1,...+98 more]", "[]int{0, 1, ...+98 more}"),
            ("[]int len: 0, cap: 0, nil", "nil"),
            ("[2]string [\"one\",\"two\"]", "[2]string{\"one\", \"two\"}"),
            (
                "map[string]interface {} [\"a\": 1, \"b\": []int len: 2, cap: 2, [10,20], ]",
                "map[string]interface {}{\"a\": 1, \"b\": []int{10, 20}}",
            ),
            ("map[string]int nil", "nil"),
            ("main.Point {x: 1, y: 2}", "main.Point{x: 1, y: 2}"),
            (
                "*main.Node {value: 1, next: *(*main.Node)(0xc0)}",
                "&main.Node{value: 1, next: (*main.Node)(0xc0)}",
            ),
            (
                "error(*fmt.wrapError) *{msg: \"no\", err: error(*errors.errorString) *{s: \"full\"}}",
                "&fmt.wrapError{msg: \"no\", err: &errors.errorString{s: \"full\"}}",
            ),
            ("error nil", "nil"),
            ("(unreadable could not find loclist entry at 0x27732 for address 0x7661b2)", "<optimized out>"),
            ("*main.Point nil", "nil"),
            ("interface {}(main.Point) {x: 8, y: 9}", "main.Point{x: 8, y: 9}"),
            ("interface {}(string) \"three\"", "\"three\""),
            ("[]main.Item len: 1, cap: 1, [(*main.Item)(0xc0)]", "[]main.Item{{...}}"),
            (
                "map[string]interface {} [\"a\": *(*interface {})(0xc0), ]",
                "map[string]interface {}{\"a\": {...}}",
            ),
            ("[]*main.Point len: 1, cap: 1, [*{x: 1, y: 2}]", "[]*main.Point{&{x: 1, y: 2}}"),
            (
                "struct { main.inner []int } {inner: []int len: 2, cap: 2, [5,6]}",
                "struct {...}{inner: []int{5, 6}}",
            ),
            ("Green (5)", "Green (5)"),
            (
                "[]v5.Pair[string, int] len: 1, cap: 1, [{Key: \"a\", Val: 3}]",
                "[]v5.Pair[string, int]{{Key: \"a\", Val: 3}}",
            ),
            (
                "main.Tree {root: *(*\"example.com/a/b.Node\")(0xc0)}",
                "main.Tree{root: (*example.com/a/b.Node)(0xc0)}",
            ),
            (
                "*v5.Mux {names: []string len: 2, cap: 2, [\"a\",\"b\"], inner: *v5.Tree {depth: 2, pa...",
                "&v5.Mux{names: []string{\"a\", \"b\"}, inner: &v5.Tree{depth: 2, pa...",
            ),
            (
                "*main.T {name: \"a\", log: []uint8 len: 0, c...",
                "&main.T{name: \"a\", log: []uint8 len: 0, c...",
            ),
            ("[]int len: 3, cap: 3, [1,2,...", "[]int{1, 2, ..."),
            (
                "main.Outer {M: main.Mid {In: (*main.Inner)(0xc0), P: *(*main.Inner)(0xc8), E: *(*error)(0xd0)}}",
                "main.Outer{M: main.Mid{In: main.Inner{...}, P: (*main.Inner)(0xc8), E: ...}}",
            ),
            ("(*main.Inner)(0xc0)", "(*main.Inner)(0xc0)"),
            ("main.Late {at: (*\"example.com/a/b.Node\")(0xc0)}", "main.Late{at: example.com/a/b.Node{...}}"),
            (
                "sync.Map {_: sync.noCopy {}, m: sync.Trie[interface {}, struct {}] {seed: 7}}",
                "sync.Map{m: sync.Trie[interface {}, struct {}]{seed: 7}}",
            ),
            (
                "interface {}([]interface {}) [nil,3.5,map[string]interface {} [\"k\": *(*interface {})(0xc0), ]]",
                "[]interface {}{nil, 3.5, map[string]interface {}{\"k\": {...}}}",
            ),
            ("[]*main.T len: 2, cap: 2, [*{n: 1},*nil]", "[]*main.T{&{n: 1}, nil}"),
            (
                "main.H {in: []main.S len: 4, cap: 4, [...,*(*main.S)(0xc0),nil,...]}",
                "main.H{in: []main.S{..., {...}, nil, ...}}",
            ),
            (
                "context.Context(*context.valueCtx) *{key: interface {}(string) \"user\", val: interface {}(string)...",
                "&context.valueCtx{key: \"user\", val: interface {}(string)...",
            ),
            ("main.T {all: []main.Mid len: 1, cap: 1, ...", "main.T{all: []main.Mid{..."),
            ("map[int]string [1: \"a\", 2:...", "map[int]string{1: \"a\", 2:..."),
            (
                "*main.T {b: (*\"a.com/b.Base\")(0xc0), c: (*\"a.com/b.Base\")(0xc3...",
                "&main.T{b: a.com/b.Base{...}, c: a.com/b.Base{...",
            ),
            ("main.T {b: (*\"a.com/b.Ba...", "main.T{b: a.com/b.Ba..."),
            (
                "map[int]*b.T [1: *(*\"a.com/b.T\")(0xc0), 2: *(*\"a.c...",
                "map[int]*b.T{1: (*a.com/b.T)(0xc0), 2: (*a.c...",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(in_go(text), expected, "{text}");
        }
    }

    #[test]
    fn types_of_functions_and_channels_precede_their_values() {
        let table = [
            (
                "*main.T {hooks: []func(http.Handler) http.Handler len: 2, cap: 2, [main.log,nil], on: [1]func() [nil]}",
                "&main.T{hooks: []func(http.Handler) http.Handler{main.log, nil}, on: [1]func(){nil}}",
            ),
            (
                "[]<-chan []int len: 2, cap: 2, [<-chan []int nil,<-chan []int 0/1]",
                "[]<-chan []int{nil, <-chan []int 0/1}",
            ),
            (
                "interface {}(map[string]func(int) (string, error)) [\"a\": main.f, ]",
                "map[string]func(int) (string, error){\"a\": main.f}",
            ),
            ("func() main.main.func1", "main.main.func1"),
            ("chan int 1/2", "chan int 1/2"),
        ];
        for (text, expected) in table {
            assert_eq!(in_go(text), expected, "{text}");
        }
    }

    #[test]
    fn fields_are_named_without_their_package() {
        let table = [
            (
                "struct { example.com/x/cart.name string; cart.wanted []time.Duration }",
                "struct { name string; wanted []time.Duration }",
            ),
            ("[]struct { main.a struct { main.b int } }", "[]struct { a struct { b int } }"),
            ("interface {}", "interface {}"),
            ("*main.Cart", "*main.Cart"),
        ];
        for (kind, expected) in table {
            assert_eq!(type_name(kind), expected);
        }
    }

    #[test]
    fn goroutines_are_named_by_number_and_function() {
        assert_eq!(goroutine("* [Go 1] main.main (Thread 123)"), "goroutine 1: main");
        assert_eq!(goroutine("[Go 18] cart.Total"), "goroutine 18: cart.Total");
        assert_eq!(
            goroutine("[Go 18] cart.Map[go.shape.[]int,go.shape.string].func1"),
            "goroutine 18: cart.Map[...].func1"
        );
        assert_eq!(function("main.(*cache[go.shape.int]).get"), "(*cache[...]).get");
        assert_eq!(goroutine("Dummy"), "Dummy");
        assert_eq!(wait_reason("waitReasonChanReceive (14)").as_deref(), Some("chan receive"));
        assert_eq!(wait_reason("waitReasonSyncMutexLock (21)").as_deref(), Some("sync.Mutex.Lock"));
        assert_eq!(wait_reason("waitReasonZero (0)"), None);
    }
}
