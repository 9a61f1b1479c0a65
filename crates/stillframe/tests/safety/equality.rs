//! What is equal in a program that must not be asked.

use serde_json::json;
use test_support::DynamicLanguage as Language;

use crate::{Scene, serve, stopped_at};

const PYTHON: &str = r#"
import collections, dataclasses, enum
record = []

class Meta(type):
    def __eq__(cls, other): record.append("meta eq"); return True
    def __hash__(cls): record.append("meta hash"); return 1

class Odd(metaclass=Meta): pass
class Plain: pass
class Color(enum.Enum): RED = 1
class Number(enum.IntEnum): ONE = 1
class Word(str): pass
class Hashed(str):
    def __hash__(self): record.append("hash"); return 1
class Loud:
    def __eq__(self, other): record.append("eq"); return True
    def __hash__(self): record.append("hash"); return 1
class Unequal:
    def __ne__(self, other): record.append("ne"); return True
@dataclasses.dataclass(frozen=True)
class Point:
    x: object
Pair = collections.namedtuple("Pair", "one two")

def work():
    plain, other, loud, unequal, nan = Plain(), Plain(), Loud(), Unequal(), float("nan")
    point, pair = Point(loud), Pair(1, plain)
    named = {"b": 1, plain: 2, Color.RED: 3, (1, plain): 4, Number.ONE: 5, Word("w"): 6}
    points, louds, hashed = {"b": 1, point: 2}, {"b": 1, loud: 2}, {Hashed("b"): 1}
    del record[:]
    return plain
work()
"#;

/// Equality is decided without running the program's code, including `__hash__`.
#[tokio::test]
async fn values_equal_only_to_themselves_are_compared() {
    let scene = Scene::new();
    let program = scene.program(Language::Python, "equality", PYTHON);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let line = PYTHON.lines().position(|line| line.contains("    return plain")).unwrap() + 1;
    let id = stopped_at(&server, Language::Python, &program, u32::try_from(line).unwrap()).await;
    let evaluate = async |expression: &str| {
        server.call("evaluate_expression", json!({ "sessionId": id, "expression": expression })).await
    };
    let reported = [
        ("named['b']", "1"),
        ("named[plain]", "2"),
        ("named[Color.RED]", "3"),
        ("named[(1, plain)]", "4"),
        ("named[1.0]", "5"),
        ("named['w']", "6"),
        ("points['b'] + points[point] + louds['b'] + louds[loud]", "6"),
        ("'z' in named", "False"),
        ("other in named", "False"),
        ("plain in [1, plain]", "True"),
        ("1 in [plain, Color.RED]", "False"),
        ("1 in [loud, 1]", "True"),
        ("loud in [loud]", "True"),
        ("loud in []", "False"),
        ("Odd in [Odd]", "True"),
        ("nan in [nan]", "True"),
        ("[nan] == [nan]", "True"),
        ("nan == nan", "False"),
        ("plain == plain", "True"),
        ("plain == other", "False"),
        ("plain != 1", "True"),
        ("Color.RED == 1", "False"),
        ("Number.ONE == 1", "True"),
        ("type(Color.RED) == Color", "True"),
        ("pair == (1, plain)", "True"),
        ("[plain, 1] == [other, 1]", "False"),
        ("[loud, 1] == [1, 2]", "False"),
        ("named == named", "True"),
        ("louds == {}", "False"),
        ("unequal == 1", "False"),
    ];
    for (expression, expected) in reported {
        let answer = evaluate(expression).await;
        assert_eq!(answer["result"], expected, "{expression}: {}", answer.text);
    }
    let refused = [
        ("louds['z']", "`__eq__` of `Loud`"),
        ("points['z']", "`__eq__` of `Point`"),
        ("hashed['b']", "`__hash__` of `Hashed`"),
        ("1 in [loud]", "`__eq__` of `Loud`"),
        ("loud in [1]", "`__eq__` of `Loud`"),
        ("loud == loud", "`__eq__` of `Loud`"),
        ("[loud] == [1]", "`__eq__` of `Loud`"),
        ("1 != unequal", "`__ne__` of `Unequal`"),
        ("Odd == int", "`__eq__` of `Meta`"),
    ];
    for (expression, needed) in refused {
        let answer = evaluate(expression).await;
        assert!(answer.is_error && answer.text.contains(needed), "{expression}: {}", answer.text);
        assert!(answer.text.contains("nothing was changed"), "{expression}: {}", answer.text);
    }
    let missing = evaluate("named[other]").await;
    assert!(missing.text.contains("KeyError") && missing.text.contains("<Plain object>"), "{}", missing.text);
    assert_eq!(evaluate("record").await["result"], "[]");
    server.finish().await;
}
