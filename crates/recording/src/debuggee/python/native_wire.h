/* What everything is written to, and what the native code knows of the recorder. Part of record_native.c. */

/* -- fields of objects of the Python code ------------------------------------------------------------------------- */

static struct {
    Py_ssize_t owner, number, code, pending, known, caller, returned;
} activation_at;
static struct { Py_ssize_t top, number; } thread_at;
static struct { Py_ssize_t number, lines, arguments, is_module, code, keeps; } code_at;
static struct { Py_ssize_t names, shared, paths, slots, below, read, given, returned, early; } effects_at;
static struct { Py_ssize_t number, word, held, weak, kind, contents, own, length, shape; } known_at;
static struct { Py_ssize_t kind, name, dictionary, slots, is_weak, is_special, has_own; } shape_at;

static const struct { const char *class, *field; Py_ssize_t *at; } FIELDS[] = {
    {"Activation", "owner", &activation_at.owner}, {"Activation", "number", &activation_at.number},
    {"Activation", "code", &activation_at.code}, {"Activation", "pending", &activation_at.pending},
    {"Activation", "known", &activation_at.known}, {"Activation", "caller", &activation_at.caller},
    {"Activation", "returned", &activation_at.returned},
    {"Thread", "top", &thread_at.top}, {"Thread", "number", &thread_at.number},
    {"Code", "number", &code_at.number}, {"Code", "lines", &code_at.lines}, {"Code", "code", &code_at.code},
    {"Code", "arguments", &code_at.arguments}, {"Code", "is_module", &code_at.is_module},
    {"Code", "keeps", &code_at.keeps},
    {"Effects", "names", &effects_at.names}, {"Effects", "shared", &effects_at.shared},
    {"Effects", "paths", &effects_at.paths}, {"Effects", "slots", &effects_at.slots},
    {"Effects", "below", &effects_at.below}, {"Effects", "read", &effects_at.read}, {"Effects", "given", &effects_at.given},
    {"Effects", "returned", &effects_at.returned}, {"Effects", "early", &effects_at.early},
    {"Known", "number", &known_at.number}, {"Known", "word", &known_at.word}, {"Known", "held", &known_at.held},
    {"Known", "weak", &known_at.weak}, {"Known", "kind", &known_at.kind}, {"Known", "contents", &known_at.contents},
    {"Known", "own", &known_at.own}, {"Known", "length", &known_at.length}, {"Known", "shape", &known_at.shape},
    {"Shape", "kind", &shape_at.kind}, {"Shape", "name", &shape_at.name}, {"Shape", "is_weak", &shape_at.is_weak},
    {"Shape", "is_special", &shape_at.is_special}, {"Shape", "has_own", &shape_at.has_own},
    {"Shape", "dictionary", &shape_at.dictionary}, {"Shape", "slots", &shape_at.slots},
};

#define FIELD(object, at) (*(PyObject **)((char *)(object) + (at)))

static void set_field(PyObject *object, Py_ssize_t at, PyObject *value) /* takes the reference */
{
    PyObject *old = FIELD(object, at);
    FIELD(object, at) = value;
    Py_XDECREF(old);
}

/* An integer, most of which are small. */
static inline int64_t integer(PyObject *number)
{
#ifdef TRACES
    if (Py_ABS(Py_SIZE(number)) <= 1)
        return Py_SIZE(number) * (int64_t)((PyLongObject *)number)->ob_digit[0];
#else
    if (PyUnstable_Long_IsCompact((PyLongObject *)number))
        return PyUnstable_Long_CompactValue((PyLongObject *)number);
#endif
    return PyLong_AsLongLong(number);
}

static uint64_t number_in(PyObject *object, Py_ssize_t at)
{
    return (uint64_t)integer(FIELD(object, at));
}

/* What was found last of an object, a name, or a line, so that it need not be looked up. All but `value` is owned: that is only
   compared. */
enum { FOUND_BITS = 12 };
static struct { PyObject *value, *known; } found_objects[1 << FOUND_BITS];
static struct { PyObject *text; uint64_t number; } found_texts[1 << FOUND_BITS];
static struct { PyObject *code, *effects; uint64_t word; int line; } found_lines[1 << FOUND_BITS];

static inline size_t found_at(PyObject *object, unsigned extra)
{
    return ((uint64_t)(uintptr_t)object >> 4 ^ extra) * 0x9E3779B97F4A7C15u >> (64 - FOUND_BITS);
}

/* Forget what was found about lines, or everything. */
static void forget_found(int all)
{
    for (size_t at = 0; at < (size_t)1 << FOUND_BITS; at++) {
        Py_CLEAR(found_lines[at].code);
        Py_CLEAR(found_lines[at].effects);
        if (!all)
            continue;
        found_objects[at].value = NULL;
        Py_CLEAR(found_objects[at].known);
        Py_CLEAR(found_texts[at].text);
    }
}

