//! The server's icon: a frame of a film with the sign for a pause.

use data_encoding::BASE64;
use rmcp::model::Icon;

const SVG: &str = include_str!("icon.svg");

/// The icon, in itself: a client need not fetch anything.
pub(super) fn icon() -> Icon {
    let data = BASE64.encode(SVG.trim_end().as_bytes());
    Icon::new(format!("data:image/svg+xml;base64,{data}"))
        .with_mime_type("image/svg+xml")
        .with_sizes(vec!["any".to_owned()])
}
