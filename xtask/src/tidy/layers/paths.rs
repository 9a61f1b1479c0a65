//! The paths in sources of Rust that lead from one module of a crate to another.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::repository::File;

/// A path that leaves a module.
#[derive(Debug)]
pub(super) struct UsedPath<'f> {
    /// The module at the top of the crate that it is in.
    pub(super) by: &'f str,
    /// The first name of the path, below the crate.
    pub(super) name: String,
    /// The file that it is in.
    pub(super) path: &'f str,
    pub(super) line: usize,
}

/// All of a crate.
#[derive(Debug, Default)]
pub(super) struct Paths<'f> {
    used: Vec<UsedPath<'f>>,
    /// Files, and the beginning of the paths of files, that are compiled for tests only.
    tests: Vec<String>,
}

impl<'f> Paths<'f> {
    /// The paths in the files of a folder. Invalid Rust is skipped: the compiler reports it.
    pub(super) fn of(files: &'f [File], folder: &'f str) -> Self {
        let mut paths = Self::default();
        for file in files {
            let Some(module) = file.path.strip_prefix(folder).and_then(|path| path.strip_suffix(".rs"))
            else {
                continue;
            };
            let names: Vec<&str> = module.split('/').collect();
            let (Some(by), Ok(tokens)) = (names.first(), file.text.parse::<TokenStream>()) else { continue };
            let is_crate = module == "lib";
            let mut reader = Reader {
                paths: &mut paths,
                by,
                path: &file.path,
                folder: if is_crate { folder } else { file.path.trim_end_matches(".rs") }
                    .trim_end_matches('/'),
                depth: if is_crate { 0 } else { names.len() },
            };
            reader.read(tokens);
        }
        paths
    }

    /// Those that are compiled into the product.
    pub(super) fn outside_of_tests(&self) -> impl Iterator<Item = &UsedPath<'f>> {
        let is_test = |path: &str| self.tests.iter().any(|test| path.starts_with(test.as_str()));
        self.used.iter().filter(move |used| used.by != used.name && !is_test(used.path))
    }
}

struct Reader<'p, 'f> {
    paths: &'p mut Paths<'f>,
    by: &'f str,
    path: &'f str,
    /// Where the modules are that the file declares.
    folder: &'f str,
    /// How many `super` lead to the top of the crate.
    depth: usize,
}

impl Reader<'_, '_> {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            rest = match first {
                TokenTree::Punct(mark) if mark.as_char() == '#' && is_of_tests(behind.first()) => {
                    self.skip_item(behind)
                }
                TokenTree::Ident(word) if word == "crate" => self.path(behind, true),
                TokenTree::Ident(word) if word == "super" => self.path_of_parent(behind),
                TokenTree::Ident(word) if word == "mod" => self.module(behind),
                TokenTree::Group(group) => {
                    self.read(group.stream());
                    behind
                }
                _ => behind,
            };
        }
    }

    /// An item of tests, from its attribute on: up to its body or its semicolon.
    fn skip_item<'t>(&mut self, tokens: &'t [TokenTree]) -> &'t [TokenTree] {
        let ends = |token: &TokenTree| match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let end = tokens.iter().position(ends).map_or(tokens.len(), |end| end + 1);
        let (item, behind) = tokens.split_at(end);
        if let [.., TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_)] = item
            && word == "mod"
        {
            self.paths.tests.push(format!("{}/{name}.rs", self.folder));
            self.paths.tests.push(format!("{}/{name}/", self.folder));
        }
        behind
    }

    /// What follows `mod`: in a body, one more `super` leads to the top.
    fn module<'t>(&mut self, tokens: &'t [TokenTree]) -> &'t [TokenTree] {
        let [TokenTree::Ident(_), TokenTree::Group(body), behind @ ..] = tokens else { return tokens };
        self.depth += 1;
        self.read(body.stream());
        self.depth -= 1;
        behind
    }

    /// What follows `super`.
    fn path_of_parent<'t>(&mut self, mut tokens: &'t [TokenTree]) -> &'t [TokenTree] {
        let mut count = 1;
        while let Some([TokenTree::Ident(word), behind @ ..]) = behind_colons(tokens)
            && word == "super"
        {
            count += 1;
            tokens = behind;
        }
        self.path(tokens, count == self.depth)
    }

    /// What follows the beginning of a path, which is the crate or not.
    fn path<'t>(&mut self, tokens: &'t [TokenTree], is_crate: bool) -> &'t [TokenTree] {
        let Some(tokens) = behind_colons(tokens).filter(|_| is_crate) else { return tokens };
        match tokens.split_first() {
            Some((first @ TokenTree::Ident(_), behind)) => {
                self.add(first);
                behind
            }
            Some((TokenTree::Group(group), behind)) => {
                let names: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
                names.split(is_comma).filter_map(<[TokenTree]>::first).for_each(|first| self.add(first));
                behind
            }
            _ => tokens,
        }
    }

    fn add(&mut self, first: &TokenTree) {
        self.paths.used.push(UsedPath {
            by: self.by,
            name: first.to_string(),
            path: self.path,
            line: first.span().start().line,
        });
    }
}

/// An attribute that leaves something out of the product.
fn is_of_tests(attribute: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(attribute)) = attribute else { return false };
    let words: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match words.as_slice() {
        [TokenTree::Ident(word), TokenTree::Group(condition)] if word == "cfg" => {
            let words: Vec<String> = condition.stream().into_iter().map(|word| word.to_string()).collect();
            matches!(words.first().map(String::as_str), Some("test"))
                || words.first().is_some_and(|word| word == "all")
                    && words.get(1).is_some_and(|words| words.starts_with("(test"))
        }
        _ => false,
    }
}

/// What follows `::`.
fn behind_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(other), behind @ ..]
            if one.as_char() == ':' && other.as_char() == ':' =>
        {
            Some(behind)
        }
        _ => None,
    }
}