/* Where a field of a class is, from the descriptor that `__slots__` has made. */
static int find_field(PyObject *class, const char *name, Py_ssize_t *at)
{
    PyObject *field = PyObject_GetAttrString(class, name);
    if (field == NULL)
        return -1;
    int found = Py_IS_TYPE(field, &PyMemberDescr_Type);
    if (found)
        *at = ((PyMemberDescrObject *)field)->d_member->offset;
    Py_DECREF(field);
    if (!found)
        PyErr_Format(PyExc_TypeError, "%s is not a slot", name);
    return found ? 0 : -1;
}

/* -- what is recorded --------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *dict, *texts;
    Py_buffer view;
    uint64_t *words;
    long long number;
    unsigned long long position, calls, objects, by;
} Wire;

/* Excludes other threads while changes are looked for; as `threading.RLock`. */
typedef struct {
    PyObject_HEAD
    unsigned long owner;
    int depth;
} Turn;

/* What a recorder uses, by `attach`. There is one recorder in a process; references are kept until the next one. */
static struct {
    int is_on;
    PyObject *recorder, *source, *heap, *codes;
    Wire *wire;
    Turn *turn;
    PyObject *known, *shapes, *texts, *floats, *tuples, *watched, *activation_type, *known_type, *missing;
    Py_ssize_t items, most_text, depth, extra;
    uint64_t identity;
    PyObject *thread;
} now;

/* Names of methods and so on. */
static struct {
    PyObject *leave, *word, *check, *fail, *thread, *code, *enter, *settle, *line_of, *attribute, *module,
        *key_of, *unwind, *resume, *on_exception, *observe, *disable, *contents_of, *new, *sweep, *check_attribute, *may_be_below,
        *watch, *check_watched, *check_globals, *__builtins__;
} name;

static int ignore(PyObject *result)
{
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static PyObject *call(PyObject *object, PyObject *method, PyObject *first, PyObject *second, PyObject *third)
{
    return PyObject_CallMethodObjArgs(object, method, first, second, third, NULL);
}

/* Other threads run only when the one that has the turn lets them, which it seldom does; then they look now and then. */
static void turn_begin(Turn *turn)
{
    unsigned long me = PyThread_get_thread_ident();
    while (turn->depth > 0 && turn->owner != me) {
        Py_BEGIN_ALLOW_THREADS
        usleep(100);
        Py_END_ALLOW_THREADS
    }
    turn->owner = me;
    turn->depth++;
}

static void turn_end(Turn *turn)
{
    turn->depth--;
}

static PyObject *Turn_enter(PyObject *self, PyObject *unused)
{
    turn_begin((Turn *)self);
    Py_RETURN_NONE;
}

static PyObject *Turn_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    turn_end((Turn *)self);
    Py_RETURN_NONE;
}

static PyMethodDef TURN_METHODS[] = {
    {"__enter__", Turn_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))Turn_exit, METH_FASTCALL, NULL},
    {NULL},
};

static PyTypeObject TurnType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "record_native.Turn", .tp_basicsize = sizeof(Turn), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew, .tp_methods = TURN_METHODS,
};

/* -- the wire ----------------------------------------------------------------------------------------------------- */

/* Where to write a record of so many words; NULL with an error. Continues in the next file if this one is full. */
static uint64_t *room(Wire *wire, uint64_t count)
{
    for (;;) {
        uint64_t at = wire->position;
        wire->position = at + count;
        if (at + count <= SIZE && wire->words != NULL)
            return wire->words + at;
        PyObject *from = PyLong_FromUnsignedLongLong(at), *number = PyLong_FromLongLong(wire->number);
        PyObject *left = from && number ? call((PyObject *)wire, name.leave, from, number, NULL) : NULL;
        Py_XDECREF(from);
        Py_XDECREF(number);
        if (ignore(left) < 0)
            return NULL;
    }
}

/* The reader takes what is not 0 as complete. */
static void complete(uint64_t *at, uint64_t first)
{
    __atomic_store_n(at, first, __ATOMIC_RELEASE);
}

static int record(Wire *wire, const uint64_t *words, int count)
{
    uint64_t *at = room(wire, count);
    if (at == NULL)
        return -1;
    for (int index = 1; index < count; index++)
        at[index] = words[index];
    complete(at, words[0]);
    return 0;
}

static int blob(Wire *wire, uint64_t first, const char *data, size_t length, const uint64_t *words, int count)
{
    size_t data_words = (length + 7) / 8;
    uint64_t *at = room(wire, 2 + count + data_words);
    if (at == NULL)
        return -1;
    memcpy(at + 2 + count, data, length);
    at[1] = (uint64_t)length << 1 | 1;
    for (int index = 0; index < count; index++)
        at[2 + index] = words[index];
    complete(at, first);
    return 0;
}

