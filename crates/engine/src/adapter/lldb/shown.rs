//! What LLDB shows, as C and C++ programmers write it, and what their run-time libraries print.

use super::native::optimized;
use crate::model::stop::Exception;

/// The longest name of a function whose template arguments are shown, in characters.
const LONGEST: usize = 60;

/// A function without its parameters: `shop::Cart::add` for `shop::Cart::add(std::string const&)`. Template arguments
/// that make it long are left out.
pub(super) fn function(name: &str) -> String {
    let name = without_parameters(name);
    if name.chars().count() <= LONGEST { name } else { without_arguments(&name) }
}

/// `shop::Box<…>::open` for `shop::Box<shop::Item>::open`.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0_usize;
    for (at, letter) in name.char_indices() {
        let before = name.get(..at).unwrap_or_default();
        let is_operator =
            ["operator", "operator<", "operator>", "operator-"].iter().any(|end| before.ends_with(end));
        match letter {
            '<' if !is_operator => {
                depth += 1;
                if depth == 1 {
                    short.push_str("<…>");
                }
            }
            '>' if !is_operator => depth = depth.saturating_sub(1),
            _ if depth == 0 => short.push(letter),
            _ => {}
        }
    }
    short
}

fn without_parameters(name: &str) -> String {
    let name = name.strip_prefix("decltype").and_then(after_parentheses).unwrap_or(name);
    let mut depth = 0_usize;
    for (at, letter) in name.char_indices() {
        let before = name.get(..at).unwrap_or_default();
        match letter {
            '<' if !before.ends_with("operator") && !before.ends_with("operator<") => depth += 1,
            '>' if !before.ends_with('-') && !before.ends_with("operator") => depth = depth.saturating_sub(1),
            '(' if depth == 0 && at > 0 && !before.ends_with("::") && !before.ends_with("operator") => {
                return without_type(before).trim_start_matches("::").to_owned();
            }
            _ => {}
        }
    }
    name.trim_start_matches("::").to_owned()
}

/// What is after the parentheses at the beginning.
fn after_parentheses(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix('(')?;
    let mut depth = 1_i32;
    let (end, _) = text.char_indices().find(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        depth == 0
    })?;
    text.get(end + 1..).map(str::trim_start)
}

/// The name of a function without the type of its result, which is before the last space outside of names.
fn without_type(name: &str) -> &str {
    let is_outside = |kind: &str, rest: &str| {
        let rest = ["<=>", "<<", ">>", "->", "<", ">"]
            .iter()
            .fold(rest.to_owned(), |rest, sign| rest.replace(&format!("operator{sign}"), "operator"));
        !kind.ends_with("operator")
            && !kind.ends_with("(anonymous")
            && rest.matches('<').count() >= rest.matches('>').count()
    };
    let mut spaces = name.rmatch_indices(' ').map(|(at, _)| name.split_at(at));
    spaces.find(|(kind, rest)| is_outside(kind, rest)).map_or(name, |(_, rest)| rest.trim_start())
}

/// A type and a value. A reference is what it refers to, without the address.
pub(super) fn value(kind: &str, text: String) -> (String, String) {
    let text = match text.split_once(' ') {
        Some((address, rest)) if kind.ends_with('&') && address.starts_with("0x") => rest.to_owned(),
        _ => optimized::value(text),
    };
    let kind = kind.replace("std::basic_string<char>", "std::string").replace(" >", ">");
    // LLDB takes the arguments of each for none.
    let kind = if text == "{}" { kind } else { kind.replace("std::tuple<>", "std::tuple<…>") };
    (kind, text)
}

