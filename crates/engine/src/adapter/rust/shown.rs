//! What LLDB shows, as Rust programmers write it.

use super::lldb_dap;
use super::native::optimized;
use crate::model::stop::Exception;

/// A function by its path: `shop::total` for `shop::total::h0123456789abcdef`, and `shop::Cart::add` for
/// `<shop::Cart>::add::<u8>`, as it is in the v0 mangling.
pub(super) fn function(name: &str) -> String {
    let bare = match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => path,
        _ => name,
    };
    let mut path = bare
        .replace("_$u7b$$u7b$", "{{")
        .replace("$u7d$$u7d$", "}}")
        .replace("$LT$", "<")
        .replace("$GT$", ">")
        .replace("$RF$", "&")
        .replace("$u20$", " ")
        .replace("..", "::");
    if path.starts_with("_<") {
        path.remove(0);
    }
    if let Some(end) = closing(&path, 0)
        && !path.get(..end).is_some_and(|kind| kind.contains(" as "))
    {
        path.remove(end);
        path.remove(0);
    }
    let arguments = |path: &str| {
        let start =
            path.find("::<").filter(|at| !path.get(*at..).unwrap_or_default().starts_with("::<impl "))?;
        Some(start..=closing(path, start + 2)?)
    };
    while let Some(range) = arguments(&path) {
        path.replace_range(range, "");
    }
    while let Some(start) = path.find("{closure#")
        && let Some(length) = path.get(start..).and_then(|rest| rest.find('}'))
    {
        path.replace_range(start..=start + length, "{{closure}}");
    }
    path
}

/// Where a bracket `<` at a place is closed; none if there is another character. An arrow is not a bracket.
fn closing(path: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = ' ';
    for (at, character) in path.get(open..)?.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if last != '-' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(open + at);
        }
        last = character;
    }
    None
}

/// A variable that the user has written, without the line that LLDB adds to one that another one shadows.
pub(super) fn variable(name: &str) -> Option<&str> {
    const MADE: [&str; 3] = ["<null>", "_task_context", "__awaitee"];
    let bare = name.split_once(" @ ").map_or(name, |(name, _)| name);
    (!MADE.contains(&bare)).then_some(bare)
}

/// A type and a value. A reference or a box is what it points to, without the address.
pub(super) fn value(kind: &str, text: String) -> (String, String) {
    let kind = type_name(kind);
    let is_number = |word: &str| word.starts_with("0x") || word.starts_with("U+0x");
    if kind == "()" {
        return (kind, "()".to_owned());
    }
    let text = match text.split_once(' ') {
        Some((address, rest)) if is_number(address) => rest.to_owned(),
        // With as few digits as tell it from others.
        _ if kind == "f32" => text.parse::<f32>().map_or(text, |number| format!("{number:?}")),
        _ if kind == "f64" => text.parse::<f64>().map_or(text, |number| format!("{number:?}")),
        // A value without a formatter: its type and its address.
        _ => match text.rsplit_once(" @ 0x") {
            Some((of, _)) => type_name(of),
            None => optimized::value(text),
        },
    };
    (of_items(kind, &text), text)
}

/// The same for GDB, which has Rust's own names of types, except for references.
pub(super) fn value_of_gdb(kind: &str, text: String) -> (String, String) {
    let kind = kind.replace("*mut ", "&");
    // The text `' '` has a space, but no address before it.
    if kind == "char" { (kind, text) } else { value(&kind, text) }
}

/// The type of a counted pointer to a text or a slice, which LLDB names after one of its items.
fn of_items(kind: String, text: &str) -> String {
    let counted = ["Rc<", "Arc<"].into_iter().find(|counted| kind.starts_with(counted));
    let item = counted.and_then(|counted| kind.strip_prefix(counted)?.strip_suffix('>'));
    let (Some(counted), Some(item)) = (counted, item) else { return kind };
    // Types of numbers have no upper case.
    let is_plain = item.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    match text.chars().next() {
        Some('"') if item == "u8" => format!("{counted}str>"),
        Some('[') if is_plain => format!("{counted}[{item}]>"),
        _ => kind,
    }
}

