//! What test runners say of their tests.

use engine::test_reports::{TestReport, TestReports};

/// The lines of a runner.
///
/// Lines are independent: a malformed line does not keep the others from being read.
pub fn test_reports(data: &[u8]) {
    let reports = TestReports::new().expect("a file can be made");
    let read = |text: &[u8]| -> Vec<TestReport> {
        std::fs::write(reports.path(), text).expect("the file can be written");
        reports.read()
    };
    let whole = read(data);
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    assert!(whole.len() <= lines.len());
    let mut noisy = Vec::new();
    for line in lines {
        noisy.extend_from_slice(line);
        noisy.extend_from_slice(b"\n{\"kind\":\n");
    }
    assert_eq!(read(&noisy), whole);
}
