//! Which names and addresses are local.

use crate::deadlines;
use crate::model::launch::is_loopback_address;

/// Whether a host is certainly this machine: an address of its loopback, or `localhost` if it resolves to nothing
/// else. Other names are not resolved: the answer may change the next time.
pub(super) async fn is_local(host: &str) -> bool {
    if !host.eq_ignore_ascii_case("localhost") {
        return is_loopback_address(host);
    }
    let found = tokio::time::timeout(deadlines::REQUEST, tokio::net::lookup_host((host, 0))).await;
    let Ok(Ok(found)) = found else { return false };
    let mut found = found.map(|found| found.ip().to_canonical().is_loopback()).peekable();
    found.peek().is_some() && found.all(|is_loopback| is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_loopback_addresses_are_local() {
        let table = [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("::1", true),
            ("[::1]", true),
            ("::ffff:127.0.0.1", true),
            ("localhost", true),
            ("LOCALHOST", true),
            ("0.0.0.0", false),
            ("::", false),
            ("10.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("169.254.169.254", false),
            ("localhost.example", false),
            ("example.com", false),
            ("127.1", false),
            ("2130706433", false),
            ("0x7f.0.0.1", false),
            ("", false),
        ];
        for (host, expected) in table {
            assert_eq!(is_local(host).await, expected, "{host}");
        }
    }
}