/// Why the run-time library aborted the program, if it printed the reason.
pub(super) fn exception(printed: &str) -> Option<Exception> {
    const FATAL: [&str; 9] = [
        "double free",
        "free(): ",
        "malloc(): ",
        "realloc(): ",
        "munmap_chunk(): ",
        "corrupted ",
        "*** stack smashing detected ***",
        "*** buffer overflow detected ***",
        "pure virtual method called",
    ];
    let of = |type_name: &str, message: &str| {
        Some(Exception {
            type_name: type_name.to_owned(),
            message: message.trim().to_owned(),
            stack: String::new(),
            uncaught: true,
        })
    };
    let thrown = "terminate called after throwing an instance of '";
    if let Some((_, rest)) = printed.rsplit_once(thrown) {
        let (type_name, rest) = rest.split_once("'\n")?;
        let type_name =
            if type_name.starts_with("std::__cxx11::basic_string<char,") { "std::string" } else { type_name };
        let what = rest.strip_prefix("  what():  ").unwrap_or_default();
        // What follows is other output.
        let what = what.split("\nerror: ").next().unwrap_or_default();
        return of(type_name, what);
    }
    let last = printed.trim_end().rsplit('\n').next()?;
    if let Some((place, assertion)) = last.rsplit_once(": Assertion `") {
        let function = place.rsplit(": ").next().unwrap_or_default();
        let asserted = assertion.trim_end_matches('.').strip_suffix("' failed")?;
        return of("assertion", &format!("`{asserted}` failed in {function}"));
    }
    if last.starts_with("terminate called") {
        return of("std::terminate", last);
    }
    FATAL.iter().any(|start| last.starts_with(start)).then(|| of("SIGABRT", last)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_omit_parameters() {
        let table = [
            ("shop::Cart::add(std::basic_string<char, std::char_traits<char>> const&)", "shop::Cart::add"),
            ("main", "main"),
            ("::show(Item const&)", "show"),
            ("int total<int>(std::vector<int> const&)", "total<int>"),
            ("decltype ((json::read(x)),((void)())) json::parse<int>(int&) const", "json::parse<int>"),
            ("decltype(auto) shop::visit(int)", "shop::visit"),
            ("decltype_name(int)", "decltype_name"),
            ("(anonymous namespace)::help(int)", "(anonymous namespace)::help"),
            ("shop::operator<(shop::A const&, shop::A const&)", "shop::operator<"),
            ("Fn::operator()(int) const", "Fn::operator()"),
            ("main::$_0::operator()(int) const", "main::$_0::operator()"),
            (
                "json::detail::parser<json::basic_json<std::map, std::vector<int, std::allocator<int> > > >::parse(int)",
                "json::detail::parser<…>::parse",
            ),
            (
                "shop::Ordering<shop::Item, shop::ComparesPrices<shop::Item>, 100>::operator<(shop::Item const&)",
                "shop::Ordering<…>::operator<",
            ),
        ];
        for (name, expected) in table {
            assert_eq!(function(name), expected, "{name}");
        }
    }

    #[test]
    fn references_omit_addresses() {
        let table = [
            ("Point &", "0x7ffe00 {x = 1}", "{x = 1}"),
            ("Point *", "0x7ffe00 {x = 1}", "0x7ffe00 {x = 1}"),
            ("int", "5", "5"),
        ];
        for (kind, text, expected) in table {
            assert_eq!(value(kind, text.to_owned()).1, expected, "{kind}");
        }
        assert_eq!(
            value("std::map<std::basic_string<char>, int> ", String::new()).0,
            "std::map<std::string, int> "
        );
        assert_eq!(value("std::tuple<>", "{1, 'a'}".to_owned()).0, "std::tuple<…>");
    }

    #[test]
    fn runtime_library_messages_are_exceptions() {
        let table = [
            (
                "x\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  cart is full\n",
                Some(("std::runtime_error", "cart is full")),
            ),
            ("terminate called after throwing an instance of 'int'\n", Some(("int", ""))),
            (
                "terminate called after throwing an instance of 'std::__cxx11::basic_string<char, std::char_traits<char> >'\n",
                Some(("std::string", "")),
            ),
            (
                "shop: shop.c:7: main: Assertion `n == 4' failed.\n",
                Some(("assertion", "`n == 4` failed in main")),
            ),
            (
                "double free or corruption (fasttop)\n",
                Some(("SIGABRT", "double free or corruption (fasttop)")),
            ),
            (
                "terminate called without an active exception\n",
                Some(("std::terminate", "terminate called without an active exception")),
            ),
            ("bye\n", None),
        ];
        for (printed, expected) in table {
            let found = exception(printed);
            let found = found.as_ref().map(|found| (found.type_name.as_str(), found.message.as_str()));
            assert_eq!(found, expected, "{printed}");
        }
    }
}
