//! `cargo xtask book`: the documentation as a book, made by mdBook, with a check of all links in it.
//!
//! The pages keep their places, so that links between them stay as they are. Links to other files of the repository
//! lead to the repository's site.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::repository::{self, File};
use crate::tidy::chapters::{self, SUMMARY};
use crate::tidy::links::{LinkTarget, resolve, targets};

/// Where the repository is shown.
const SITE: &str = "https://github.com/stillframe/stillframe/blob/main";
/// The version of mdBook that is installed if there is none.
const MDBOOK: &str = "mdbook@0.4.52";
/// The first page, which mdBook calls `index`.
const README: &str = "README.md";
/// What the book shows besides its pages.
const PICTURES: [&str; 1] = ["png"];

/// Makes the book in `target/book/html`, and fails if a link in it leads to nothing.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "takes no arguments");
    let files = repository::files()?;
    let book = repository::root().join("target/book");
    if book.exists() {
        std::fs::remove_dir_all(&book).context("cannot remove the last book")?;
    }
    write_pages(&files, &book.join("src"))?;
    let root = repository::root().to_string_lossy().into_owned();
    repository::output(&mdbook()?.to_string_lossy(), &["build", &root])?;
    let broken = broken_links(&book.join("html"))?;
    for link in &broken {
        println!("{link}");
    }
    if broken.is_empty() {
        println!("target/book/html/index.html");
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// mdBook, which is compiled if it was not before.
fn mdbook() -> Result<PathBuf> {
    let tools = repository::root().join("target/tools");
    let program = tools.join("bin/mdbook");
    if !program.exists() {
        // It runs for a second, so that optimizing it would not pay.
        let install =
            ["install", "--quiet", "--locked", "--debug", "--no-default-features", MDBOOK, "--root"];
        let status = repository::cargo().args(install).arg(&tools).status().context("cannot run cargo")?;
        ensure!(status.success(), "cargo cannot install {MDBOOK}");
    }
    Ok(program)
}

/// Puts the pages of the book, and what they show, where mdBook reads them.
fn write_pages(files: &[File], src: &Path) -> Result<()> {
    let summary = files.iter().find(|file| file.path == SUMMARY).context("the book has no contents")?;
    let pages: HashSet<String> = chapters::of_book(&summary.text).into_iter().collect();
    for file in files.iter().filter(|file| pages.contains(&file.path)) {
        write(&src.join(&file.path), linked(&file.path, &file.text, &pages).as_bytes())?;
    }
    write(&src.join("SUMMARY.md"), from_root(&summary.text).as_bytes())?;
    let pictures = repository::output("git", &["ls-files", "docs"])?;
    for path in pictures.lines().filter(|path| is_picture(path)) {
        let picture =
            std::fs::read(repository::root().join(path)).with_context(|| format!("cannot read `{path}`"))?;
        write(&src.join(path), &picture)?;
    }
    Ok(())
}

fn is_picture(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| PICTURES.iter().any(|picture| found == *picture))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// The contents with links from the root, where mdBook wants them.
fn from_root(summary: &str) -> String {
    replaced(summary, |target| match resolve(SUMMARY, target) {
        LinkTarget::File(path) => Some(path),
        _ => None,
    })
}

/// A page whose links to what is not in the book lead to the repository's site, and those to the README to the page that
/// mdBook makes of it.
fn linked(path: &str, text: &str, pages: &HashSet<String>) -> String {
    replaced(text, |target| match resolve(path, target) {
        LinkTarget::File(file) if !pages.contains(&file) && !is_picture(&file) => {
            let heading = target.find('#').and_then(|at| target.get(at..)).unwrap_or_default();
            Some(format!("{SITE}/{file}{heading}"))
        }
        LinkTarget::File(file) if file == README => Some(target.replace(README, "index.md")),
        _ => None,
    })
}

/// A text with other targets for some links.
fn replaced(text: &str, instead: impl Fn(&str) -> Option<String>) -> String {
    let mut by_line: HashMap<usize, Vec<&str>> = HashMap::new();
    for (line, target) in targets(text) {
        by_line.entry(line).or_default().push(target);
    }
    let mut page = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let mut line = line.to_owned();
        for target in by_line.get(&number).into_iter().flatten() {
            if let Some(new) = instead(target) {
                line = line.replace(&format!("]({target}"), &format!("]({new}"));
                line = line.replace(&format!("\"{target}\""), &format!("\"{new}\""));
            }
        }
        page.push_str(&line);
    }
    page
}