/// A type in Rust's notation, without module paths and allocators.
fn type_name(name: &str) -> String {
    const SIMPLE: [(&str, &str); 14] = [
        ("unsigned char", "u8"),
        ("unsigned short", "u16"),
        ("unsigned int", "u32"),
        ("unsigned long", "usize"),
        ("unsigned __int128", "u128"),
        ("signed char", "i8"),
        ("short", "i16"),
        ("int", "i32"),
        ("long", "i64"),
        ("__int128", "i128"),
        ("float", "f32"),
        ("double", "f64"),
        ("char32_t", "char"),
        ("void", "()"),
    ];
    // Inside of another type it is Rust's own.
    if name == "char" {
        return "i8".to_owned();
    }
    if let Some(pointee) = name.strip_suffix(" *").or_else(|| name.strip_suffix(" &")) {
        return format!("&{}", type_name(pointee));
    }
    if let Some((result, parameters)) = name.split_once("(*)(").filter(|_| name.ends_with(')')) {
        let result =
            if result.trim() == "void" { String::new() } else { format!(" -> {}", type_name(result)) };
        return format!("fn({}{result}", type_name(parameters));
    }
    let (mut item, mut lengths) = (name, Vec::new());
    while let Some((inner, length)) = item.strip_suffix(']').and_then(|rest| rest.rsplit_once('['))
        && !inner.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
    {
        item = inner;
        lengths.push(length);
    }
    if !lengths.is_empty() {
        let (reference, item) = item.strip_suffix("(*)").map_or(("", item), |item| ("&", item));
        // In C, the outermost comes first.
        let array = |item: String, length: &&str| format!("[{item}; {length}]");
        return reference.to_owned() + &lengths.iter().fold(type_name(item.trim_end()), array);
    }
    let mut shown = String::with_capacity(name.len());
    let mut word = String::new();
    let finish = |word: &mut String, shown: &mut String| {
        let full = std::mem::take(word);
        if full.ends_with(" *") {
            shown.push_str(&type_name(&full));
            return;
        }
        let simple = SIMPLE.iter().find(|(c, _)| *c == full.trim());
        shown.push_str(simple.map_or_else(|| full.rsplit("::").next().unwrap_or_default(), |(_, rust)| rust));
    };
    for letter in name.chars() {
        if matches!(letter, '<' | '>' | ',' | '(' | ')' | '[' | ']' | '&' | ';') {
            finish(&mut word, &mut shown);
            shown.push(letter);
        } else if letter == ' ' && (word.is_empty() || matches!(word.as_str(), "mut" | "dyn")) {
            shown.push_str(&std::mem::take(&mut word));
            shown.push(' ');
        } else {
            word.push(letter);
        }
    }
    finish(&mut word, &mut shown);
    shown.replace(", Global", "").replace(", RandomState", "").replace(" >", ">")
}

/// What is wrong with an expression. A name of a module may be that of several for LLDB.
pub(super) fn refusal(text: &str) -> String {
    let said = (lldb_dap::QUIRKS.message)(text);
    match said.strip_prefix("reference to ").and_then(|rest| rest.strip_suffix(" is ambiguous")) {
        Some(name) => format!("use of undeclared identifier {name}"),
        None => said,
    }
}

