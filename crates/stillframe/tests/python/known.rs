//! Values of well-known types, of which nothing is run.

use serde_json::json;

use crate::debugging::Debugging;
use crate::script::Script;

/// Expressions and what they are shown as.
type Table<'a> = &'a [(&'a str, &'a str)];

async fn shows(session: &Debugging, table: Table<'_>) {
    for (expression, expected) in table {
        let asked = json!({ "expression": expression, "maxLength": 400 });
        let value = session.ok("evaluate_expression", asked).await;
        assert_eq!(value.text_of("result"), *expected, "{expression}");
    }
    assert_eq!(session.evaluate("runs").await, "[]", "something of the program's was run");
}

const STANDARD: &str = "\
import array, collections, dataclasses, datetime, decimal, enum, fractions, pathlib, re, types, typing, uuid

runs = []


class Watched:
    def __getattribute__(self, name):
        runs.append(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        raise AttributeError(name)


class Color(enum.Enum):
    RED = 1


class Mode(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Point(Watched):
    x: int
    y: object = None
    cache: list = dataclasses.field(default_factory=list, repr=False)
    kind: typing.ClassVar[str] = 'point'


@dataclasses.dataclass
class Named:
    name: str

    def __repr__(self):
        return f'<{self.name}>'


class Zone(datetime.tzinfo):
    pass


Pair = collections.namedtuple('Pair', 'left right')
ring = Point(1)
ring.__dict__['y'] = ring
runs.clear()
many = array.array('i', range(1000000))
stop = True  # @here
";

const OF_THE_LIBRARY: Table<'static> = &[
    ("datetime.date(2026, 1, 2)", "datetime.date(2026, 1, 2)"),
    ("datetime.datetime(2026, 1, 2, 3, 4)", "datetime.datetime(2026, 1, 2, 3, 4)"),
    (
        "datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)",
        "datetime.datetime(2026, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)",
    ),
    ("datetime.timedelta(hours=1)", "datetime.timedelta(seconds=3600)"),
    ("decimal.Decimal('1.50')", "Decimal('1.50')"),
    ("fractions.Fraction(1, 2)", "Fraction(1, 2)"),
    ("pathlib.PurePosixPath('/a') / 'b'", "PurePosixPath('/a/b')"),
    ("uuid.UUID(int=5)", "UUID('00000000-0000-0000-0000-000000000005')"),
    ("Color.RED", "<Color.RED: 1>"),
    ("Mode.READ | Mode.WRITE", "<Mode.READ|WRITE: 3>"),
    ("[Level.LOW]", "[<Level.LOW: 1>]"),
    ("Point(1, [Point('a')])", "Point(x=1, y=[Point(x='a', y=None)])"),
    ("ring", "Point(x=1, y=Point(...))"),
    ("Named('own')", "<own>"),
    ("Pair(1, right='b')", "Pair(left=1, right='b')"),
    ("collections.deque([1, 2])", "deque([1, 2])"),
    ("collections.defaultdict(list, a=[1])", "defaultdict(<class 'list'>, {'a': [1]})"),
    ("collections.OrderedDict(a=1)", "OrderedDict({'a': 1})"),
    ("collections.Counter('aab')", "Counter({'a': 2, 'b': 1})"),
    ("array.array('d', [1.5])", "array('d', [1.5])"),
    ("bytearray(b'ab')", "bytearray(b'ab')"),
    ("range(3)", "range(0, 3)"),
    ("re.compile('a+')", "re.compile('a+')"),
    ("{1: 2}.items()", "dict_items([(1, 2)])"),
    ("types.SimpleNamespace(a=1)", "namespace(a=1)"),
];

#[tokio::test]
async fn values_of_the_standard_library_are_shown_as_their_users_know_them() {
    let (session, _) = Script::new(STANDARD).stopped_at("here").await;
    shows(&session, OF_THE_LIBRARY).await;
    let many = session.evaluate("many").await;
    assert!(many.starts_with("array('i', [0, 1, 2, "), "{many}");
    assert!(many.ends_with(", ...])"), "{many}");
    session.finish().await;
}
