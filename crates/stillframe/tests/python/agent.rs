//! The time limit of expressions, without a debugger around it.

use test_support::{repository, tries_everything};

use crate::script::{plain, text};

/// An exception that is raised in another thread may arrive after the work that it was meant for. It must not
/// arrive at anybody else.
#[tokio::test]
async fn evaluations_that_end_near_their_timeout_leave_no_exception_behind() {
    let root = repository();
    let agent = root.join("crates/engine/src/debuggee/python");
    let stress = root.join("crates/stillframe/tests/python/agent_stress.py");
    // Nothing is to be written beside the sources.
    let times = if tries_everything() { "1500" } else { "100" };
    let done = plain(&root, &["-B", text(&stress), text(&agent), times]).await;
    assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), ("no strays\n", "", Some(0)));
}