/// The last panic that a program has printed, without its backtrace.
pub(super) fn panic(printed: &str) -> Option<Exception> {
    let (_, from) = printed.rsplit_once("\nthread '").or_else(|| printed.rsplit_once("thread '"))?;
    let (_, rest) = from.split_once(" panicked at ")?;
    let (place, text) = rest.split_once(":\n")?;
    let ends = ["\nnote: ", "\nstack backtrace:"].iter().filter_map(|end| text.find(end));
    let end = ends.min().unwrap_or(text.len());
    let message = text.get(..end).unwrap_or(text).trim_end();
    (!place.contains('\n') && !message.is_empty()).then(|| Exception {
        type_name: "panic".to_owned(),
        message: message.to_owned(),
        stack: String::new(),
        uncaught: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_omit_hashes() {
        let table = [
            ("shop::total::haf2efc1e8153d795", "shop::total"),
            ("shop::main::_$u7b$$u7b$closure$u7d$$u7d$::h1854dee5fd9945b4", "shop::main::{{closure}}"),
            ("<shop::Cart>::add", "shop::Cart::add"),
            ("<shop::Cart<fn(u8) -> u8>>::add::<u8>", "shop::Cart<fn(u8) -> u8>::add"),
            ("shop::pick::<alloc::vec::Vec<u8>>::{closure#0}", "shop::pick::{{closure}}"),
            ("<shop::Cart as shop::Shown>::show", "<shop::Cart as shop::Shown>::show"),
            ("_$LT$shop..Cart$u20$as$u20$shop..Shown$GT$::show", "<shop::Cart as shop::Shown>::show"),
            ("core::slice::<impl [T]>::sort", "core::slice::<impl [T]>::sort"),
            ("shop::heap::high", "shop::heap::high"),
            ("main", "main"),
        ];
        for (name, expected) in table {
            assert_eq!(function(name), expected);
        }
    }

    #[test]
    fn types_are_formatted_as_in_rust() {
        let table = [
            ("alloc::vec::Vec<shop::Item, alloc::alloc::Global>", "Vec<Item>"),
            (
                "std::collections::hash::map::HashMap<alloc::string::String, unsigned int, std::hash::random::RandomState, alloc::alloc::Global>",
                "HashMap<String, u32>",
            ),
            (
                "alloc::sync::Arc<std::sync::poison::mutex::Mutex<alloc::vec::Vec<int, alloc::alloc::Global> >, alloc::alloc::Global>",
                "Arc<Mutex<Vec<i32>>>",
            ),
            ("shop::Item *", "&Item"),
            ("unsigned char[4]", "[u8; 4]"),
            ("unsigned char[2][3]", "[[u8; 3]; 2]"),
            ("int(*)[3]", "&[i32; 3]"),
            ("int(*)(int, unsigned char)", "fn(i32, u8) -> i32"),
            ("void (*)(shop::Item *)", "fn(&Item)"),
            ("core::pin::Pin<unsigned char *>", "Pin<&u8>"),
            ("&[shop::Item]", "&[Item]"),
            ("&mut str", "&mut str"),
            ("(i32, &str, f64)", "(i32, &str, f64)"),
            ("alloc::boxed::Box<dyn core::fmt::Debug, alloc::alloc::Global>", "Box<dyn Debug>"),
            ("unsigned long", "usize"),
        ];
        for (name, expected) in table {
            assert_eq!(type_name(name), expected, "{name}");
        }
    }

    #[test]
    fn values_omit_addresses() {
        let table = [
            ("shop::Item *", "0x0000555555 Item { price: 3 }", "Item { price: 3 }"),
            ("char32_t", "U+0x00000078 'x'", "'x'"),
            ("double", "3", "3.0"),
            ("double", "NaN", "NaN"),
            ("double", "+Inf", "inf"),
            ("double", "1.0000000000000001E+300", "1e300"),
            ("float", "0.100000001", "0.1"),
            ("int", "0x10", "0x10"),
            ("shop::Odd", "shop::Odd @ 0x7fff", "Odd"),
            ("int", "<error: could not evaluate DW_OP_entry_value: no>", "<variable not available>"),
        ];
        for (kind, text, expected) in table {
            assert_eq!(value(kind, text.to_owned()).1, expected, "{kind} {text}");
        }
    }

    #[test]
    fn panic_message_is_parsed_from_stderr() {
        let printed = "ok\n\nthread 'main' (4711) panicked at src/main.rs:4:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with";
        let exception = panic(printed).unwrap();
        assert_eq!(exception.message, "assertion `left == right` failed\n  left: 1\n right: 2");
        assert_eq!(panic("thread 'x' panicked at src/main.rs"), None);
        assert_eq!(panic("nothing"), None);
    }
}
