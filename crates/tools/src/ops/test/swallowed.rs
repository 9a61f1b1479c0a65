//! Exceptions of a failing test that are not its failure: a library caught them, as a web framework does.

use engine::adapter::tracebacks::{catches_all, package};
use engine::model::source::Location;

use super::Failure;
use super::throws::Throw;

/// How many are reported.
const MOST: usize = 3;

/// A sentence for each throw in the test that failed first which a package has caught.
pub(super) fn notes_of_first_failure(failures: &[Failure], throws: &[Throw]) -> Vec<String> {
    let first = failures.first().and_then(|failure| failure.result.as_ref());
    let Some(first) = first else { return Vec::new() };
    let failed = throws_at(failures);
    let mut sentences = Vec::new();
    for throw in throws.iter().filter(|throw| throw.test.as_ref() == Some(&first.id)) {
        let sentence = place(throw).filter(|place| !failed.contains(place)).and_then(|place| {
            let exception = throw.snapshot.exception.as_ref()?;
            let what = format!("{}: {}", exception.type_name, brief(&exception.message));
            Some(format!("{what} was raised at {place} in this test, and caught by {}", catcher(throw)?))
        });
        sentences.extend(sentence.filter(|sentence| !sentences.contains(sentence)));
    }
    sentences.truncate(MOST);
    sentences
}

/// Where failures were thrown. The same throw may be there many times, where a package runs a test again and again.
fn throws_at(failures: &[Failure]) -> Vec<String> {
    failures.iter().filter_map(|failure| place(failure.throw.as_ref()?)).collect()
}

fn place(throw: &Throw) -> Option<String> {
    let frame = throw.snapshot.frame()?;
    let location = frame.location.as_ref()?;
    Some(format!("{}:{} in {}", location.source.name, location.line, frame.name))
}

/// The package whose code has called the function of the user's that has thrown, or the part of the runtime that catches
/// everything there.
fn catcher(throw: &Throw) -> Option<&str> {
    match throw.thrown.stack.as_slice() {
        // What the debugger shows may be the user's frames alone.
        [] => first_catcher(throw.stack.iter().map(|frame| (&*frame.name, frame.location.as_ref()))),
        whole => first_catcher(whole.iter().map(|frame| (&*frame.function, frame.location.as_ref()))),
    }
}

/// That of the first such frame beyond those of the user's.
fn first_catcher<'a>(frames: impl Iterator<Item = (&'a str, Option<&'a Location>)>) -> Option<&'a str> {
    let frames = frames.filter_map(|(function, place)| Some((function, &place?.source)));
    let mut callers = frames.skip_while(|(_, source)| source.internal);
    callers
        .find_map(|(function, source)| catches_all(function, &source.name).or_else(|| package(&source.name)))
}

fn brief(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}