/* The words that are given as arguments; how many, or -1. */
static int words_of(PyObject *const *arguments, Py_ssize_t count, uint64_t *words, int most)
{
    if (count > most) {
        PyErr_SetString(PyExc_TypeError, "too many words");
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        words[index] = PyLong_AsUnsignedLongLong(arguments[index]);
        if (words[index] == (uint64_t)-1 && PyErr_Occurred())
            return -1;
    }
    return (int)count;
}

static PyObject *Wire_record(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    uint64_t words[3];
    int found = words_of(arguments, count, words, 3);
    if (found < 0 || record((Wire *)self, words, found) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *Wire_blob(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    uint64_t first, words[8];
    if (count < 2 || !PyBytes_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a word and bytes");
        return NULL;
    }
    int found = words_of(arguments + 2, count - 2, words, 8);
    if (found < 0 || words_of(arguments, 1, &first, 1) < 0)
        return NULL;
    const char *data = PyBytes_AS_STRING(arguments[1]);
    if (blob((Wire *)self, first, data, PyBytes_GET_SIZE(arguments[1]), words, found) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* The number of a text, which is written when it is new; 0 with an error. */
static uint64_t text_number(Wire *wire, PyObject *text)
{
    size_t at = found_at(text, 0);
    if (wire == now.wire && found_texts[at].text == text)
        return found_texts[at].number;
    PyObject *known = PyDict_GetItemWithError(wire->texts, text);
    if (known != NULL && wire == now.wire && PyUnicode_CHECK_INTERNED(text)) {
        found_texts[at].number = PyLong_AsUnsignedLongLong(known);
        Py_XSETREF(found_texts[at].text, Py_NewRef(text));
    }
    if (known != NULL)
        return PyLong_AsUnsignedLongLong(known);
    if (PyErr_Occurred())
        return 0;
    uint64_t number = PyDict_GET_SIZE(wire->texts) + 1;
    PyObject *boxed = PyLong_FromUnsignedLongLong(number);
    int failed = boxed == NULL || PyDict_SetItem(wire->texts, text, boxed) < 0;
    Py_XDECREF(boxed);
    PyObject *data = failed ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (data == NULL)
        return 0;
    failed = blob(wire, number << 5 | TEXT, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), NULL, 0) < 0;
    Py_DECREF(data);
    return failed ? 0 : number;
}

static PyObject *Wire_text(PyObject *self, PyObject *text)
{
    uint64_t number = text_number((Wire *)self, text);
    return number == 0 ? NULL : PyLong_FromUnsignedLongLong(number);
}

static PyObject *Wire_get_words(PyObject *self, void *unused)
{
    Wire *wire = (Wire *)self;
    return Py_NewRef(wire->view.obj != NULL ? wire->view.obj : Py_None);
}

static int Wire_set_words(PyObject *self, PyObject *value, void *unused)
{
    Wire *wire = (Wire *)self;
    Py_buffer view = {0}, old = wire->view;
    if (value != NULL && value != Py_None) {
        if (PyObject_GetBuffer(value, &view, PyBUF_WRITABLE) < 0)
            return -1;
        if (view.len < SIZE * 8) {
            PyBuffer_Release(&view);
            PyErr_SetString(PyExc_ValueError, "too short");
            return -1;
        }
    }
    wire->view = view;
    wire->words = view.buf;
    PyBuffer_Release(&old);
    return 0;
}

static int Wire_init(PyObject *self, PyObject *arguments, PyObject *names)
{
    Wire *wire = (Wire *)self;
    Py_XSETREF(wire->texts, PyDict_New());
    return wire->texts != NULL ? 0 : -1;
}

static void Wire_dealloc(PyObject *self)
{
    Wire *wire = (Wire *)self;
    PyBuffer_Release(&wire->view);
    Py_XDECREF(wire->texts);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef WIRE_METHODS[] = {
    {"record", (PyCFunction)(void (*)(void))Wire_record, METH_FASTCALL, NULL},
    {"blob", (PyCFunction)(void (*)(void))Wire_blob, METH_FASTCALL, NULL},
    {"text", Wire_text, METH_O, NULL},
    {NULL},
};

static PyMemberDef WIRE_MEMBERS[] = {
    {"texts", T_OBJECT, offsetof(Wire, texts), READONLY},
    {"number", T_LONGLONG, offsetof(Wire, number), 0},
    {"position", T_ULONGLONG, offsetof(Wire, position), 0},
    {"calls", T_ULONGLONG, offsetof(Wire, calls), 0},
    {"objects", T_ULONGLONG, offsetof(Wire, objects), 0},
    {"by", T_ULONGLONG, offsetof(Wire, by), 0},
    {NULL},
};

static PyGetSetDef WIRE_GETTERS[] = {{"words", Wire_get_words, Wire_set_words}, {NULL}};

static PyTypeObject WireType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "record_native.Wire", .tp_basicsize = sizeof(Wire), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = PyType_GenericNew, .tp_init = Wire_init, .tp_dealloc = Wire_dealloc, .tp_methods = WIRE_METHODS,
    .tp_members = WIRE_MEMBERS, .tp_getset = WIRE_GETTERS,
};
