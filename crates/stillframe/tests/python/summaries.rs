//! Values of well-known types, of which nothing is run.

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, with_packages};

/// Expressions and what they are shown as.
type Table<'a> = &'a [(&'a str, &'a str)];

async fn shows(session: &Debugging, table: Table<'_>) {
    for (expression, expected) in table {
        let arguments = json!({ "expression": expression, "maxLength": 400 });
        let value = session.ok("evaluate_expression", arguments).await;
        assert_eq!(value.text_of("result"), *expected, "{expression}");
    }
    assert_eq!(session.evaluate("runs").await, "[]", "something of the program's was run");
}

/// A program that runs where the packages are, stopped.
async fn stopped_with_packages(text: &str) -> (Debugging, Script) {
    let session = with_packages().await;
    let script = Script::new(text);
    session.break_at(&script, "here").await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("here")), "{}", stopped.text);
    (session, script)
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
    ("[collections.deque([1, 2], maxlen=3)]", "[deque([1, 2], maxlen=3)]"),
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
async fn standard_library_values_are_summarized() {
    let (session, _) = Script::new(STANDARD).stopped_at("here").await;
    shows(&session, OF_THE_LIBRARY).await;
    let many = session.evaluate("many").await;
    assert!(many.starts_with("array('i', [0, 1, 2, "), "{many}");
    assert!(many.ends_with(", ...])"), "{many}");
    session.finish().await;
}

const TABLES: &str = "\
import numpy, pandas

runs = []


class Cell:
    def __repr__(self):
        runs.append('repr')
        return 'a cell'


frame = pandas.DataFrame({
    'city': ['Berlin', 'Rome', None],
    'n': [1, 2, 3],
    'day': pandas.to_datetime(['2026-01-01', '2026-01-02', None]),
    'kind': pandas.Categorical(['a', None, 'b']),
    'maybe': pandas.array([1, None, 3], dtype='Int64'),
})
long = pandas.DataFrame({'n': range(100)}, index=pandas.date_range('2026-01-01', periods=100))
zoned = pandas.Series(pandas.to_datetime(['2026-01-01']).tz_localize('Europe/Berlin'), name='at')
pairs = pandas.Series([1.5, 2.5], index=pandas.MultiIndex.from_tuples([('x', 1), ('y', 2)]))
grid = numpy.arange(12.0).reshape(3, 4)
holes = numpy.array([1.0, numpy.nan, 3.0])
cube = numpy.zeros((200, 100, 100), dtype='int16')
stop = True  # @here
";

const OF_TABLES: Table<'static> = &[
    (
        "frame",
        "DataFrame(shape=(3, 5), dtypes={'city': str, 'n': int64, 'day': datetime64[us], 'kind': category, \
         'maybe': Int64}, head={0: ('Berlin', 1, '2026-01-01T00:00:00', 'a', 1), 1: ('Rome', 2, \
         '2026-01-02T00:00:00', <NA>, <NA>), 2: (nan, 3, 'NaT', 'b', 3)})",
    ),
    ("frame['n']", "Series(name='n', shape=(3,), dtype=int64, head={0: 1, 1: 2, 2: 3})"),
    ("frame.columns", "Index(['city', 'n', 'day', 'kind', 'maybe'])"),
    ("long.head(2).index", "DatetimeIndex(['2026-01-01T00:00:00', '2026-01-02T00:00:00'])"),
    (
        "zoned",
        "Series(name='at', shape=(1,), dtype=datetime64[us, Europe/Berlin], head={0: '2025-12-31T23:00:00Z'})",
    ),
    ("pairs", "Series(shape=(2,), dtype=float64, head={('x', 1): 1.5, ('y', 2): 2.5})"),
    (
        "grid",
        "ndarray(shape=(3, 4), dtype=float64, min=0.0, max=11.0, [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], \
         [8.0, 9.0, 10.0, 11.0]])",
    ),
    ("holes", "ndarray(shape=(3,), dtype=float64, min=1.0, max=3.0, [1.0, nan, 3.0])"),
    ("numpy.arange(100)", "ndarray(shape=(100,), dtype=int64, min=0, max=99, [0, 1, 2, 3, 4, 5, ...])"),
    ("[numpy.float32(1.5)]", "[np.float32(1.5)]"),
];

#[tokio::test]
async fn tables_and_arrays_are_summarized_by_shape_types_and_first_values() {
    let (session, _folder) = stopped_with_packages(TABLES).await;
    shows(&session, OF_TABLES).await;
    // There are too many of them to look for the smallest.
    let cube = session.evaluate("cube").await;
    assert!(cube.starts_with("ndarray(shape=(200, 100, 100), dtype=int16, [[[0, 0, ...], "), "{cube}");
    // What the program puts into a table is shown as everywhere.
    assert_eq!(
        session.evaluate("pandas.Series([Cell()], dtype=object)").await,
        "Series(shape=(1,), dtype=object, head={0: a cell})"
    );
    session.finish().await;
}

const MODELS: &str = "\
import attrs, django, pydantic, sqlalchemy
from django.conf import settings
from sqlalchemy import orm

settings.configure(DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}})
django.setup()
from django.db import models

runs = []


class User(pydantic.BaseModel, extra='allow'):
    id: int
    tags: list = []

    def __getattr__(self, name):
        runs.append(name)
        raise AttributeError(name)


@attrs.define
class Point:
    x: int
    cache: list = attrs.field(factory=list, repr=False)


class Base(orm.DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = 'orders'
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]
    lines: orm.Mapped[list['Line']] = orm.relationship()


class Line(Base):
    __tablename__ = 'lines'
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    order_id: orm.Mapped[int] = orm.mapped_column(sqlalchemy.ForeignKey('orders.id'))


class Shop(models.Model):
    name = models.CharField(max_length=10)

    class Meta:
        app_label = 'shops'

    def __str__(self):
        runs.append('str')
        return 'a shop'


engine = sqlalchemy.create_engine('sqlite://')
Base.metadata.create_all(engine)
session = orm.Session(engine)
expired = Order(id=1, name='tea')
session.add(expired)
session.commit()
order = orm.Session(engine).get(Order, 1)
row = session.execute(sqlalchemy.select(Order.id, Order.name)).first()
query = sqlalchemy.select(Order).where(Order.id == 1)
shops = Shop.objects.filter(name='x')
runs.clear()
stop = True  # @here
";

const OF_MODELS: Table<'static> = &[
    ("User(id=1, tags=['a'], more=2)", "User(id=1, tags=['a'], more=2)"),
    ("Point(1)", "Point(x=1)"),
    ("order", "Order(id=1, name='tea', lines=<not loaded>)"),
    ("row", "Row(id=1, name='tea')"),
    ("query", "<Select: evaluate str() of it to see the SQL>"),
    ("Shop(name='x')", "Shop(id=None, name='x')"),
    ("shops", "<QuerySet of Shop: not evaluated>"),
    // Another look at it would have loaded it.
    ("expired", "Order(id=<not loaded>, name=<not loaded>, lines=<not loaded>)"),
];

#[tokio::test]
async fn models_and_rows_are_summarized_by_fields_without_loading_any() {
    let (session, _folder) = stopped_with_packages(MODELS).await;
    shows(&session, OF_MODELS).await;
    session.finish().await;
}
