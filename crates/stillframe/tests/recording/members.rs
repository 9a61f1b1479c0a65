//! Members of enumerations, and other values that have attributes beside what they are.

use serde_json::json;
use test_support::{Fixture, toolchains};

use crate::recorder::{Client, at, has, pythons, written};

const MEMBERS: &str = "\
import enum
from http import HTTPStatus


class Planet(enum.Enum):
    EARTH = (10, 2)
    MARS = (4, 1)

    def __init__(self, mass, radius):
        self.mass, self.visits, self.log = mass, 0, []

    def visit(self, name):
        self.visits += 1  # @visited
        self.log.append(name)  # @logged
        return self


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5
    TOP = 9


class Right(enum.IntFlag):
    READ = 1
    WRITE = 2


class Kind(str, enum.Enum):
    SMALL = 'small'
    LARGE = 'large'


class Color(enum.Enum):
    RED = 'red'


class Token(tuple):
    def child(self, name):
        new = Token(self + (name,))
        new.parent = self  # @parent
        return new


class Raw(bytes):
    pass


def check(status, level, kind, color, code):
    return status, level, kind, color, code  # @checked


last = [planet.visit('a') for planet in [Planet.EARTH, Planet.MARS, Planet.EARTH]][-1]
right = Right.READ
right |= Right.WRITE  # @granted
right &= ~Right.READ  # @revoked
lowest = Level.LOW
root = Token()
leaf = root.child('b').child('c')
leaf.note = 'first'
leaf.note = 'second'  # @noted
raw = Raw(b'x')
raw.encoding = 'utf8'  # @encoded
check(HTTPStatus.NOT_FOUND, Level.HIGH, Kind.LARGE, Color.RED, 404)
";

#[tokio::test]
async fn members_and_tuples_have_attributes_and_members_are_what_their_class_derives_from() {
    let (_folder, program) = written("main.py", MEMBERS);
    for (python, native) in pythons().iter().flat_map(|python| [(python, "1"), (python, "0")]) {
        let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        for (condition, marker) in [
            ("self.visits > 1", "visited"),
            ("len(self.log) == 2 and self.mass == 10", "logged"),
            ("right == 3", "granted"),
            ("right == 2 and right < Right.WRITE + 1", "revoked"),
            ("new.parent is not None and len(new) == 2", "parent"),
            ("leaf.note == 'second' and leaf[1] == 'c' and len(leaf) == 2", "noted"),
            ("leaf.parent[0] == 'b' and all(part in ('b', 'c') for part in leaf)", "noted"),
            ("raw.encoding == 'utf8'", "encoded"),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after "]);
            if !condition.starts_with("leaf.parent") {
                has(&first, &[&at(&program, marker)]);
            }
        }
        let called = |condition: &str| json!({ "condition": condition, "function": "check" });
        for condition in [
            "status == 404",
            "status >= 400 and status // 100 == 4",
            "code == HTTPStatus.NOT_FOUND",
            "level > 2",
            "level == 5 and level == Level.HIGH and level.value == 5",
            "level > Level.LOW",
            "kind == 'large' and kind.startswith('la') and len(kind) == 5",
            "color == Color.RED and color.value == 'red' and color != 'red'",
        ] {
            let first = client.ask("find_first", called(condition)).await;
            has(&first, &["first holds when a call begins"]);
        }
        for condition in ["level == Level.LOW", "color == 'red'", "kind == 'small'", "status < 400"] {
            let never = client.ask("find_first", called(condition)).await;
            has(&never, &["never holds"]);
            assert!(!never.contains("may have held"), "{never}");
        }
        // This one was no value in the run.
        let unknown = client.ask("find_first", called("level > Level.TOP")).await;
        has(&unknown, &["never holds", "Only the text is recorded for `Level`, so it may have held"]);
        let writes = client.ask("find_writes", json!({ "target": "last.visits" })).await;
        has(&writes, &["`last.visits` is 2 ", "Planet.EARTH.visits: 1 → 2 by ", &at(&program, "visited")]);
        let state = client.ask("state_at", json!({ "at": "end" })).await;
        has(&state, &["leaf = Token('b', 'c', parent=Token('b', parent="]);
        has(&state, &["raw = Raw(b'x', encoding='utf8')"]);
        client.server.finish().await;
    }
}

const IMPORTED: &str = "\
import { Order, Status } from './order.ts';

function close(order: Order) {
  order.status = order.open === 0 ? Status.Paid : Status.Void; // @closed
}

const order = new Order();
close(order);
console.log(order.status === Status.Void);
";

const ORDER: &str = "\
export enum Status { Open, Paid = 5, Void = 'void' }

export class Order {
  status: Status = Status.Open;
  open = 2;
}
";

#[tokio::test]
async fn an_enumeration_that_a_compiler_imports_by_another_name_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    std::fs::write(folder.path().join("order.ts"), ORDER).unwrap();
    let program = Fixture::write(folder.path(), "main.ts", IMPORTED);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "true"]);
    let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
    let void = first("order.status === Status.Void").await;
    has(&void, &["`Status` is `Object #", ", the only one in the run", &at(&program, "closed"), "→ 'void'"]);
    has(&first("order.status === Status.Paid").await, &["never holds"]);
    has(&first("order.open > open").await, &["never holds", "none of these has a variable `open`"]);
    client.server.finish().await;
}