/// The links in the pages of a folder that lead to no file, or to no place in a page, each with its page.
fn broken_links(html: &Path) -> Result<Vec<String>> {
    let mut pages = HashMap::new();
    read_pages(html, html, &mut pages)?;
    let anchors: HashMap<&String, HashSet<&str>> =
        pages.iter().map(|(path, text)| (path, attributes(text, "id").into_iter().collect())).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        let links = attributes(text, "href").into_iter().chain(attributes(text, "src"));
        for link in links {
            let heading = link.split_once('#').map(|(_, heading)| heading).filter(|text| !text.is_empty());
            let file = match resolve(path, link) {
                LinkTarget::File(file) => file,
                LinkTarget::Elsewhere if link.starts_with('#') => path.clone(),
                LinkTarget::Elsewhere => continue,
                LinkTarget::Outside => {
                    broken.push(format!("{path}: `{link}` leads out of the book"));
                    continue;
                }
            };
            let is_there = html.join(&file).is_file() || html.join(&file).join("index.html").is_file();
            let has = |heading| anchors.get(&file).is_none_or(|known| known.contains(heading));
            if !is_there {
                broken.push(format!("{path}: `{link}` leads to nothing"));
            } else if heading.is_some_and(|heading| !has(heading)) {
                broken.push(format!("{path}: `{link}` leads to a heading that is not there"));
            }
        }
    }
    broken.sort();
    broken.dedup();
    Ok(broken)
}

/// The pages below a folder, by their paths from the root of the book. The one with all pages has headings twice.
fn read_pages(root: &Path, folder: &Path, pages: &mut HashMap<String, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if path.is_dir() {
            read_pages(root, &path, pages)?;
        } else if path.extension().is_some_and(|found| found == "html")
            && !["print.html", "404.html", "toc.html"].contains(&name.as_str())
        {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
            pages.insert(name, text);
        }
    }
    Ok(())
}

/// The values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let values =
        html.match_indices(&start).filter_map(|(at, _)| html.get(at + start.len()..)?.split('"').next());
    values.filter(|value| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_what_is_not_in_the_book_lead_to_the_repository() {
        let pages = HashSet::from(["README.md".to_owned(), "docs/a.md".to_owned()]);
        let text = "[a](a.md#part) [r](../README.md) [c](../crates/x.rs#L1) ![p](viewer.png) `[c](../d)` [o](https://example.org)\n";
        let expected = format!(
            "[a](a.md#part) [r](../index.md) [c]({SITE}/crates/x.rs#L1) ![p](viewer.png) `[c](../d)` [o](https://example.org)\n"
        );
        assert_eq!(linked("docs/b.md", text, &pages), expected);
    }

    #[test]
    fn the_contents_are_relative_to_the_root() {
        let summary = "# Summary\n\n[s](../README.md)\n- [b](b.md)\n  - [c](sub/c.md)\n";
        assert_eq!(
            from_root(summary),
            "# Summary\n\n[s](README.md)\n- [b](docs/b.md)\n  - [c](docs/sub/c.md)\n"
        );
    }

    #[test]
    fn broken_links_of_the_book_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let page = "<a href=\"b.html#one\"></a><a href=\"b.html#two\"></a><img src=\"c.png\"><a href=\"../x\"></a><a href=\"#here\"></a><a href=\"https://example.org/x\"></a>";
        std::fs::write(folder.path().join("a.html"), page).unwrap();
        std::fs::write(folder.path().join("b.html"), "<h1 id=\"one\"></h1>").unwrap();
        assert_eq!(
            broken_links(folder.path()).unwrap(),
            [
                "a.html: `#here` leads to a heading that is not there",
                "a.html: `../x` leads out of the book",
                "a.html: `b.html#two` leads to a heading that is not there",
                "a.html: `c.png` leads to nothing",
            ]
        );
    }
}
