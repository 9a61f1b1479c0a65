//! Objects of Node and of packages that are known by something else than their properties.

use serde_json::json;
use test_support::toolchains;

use crate::script::Script;

const PROGRAM: &str = r#"
const http = require("http");
const { PassThrough, Readable, Writable } = require("stream");

const runs = [];
const full = new PassThrough();
full.write("ab");
const flowing = new PassThrough().resume();
const broken = new PassThrough().on("error", () => {});
broken.destroy(new Error("broken"));
const closed = new Writable({ write() {} });
closed.destroy();

class Lines extends PassThrough {
  #seen = 0;
  count = this.#seen;
}

class Headers {
  get list() {
    runs.push("list");
  }
}

const server = http.createServer((req, res) => {
  res.statusCode = 404;
  req.params = { id: "7" };
  [http, Readable, full, flowing, broken, closed, Lines, Headers, req, res, runs]; // @here
});
server.listen(0, () => http.get({ port: server.address().port, path: "/tea?n=1", headers: { Host: "shop" } }));
"#;

/// Expressions and what they are shown as.
const KNOWN: &[(&str, &str)] = &[
    (
        "req",
        "IncomingMessage { method: 'GET', url: '/tea?n=1', headers: { Host: 'shop', Connection: 'keep-alive' }, \
         complete: false, params: { id: '7' } }",
    ),
    (
        "res",
        "ServerResponse { method: 'GET', url: '/tea?n=1', statusCode: 404, headersSent: false, finished: false }",
    ),
    ("full", "PassThrough { readable: 'open', buffered: 2, writable: 'open', pending: 0 }"),
    ("flowing", "PassThrough { readable: 'flowing', buffered: 0, writable: 'open', pending: 0 }"),
    ("broken", "PassThrough { readable: 'errored', buffered: 0, writable: 'errored', pending: 0 }"),
    ("closed", "Writable { writable: 'destroyed', pending: 0 }"),
    ("new URL('https://shop.example/tea?n=1')", "URL { href: 'https://shop.example/tea?n=1' }"),
    ("new URLSearchParams({ a: '1' })", "URLSearchParams { query: 'a=1' }"),
    ("new globalThis.Headers({ a: '1' })", "Headers { a: '1' }"),
    ("[new Request('https://shop.example/')]", "[ Request { method: 'GET', url: 'https://shop.example/' } ]"),
    ("new Response('', { status: 201 })", "Response { status: 201, url: '' }"),
    (
        "new Lines()",
        "Lines { readable: 'open', buffered: 0, writable: 'open', pending: 0, count: 0, #seen: 0 }",
    ),
    // One of the program's that bears the name.
    ("new Headers()", "Headers {}"),
    ("runs", "[]"),
];

#[tokio::test]
async fn requests_urls_and_streams_are_summarized() {
    let (session, _) = Script::new(PROGRAM).stopped_at("here").await;
    for (expression, expected) in KNOWN {
        let arguments = json!({ "expression": expression, "maxLength": 400 });
        let value = session.ok("evaluate_expression", arguments).await;
        assert_eq!(value.text_of("result"), *expected, "{expression}");
    }
    session.finish().await;
}

const PACKAGES: &str = r#"
const mongoose = require("mongoose");
const Decimal = require("decimal.js");
const { createDraft } = require("immer");

const Tea = mongoose.model("Tea", new mongoose.Schema({ name: String, tags: [String], from: { city: String } }));
const tea = new Tea({ _id: "507f1f77bcf86cd799439011", name: "Assam", tags: ["strong"], from: { city: "Jorhat" } });
const query = Tea.find({ name: /a/ }).select("name").limit(3);
const prices = ["12.50", "-0.0007", "1e9", "123456789.123456789", "0"].map((text) => new Decimal(text));
const draft = createDraft({ lines: [{ sku: "a", count: 1 }], total: 1 });
draft.lines[0].count = 3;
draft.total = 3;
console.log(tea.name, prices); // @here
"#;

const OF_PACKAGES: &[(&str, &str)] = &[
    (
        "tea",
        "Tea { name: 'Assam', tags: Proxy { [ 'strong' ] }, from: { city: 'Jorhat' }, _id: ObjectId { id: \
         '507f1f77bcf86cd799439011' } }",
    ),
    (
        "query",
        "Query { model: 'Tea', op: 'find', filter: { name: /a/ }, fields: { name: 1 }, options: { limit: 3 } }",
    ),
    ("draft", "Proxy { { lines: Proxy { [ Proxy { { sku: 'a', count: 3 } } ] }, total: 3 } }"),
    (
        "prices",
        "[ Decimal { value: '12.5' }, Decimal { value: '-0.0007' }, Decimal { value: '1000000000' }, \
         Decimal { value: '123456789.123456789' }, Decimal { value: '0' } ]",
    ),
];

#[tokio::test]
async fn rows_and_numbers_of_packages_are_shown_by_content() {
    let script = Script::new(PACKAGES);
    std::os::unix::fs::symlink(toolchains().await, script.folder().join("node_modules")).unwrap();
    let (session, _) = script.stopped_at("here").await;
    for (expression, expected) in OF_PACKAGES {
        let arguments = json!({ "expression": expression, "maxLength": 400 });
        let value = session.ok("evaluate_expression", arguments).await;
        assert_eq!(value.text_of("result"), *expected, "{expression}");
    }
    session.finish().await;
}
