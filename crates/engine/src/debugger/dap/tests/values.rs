//! Scopes and variables.

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::Quirks;
use crate::debugger::Debugger;
use crate::model::ids::RawId;
use crate::model::stack::ScopeKind;
use crate::model::variable::{Children, Expansion, Page};

pub(super) fn page(start: u64, count: u64) -> Page {
    Page { start, count, special: false, internals: false }
}

fn numbered(range: std::ops::Range<u64>) -> Json {
    let variable =
        |number: u64| json!({ "name": format!("[{number}]"), "value": number.to_string(), "type": "int" });
    json!({ "variables": range.map(variable).collect::<Vec<_>>() })
}

fn names(children: &Children<RawId>) -> Vec<&str> {
    children.variables.iter().map(|variable| variable.name.as_str()).collect()
}

/// Reads the children of a reference: what is asked of the adapter, and what comes of its answer.
pub(super) async fn read(
    scene: &mut Scene,
    reference: i64,
    page: Page,
    answer: Json,
) -> (Json, Children<RawId>) {
    let served = scene.peer.serve("variables", answer);
    let (children, asked) = tokio::join!(scene.debugger.variables(RawId(reference), page, 100), served);
    (asked, children.unwrap())
}

/// A scope of number 2 whose only variable, of number 5, has this many children.
async fn with_list(counts: Json) -> Scene {
    let mut scene = Scene::offering(json!({})).await;
    let mut list = json!({ "name": "list", "value": "int[100]", "variablesReference": 5 });
    list.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
    read(&mut scene, 2, page(0, 10), json!({ "variables": [list] })).await;
    scene
}

#[tokio::test(start_paused = true)]
async fn indexed_children_are_requested_in_pages() {
    let mut scene = with_list(json!({ "indexedVariables": 100 })).await;
    let (asked, children) = read(&mut scene, 5, page(40, 3), numbered(40..43)).await;
    assert_eq!(asked, json!({ "variablesReference": 5, "filter": "indexed", "start": 40, "count": 3 }));
    assert_eq!(names(&children), ["[40]", "[41]", "[42]"]);
    assert_eq!((children.start, children.total, children.hidden), (40, 100, 0));
    let (_, children) = read(&mut scene, 5, page(98, 10), numbered(98..100)).await;
    assert_eq!(names(&children), ["[98]", "[99]"]);
}

/// As debugpy ignores `start` and `count`.
#[tokio::test(start_paused = true)]
async fn unpaged_children_are_truncated_locally() {
    let mut scene = with_list(json!({ "indexedVariables": 100 })).await;
    let (_, children) = read(&mut scene, 5, page(40, 2), numbered(0..100)).await;
    assert_eq!(names(&children), ["[40]", "[41]"]);
    assert_eq!((children.start, children.total), (40, 100));
}

#[tokio::test(start_paused = true)]
async fn uncounted_children_are_requested_all_at_once() {
    for counts in [json!({}), json!({ "namedVariables": 100 }), json!({ "indexedVariables": 0 })] {
        let mut scene = with_list(counts).await;
        let (asked, children) = read(&mut scene, 5, page(2, 2), numbered(0..9)).await;
        assert_eq!(asked, json!({ "variablesReference": 5 }));
        assert_eq!(names(&children), ["[2]", "[3]"]);
        assert_eq!((children.start, children.total), (2, 9));
    }
}

/// js-debug has the length of an array beside its elements; all elements of a long one are more than it can send.
#[tokio::test(start_paused = true)]
async fn indexed_and_named_children_form_one_paged_list() {
    let mut scene = with_list(json!({ "indexedVariables": 100, "namedVariables": 1 })).await;
    let (asked, children) = read(&mut scene, 5, page(0, 2), numbered(0..2)).await;
    assert_eq!(asked, json!({ "variablesReference": 5, "filter": "indexed", "start": 0, "count": 2 }));
    assert_eq!((names(&children), children.total), (vec!["[0]", "[1]"], 101));
    let named = json!({ "variables": [{ "name": "length", "value": "100" }] });
    let served = async {
        let indexed = scene.peer.serve("variables", numbered(99..100)).await;
        assert_eq!(indexed, json!({ "variablesReference": 5, "filter": "indexed", "start": 99, "count": 1 }));
        assert_eq!(
            scene.peer.serve("variables", named.clone()).await,
            json!({ "variablesReference": 5, "filter": "named" })
        );
    };
    let (children, ()) = tokio::join!(scene.debugger.variables(RawId(5), page(99, 10), 10), served);
    let children = children.unwrap();
    assert_eq!((names(&children), children.start, children.total), (vec!["[99]", "length"], 99, 101));
    let (asked, children) = read(&mut scene, 5, page(100, 10), named).await;
    assert_eq!(asked, json!({ "variablesReference": 5, "filter": "named" }));
    assert_eq!((names(&children), children.start, children.total), (vec!["length"], 100, 101));
}

