//! `stillframe record`, `ask` and `recordings`.

use test_support::Fixture;

use crate::STILLFRAME;
use crate::recorder::{at, has};

/// The exit code, the output and the errors of a command.
pub(crate) async fn run(state: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let mut command = STILLFRAME.command();
    command.args(words).env("XDG_STATE_HOME", state).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    let done = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

#[tokio::test]
async fn a_run_is_recorded_and_asked_about() {
    let program = Fixture::python("recording_shop");
    let state = tempfile::tempdir().unwrap();
    let (code, said, _) = run(state.path(), &["record", "--", "python3", program.path()]).await;
    assert_eq!(code, 0, "{said}");
    has(&said, &["recorded as rec-1: the program exited with code 1"]);
    let moment = at(&program, "lost");
    let questions: [(&[&str], &str); 6] = [
        (&["first", "total < 0"], "first holds after"),
        (&["writes", "cart.items", "--most", "1"], "earlier writes"),
        (&["state", "exception"], "ValueError: negative total"),
        (&["changes", &moment, "end"], "list #"),
        (&["hits", "checkout"], "checkout was called once"),
        (&["diverged", "rec-1", "last"], "the same steps"),
    ];
    for (words, expected) in questions {
        let words: Vec<&str> = std::iter::once("ask").chain(words.iter().copied()).collect();
        let (code, said, errors) = run(state.path(), &words).await;
        assert!(code == 0 && said.contains(expected), "{words:?}: {said}{errors}");
    }
    let (code, _, errors) = run(state.path(), &["ask", "state", "nowhere"]).await;
    assert_eq!(code, 1);
    has(&errors, &["`nowhere` is not a moment"]);
    let (_, listed, _) = run(state.path(), &["recordings"]).await;
    has(&listed, &["rec-1: main.py; exited with code 1"]);
    assert_eq!(run(state.path(), &["recordings", "remove", "rec-1"]).await.1, "removed: 1\n");
}
