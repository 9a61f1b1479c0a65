//! Objects in depth, in pages, and in circles.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, dynamic};

use crate::client::{ToolClient, named};

dynamic![
    an_object_is_expanded_level_by_level_with_types,
    a_long_list_is_counted_and_paged,
    cyclic_objects_are_marked,
    a_released_object_is_distinguished_from_an_unknown_one,
];

const TREE: Dynamic = Dynamic {
    python: "\
leaf = {'word': 'deep'}
tree = {'name': 'root', 'list': [1, leaf]}
tree['self'] = tree
many = list(range(250))
print(tree)  # @here
print(many)  # @next
",
    node: "\
const leaf = { word: 'deep' };
const tree = { name: 'root', list: [1, leaf] };
tree.self = tree;
const many = Array.from({ length: 250 }, (_, at) => at);
console.log(tree); // @here
console.log(many); // @next
",
};

/// What a key of an object is called.
fn key(language: Language, name: &str) -> String {
    language.pick(format!("'{name}'").as_str(), name).to_owned()
}

async fn object(client: &ToolClient, expression: &str) -> Value {
    client.ok("inspect", json!({ "expression": expression })).await["objectId"].clone()
}

async fn an_object_is_expanded_level_by_level_with_types(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, TREE, "here").await;
    let tree = object(&client, "tree").await;
    let flat = client.ok("inspect_object", json!({ "objectId": tree, "maxDepth": 1 })).await;
    assert_eq!((&flat["maxDepth"], &flat["total"]), (&json!(1), &json!(3)));
    assert_eq!(named(&flat["properties"], &key(language, "list"))["properties"], Value::Null);
    let two = client.ok("inspect_object", json!({ "objectId": tree })).await;
    let list = named(&two["properties"], &key(language, "list"));
    let name = language.pick("type", "className");
    assert_eq!((&list[name], &list["propertyCount"]), (&json!(language.words().list), &json!(2)));
    assert_eq!(
        (&list["properties"][0]["value"], &list["properties"][1]["properties"]),
        (&json!(1), &Value::Null)
    );
    let deep = client.ok("inspect_object", json!({ "objectId": tree, "maxDepth": 3 })).await;
    let list = named(&deep["properties"], &key(language, "list"));
    let word = &list["properties"][1]["properties"][0];
    assert_eq!((&word["value"], &word["type"]), (&json!("deep"), &json!(language.words().string)));
    let inner = client.ok("inspect_object", json!({ "objectId": list["objectId"] })).await;
    assert_eq!(inner["total"], 2, "what is inside has an id of its own");
    client.finish().await;
}

async fn a_long_list_is_counted_and_paged(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, TREE, "here").await;
    let many = object(&client, "many").await;
    let mut found = Vec::new();
    let mut start = json!(0);
    while !start.is_null() {
        let page = client.ok("inspect_object", json!({ "objectId": many, "start": start })).await;
        assert_eq!(page["total"], 250);
        found.extend(page["properties"].as_array().unwrap().iter().map(|one| one["value"].as_u64().unwrap()));
        start = page["nextStart"].clone();
    }
    assert_eq!(found, (0..250).collect::<Vec<u64>>());
    client.finish().await;
}

async fn cyclic_objects_are_marked(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, TREE, "here").await;
    let tree = object(&client, "tree").await;
    let opened = client.ok("inspect_object", json!({ "objectId": tree, "maxDepth": 5 })).await;
    let itself = named(&opened["properties"], &key(language, "self"));
    assert_eq!((&itself["circular"], &itself["properties"]), (&json!(1), &Value::Null));
    let list = named(&opened["properties"], &key(language, "list"));
    assert_eq!(list["circular"], Value::Null);
    client.finish().await;
}

async fn a_released_object_is_distinguished_from_an_unknown_one(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, TREE, "here").await;
    let tree = object(&client, "tree").await;
    client.step("step_over").await;
    let gone = client.fails("OBJECT_NOT_FOUND", "inspect_object", json!({ "objectId": tree })).await;
    assert_eq!(gone.at("/context/cause"), "object_released");
    assert!(gone.text_of("message").contains("belongs to an earlier stop"), "{}", gone.text);
    for wrong in ["9999", "tree"] {
        let never = client.fails("OBJECT_NOT_FOUND", "inspect_object", json!({ "objectId": wrong })).await;
        assert_eq!(never.at("/context/cause"), "object_not_found");
    }
    client.finish().await;
}
