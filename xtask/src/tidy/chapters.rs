//! The pages in `docs/` that the book does not have, or has twice. Its contents are `docs/SUMMARY.md`.

use super::Finding;
use super::links::{LinkTarget, resolve, targets};
use crate::repository::File;

/// The contents of the book.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// The pages of the book in their order.
pub(crate) fn of_book(summary: &str) -> Vec<String> {
    let page = |target| match resolve(SUMMARY, target) {
        LinkTarget::File(path) => Some(path),
        _ => None,
    };
    targets(summary).into_iter().filter_map(|(_, target)| page(target)).collect()
}

/// Pages that are not in the book once.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let Some(summary) = files.iter().find(|file| file.path == SUMMARY) else {
        return vec![Finding::new(SUMMARY, 1, "the book has no contents")];
    };
    let chapters = of_book(&summary.text);
    let pages = files.iter().filter(|file| file.has_extension("md") && file.path.starts_with("docs/"));
    let mut findings = Vec::new();
    for page in pages.filter(|page| page.path != SUMMARY) {
        match chapters.iter().filter(|chapter| **chapter == page.path).count() {
            1 => {}
            0 => findings.push(Finding::new(
                &page.path,
                1,
                format!("is not in the book; add it to `{SUMMARY}`"),
            )),
            _ => findings.push(Finding::new(&page.path, 1, format!("is more than once in `{SUMMARY}`"))),
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_outside_the_book_are_reported() {
        let summary = "# Summary\n\n[a](../README.md)\n\n- [b](b.md)\n  - [c](sub/c.md)\n- [again](b.md)\n";
        assert_eq!(of_book(summary), ["README.md", "docs/b.md", "docs/sub/c.md", "docs/b.md"]);
        let page = |path: &str| File::new(path, "");
        let files = [
            File::new(SUMMARY, summary),
            page("docs/b.md"),
            page("docs/sub/c.md"),
            page("docs/d.md"),
            page("x.md"),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/b.md:1: is more than once in `docs/SUMMARY.md`",
                "docs/d.md:1: is not in the book; add it to `docs/SUMMARY.md`",
            ]
        );
        assert_eq!(check(&[]).len(), 1);
    }
}