#[tokio::test(start_paused = true)]
async fn texts_are_truncated_at_character_boundaries() {
    let mut scene = Scene::offering(json!({})).await;
    let value = |value: &str| json!({ "variables": [{ "name": "x", "value": value, "type": "str" }] });
    let table =
        [("éxyz", 2, "éx...", Some(4)), ("éx", 2, "éx", None), ("", 0, "", None), ("éx", 0, "...", Some(2))];
    for (text, limit, expected, length) in table {
        let served = scene.peer.serve("variables", value(text));
        let (children, _) = tokio::join!(scene.debugger.variables(RawId(9), page(0, 1), limit), served);
        let shown = children.unwrap().variables.remove(0).value;
        assert_eq!((shown.text.as_str(), shown.cut, shown.length), (expected, length.is_some(), length));
        assert_eq!((shown.type_name.as_str(), shown.reference, shown.children), ("str", None, None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_with_children_has_a_reference_and_a_count() {
    let mut scene = Scene::offering(json!({})).await;
    let variables = json!({ "variables": [
        { "name": "p", "value": "point @ 0x7f", "type": "point", "variablesReference": 5, "namedVariables": 2 },
        { "name": "q", "value": "0x0", "variablesReference": 6 },
        { "name": "return", "value": "1", "presentationHint": { "kind": "virtual" } },
        { "name": null, "value": 7, "type": null, "variablesReference": null },
    ] });
    let (_, children) = read(&mut scene, 2, page(0, 10), variables).await;
    let shown: Vec<_> = children
        .variables
        .iter()
        .map(|shown| (shown.name.as_str(), shown.value.reference, shown.value.children, shown.special))
        .collect();
    let expected = [
        ("p", Some(RawId(5)), Some(2), false),
        ("q", Some(RawId(6)), None, false),
        ("return", None, None, true),
        ("", None, None, false),
    ];
    assert_eq!(shown, expected);
}

#[tokio::test(start_paused = true)]
async fn scopes_are_classified_by_hint_or_name() {
    let mut scene = Scene::offering(json!({})).await;
    let scopes = json!({ "scopes": [
        { "name": "Registers", "presentationHint": "registers", "variablesReference": 1, "expensive": true },
        { "name": "Arguments", "presentationHint": "arguments", "variablesReference": 2 },
        { "name": "Local", "variablesReference": 3 },
        { "name": "Global: main", "variablesReference": 4 },
        { "name": "Statics", "presentationHint": "globals", "variablesReference": 5 },
        { "name": "Closure", "variablesReference": 6 },
    ] });
    let served = scene.peer.serve("scopes", scopes);
    let (scopes, asked) = tokio::join!(scene.debugger.scopes(RawId(4)), served);
    assert_eq!(asked, json!({ "frameId": 4 }));
    let observed: Vec<_> =
        scopes.unwrap().into_iter().map(|scope| (scope.kind, scope.reference.0, scope.expensive)).collect();
    let expected = [
        (ScopeKind::Other, 1, true),
        (ScopeKind::Locals, 2, false),
        (ScopeKind::Locals, 3, false),
        (ScopeKind::Globals, 4, false),
        (ScopeKind::Globals, 5, false),
        (ScopeKind::Other, 6, false),
    ];
    assert_eq!(observed, expected);
}

#[tokio::test(start_paused = true)]
async fn locals_are_the_first_local_scope() {
    let mut scene = Scene::offering(json!({})).await;
    let registers = json!({ "name": "Registers", "presentationHint": "registers", "variablesReference": 1 });
    let served = async {
        let scopes = json!({ "scopes": [registers, { "name": "Local", "variablesReference": 2 }] });
        scene.peer.serve("scopes", scopes).await;
        assert_eq!(scene.peer.serve("variables", numbered(0..1)).await, json!({ "variablesReference": 2 }));
        scene.peer.serve("scopes", json!({ "scopes": [registers] })).await;
    };
    let arguments = async {
        let read = |frame| scene.debugger.locals(RawId(frame), page(0, 10), 10, Expansion::NONE);
        let locals = read(4).await.unwrap();
        assert_eq!((locals.scope.as_str(), names(&locals.variables)), ("Local", vec!["[0]"]));
        let error = read(5).await.unwrap_err();
        assert_eq!(error.code(), "unsupported", "a frame of machine code");
    };
    tokio::join!(served, arguments);
}

/// As GDB 16 answers.
#[tokio::test(start_paused = true)]
async fn arguments_and_local_variables_are_one_list() {
    let mut scene = Scene::offering(json!({})).await;
    let scopes = json!({ "scopes": [
        { "name": "Arguments", "presentationHint": "arguments", "variablesReference": 1 },
        { "name": "Locals", "presentationHint": "locals", "variablesReference": 2 },
        { "name": "Registers", "presentationHint": "registers", "variablesReference": 3 },
    ] });
    for (wanted, expected) in
        [(page(0, 10), vec!["[0]", "[1]", "[7]", "[8]"]), (page(1, 2), vec!["[1]", "[7]"])]
    {
        let served = async {
            // The scopes of a frame are asked for once.
            if wanted.start == 0 {
                scene.peer.serve("scopes", scopes.clone()).await;
            }
            scene.peer.serve("variables", numbered(0..2)).await;
            scene.peer.serve("variables", numbered(7..9)).await;
        };
        let read = scene.debugger.locals(RawId(4), wanted, 10, Expansion::NONE);
        let (locals, ()) = tokio::join!(read, served);
        let locals = locals.unwrap();
        assert_eq!((locals.scope.as_str(), names(&locals.variables)), ("Locals", expected));
        assert_eq!(locals.variables.total, 4);
    }
}

/// lldb-dap 19: 1 is the locals of the frame whose scopes were requested last.
mod of_one_frame {
    use super::*;

    const QUIRKS: Quirks = Quirks { scopes_of_one_frame: true, ..Quirks::NONE };

    async fn scene() -> Scene {
        Scene::running(PeerOptions { quirks: &QUIRKS, ..PeerOptions::default() }).await
    }

    fn answer() -> Json {
        json!({ "scopes": [{ "name": "Locals", "presentationHint": "locals", "variablesReference": 1 },
                           { "name": "Globals", "variablesReference": 2 }] })
    }

    /// The references of a frame's two scopes.
    async fn scopes(scene: &mut Scene, frame: i64) -> [RawId; 2] {
        let served = scene.peer.serve("scopes", answer());
        let (scopes, asked) = tokio::join!(scene.debugger.scopes(RawId(frame)), served);
        assert_eq!(asked, json!({ "frameId": frame }));
        let scopes: Vec<_> = scopes.unwrap().into_iter().map(|scope| scope.reference).collect();
        scopes.try_into().unwrap()
    }

    /// Reads a scope, for which the adapter is asked for the scopes of `frame` first, if any.
    async fn read(scene: &mut Scene, scope: RawId, frame: Option<i64>, number: i64) {
        let served = async {
            if let Some(frame) = frame {
                assert_eq!(scene.peer.serve("scopes", answer()).await, json!({ "frameId": frame }));
            }
            let arguments = scene.peer.serve("variables", json!({ "variables": [] })).await;
            assert_eq!(arguments, json!({ "variablesReference": number }));
        };
        tokio::join!(scene.debugger.variables(scope, page(0, 10), 10), served).0.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn scopes_are_requested_again_after_another_frame_was_read() {
        let mut scene = scene().await;
        let [locals, globals] = scopes(&mut scene, 10).await;
        read(&mut scene, locals, None, 1).await;
        let [callers, _] = scopes(&mut scene, 11).await;
        assert!(locals != callers && locals.0 < 0 && callers.0 < 0, "{locals:?} {callers:?}");
        read(&mut scene, callers, None, 1).await;
        read(&mut scene, globals, Some(10), 2).await;
        read(&mut scene, locals, None, 1).await;
        read(&mut scene, callers, Some(11), 1).await;
        assert_eq!(scopes(&mut scene, 10).await, [locals, globals], "the same ones keep their numbers");
    }

    #[tokio::test(start_paused = true)]
    async fn an_evaluation_can_change_the_selected_frame() {
        let mut scene = scene().await;
        let [locals, _] = scopes(&mut scene, 10).await;
        let served = scene.peer.serve("evaluate", json!({ "result": "1" }));
        let evaluated = scene.debugger.evaluate(super::super::evaluating::asking("x"));
        tokio::join!(evaluated, served).0.unwrap();
        read(&mut scene, locals, Some(10), 1).await;
    }

    /// The numbers are given away again at the next stop.
    #[tokio::test(start_paused = true)]
    async fn a_scope_of_an_earlier_stop_is_stale() {
        let mut scene = scene().await;
        let [locals, _] = scopes(&mut scene, 10).await;
        tokio::join!(scene.debugger.resume(RawId(1)), scene.peer.serve("continue", json!({}))).0.unwrap();
        let error = scene.debugger.variables(locals, page(0, 10), 10).await.unwrap_err();
        assert_eq!(error.to_string(), "the scope is gone");
        scene.assert_quiet().await;
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_scope_requests_wait_for_each_other() {
        let mut scene = scene().await;
        let [locals, _] = scopes(&mut scene, 10).await;
        scopes(&mut scene, 11).await;
        let debugger = scene.debugger.clone();
        let served = async {
            let first = scene.peer.take("scopes").await;
            assert_eq!(first["arguments"], json!({ "frameId": 10 }));
            scene.peer.answer(&first, answer()).await;
            scene.peer.serve("variables", json!({ "variables": [] })).await;
            assert_eq!(scene.peer.serve("scopes", answer()).await, json!({ "frameId": 12 }));
        };
        let (read, listed, ()) =
            tokio::join!(debugger.variables(locals, page(0, 10), 10), debugger.scopes(RawId(12)), served);
        assert!(read.is_ok() && listed.is_ok());
    }
}
