/* Values, and what of objects has changed: as record_heap.py. Part of record_native.c. */

/* -- values ------------------------------------------------------------------------------------------------------- */

static int is_simple(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || type == &PyBool_Type ||
           value == Py_None || type == &PyBytes_Type || type == &PyComplex_Type;
}

/* A value of a dictionary, owned; NULL without an error. */
static PyObject *item_of(PyObject *dictionary, PyObject *key)
{
    PyObject *value = PyDict_GetItemWithError(dictionary, key);
    PyErr_Clear();
    return Py_XNewRef(value);
}

/* Whether a key is hashed and compared without code of the program. */
static int is_plain(PyObject *key)
{
    if (!PyTuple_CheckExact(key))
        return is_simple(key);
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(key); index++)
        if (!is_simple(PyTuple_GET_ITEM(key, index)))
            return 0;
    return 1;
}

/* No code of the program runs, as only simple values are compared. */
static int differ(PyObject *old, PyObject *new)
{
    if (old == new)
        return 0;
    if (Py_TYPE(old) != Py_TYPE(new) || !is_simple(new))
        return 1;
    /* Zero has a sign. */
    if (PyFloat_CheckExact(new) && PyFloat_AS_DOUBLE(new) == 0 && PyFloat_AS_DOUBLE(old) == 0)
        return !signbit(PyFloat_AS_DOUBLE(new)) != !signbit(PyFloat_AS_DOUBLE(old));
    return PyObject_RichCompareBool(old, new, Py_NE);
}

static int is_referent(PyObject *weak, PyObject *value)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found = NULL;
    PyWeakref_GetRef(weak, &found);
    /* `value` is owned by the caller. */
    Py_XDECREF(found);
    return found == value;
#else
    return PyWeakref_GET_OBJECT(weak) == value;
#endif
}

/* Whether what was known refers to nothing any more. */
static int is_empty(PyObject *known)
{
    return FIELD(known, known_at.held) == Py_None && FIELD(known, known_at.contents) == Py_None &&
           FIELD(known, known_at.own) == Py_None;
}

static int is_known_of(PyObject *known, PyObject *value)
{
    PyObject *weak = FIELD(known, known_at.weak);
    return FIELD(known, known_at.held) == value || (PyWeakref_CheckRef(weak) && is_referent(weak, value));
}

/* What is known of an object, borrowed. NULL without an error if nothing is, or if it is of another object that was in
   its place, which `Heap.find` forgets. */
static PyObject *find(PyObject *value)
{
    size_t at = found_at(value, 0);
    PyObject *before = found_objects[at].known;
    if (found_objects[at].value == value && is_known_of(before, value))
        return before;
    PyObject *key = PyLong_FromVoidPtr(value);
    PyObject *known = key != NULL ? PyDict_GetItemWithError(now.known, key) : NULL;
    Py_XDECREF(key);
    if (known == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (!is_known_of(known, value))
        return NULL;
    /* No code of the program may run here, which the release of an object might do. */
    if (before == NULL || Py_REFCNT(before) > 1 || is_empty(before)) {
        found_objects[at].value = value;
        found_objects[at].known = Py_NewRef(known);
        Py_XDECREF(before);
    }
    return known;
}

/* The word of a function, a module or what else is shown by name, as `Heap.named` keeps it; 0 if it has not been written. */
static uint64_t named_word(PyObject *value)
{
    PyObject *key = PyLong_FromVoidPtr(value);
    PyObject *entry = key != NULL ? PyDict_GetItemWithError(now.shapes, key) : NULL;
    Py_XDECREF(key);
    PyErr_Clear();
    if (entry == NULL || !PyTuple_CheckExact(entry) || PyTuple_GET_ITEM(entry, 0) != value)
        return 0;
    return PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(entry, 1));
}

/* The word of a tuple of simple values that equals one that has been written, as `Heap.object` keeps them; else 0. */
static uint64_t tuple_word(PyObject *value)
{
    Py_ssize_t length = PyTuple_GET_SIZE(value);
    if (length > MOST_MEMBERS || !is_plain(value))
        return 0;
    PyObject *key = PyTuple_New(1 + 2 * length);
    if (key == NULL) {
        PyErr_Clear();
        return 0;
    }
    PyTuple_SET_ITEM(key, 0, Py_NewRef(&PyTuple_Type));
    for (Py_ssize_t index = 0; index < length; index++) {
        PyObject *member = PyTuple_GET_ITEM(value, index);
        PyTuple_SET_ITEM(key, 1 + index, Py_NewRef(Py_TYPE(member)));
        PyTuple_SET_ITEM(key, 1 + length + index, Py_NewRef(member));
    }
    PyObject *word = PyDict_GetItemWithError(now.tuples, key);
    PyErr_Clear();
    Py_DECREF(key);
    return word != NULL ? PyLong_AsUnsignedLongLong(word) : 0;
}

/* The word of a value that has been written before; 0 if it has not. */
static uint64_t known_word(PyObject *value)
{
    if (PyLong_CheckExact(value)) {
        int is_wide;
        int64_t number = PyLong_AsLongLongAndOverflow(value, &is_wide);
        return !is_wide && -WIDE < number && number < WIDE ? (uint64_t)number << 3 | INTEGER : 0;
    }
    if (value == Py_None)
        return NONE_WORD;
    if (PyBool_Check(value))
        return value == Py_True ? CONSTANT_WORD(1) : CONSTANT_WORD(2);
    if (PyUnicode_CheckExact(value) || PyFloat_CheckExact(value)) {
        PyObject *table = PyUnicode_CheckExact(value) ? now.texts : now.floats;
        if (table == now.floats && PyFloat_AS_DOUBLE(value) == 0)
            return 0;
        PyObject *word = PyDict_GetItemWithError(table, value);
        PyErr_Clear();
        return word != NULL ? PyLong_AsUnsignedLongLong(word) : 0;
    }
    uint64_t word = PyTuple_CheckExact(value) ? tuple_word(value) : 0;
    if (word != 0)
        return word;
    if (is_simple(value))
        return 0;
    PyObject *known = find(value);
    if (known != NULL)
        return FIELD(known, known_at.contents) != Py_None ? number_in(known, known_at.word) : 0;
    return named_word(value);
}

static uint64_t object_word(PyObject *value, Py_ssize_t depth);

/* The word of a value; 0 with an error. A new value is written first, to a depth. */
static uint64_t word_of(PyObject *value, Py_ssize_t depth)
{
    uint64_t word = known_word(value);
    if (word == 0 && !is_simple(value))
        word = object_word(value, depth);
    if (word != 0 || PyErr_Occurred())
        return word;
    PyObject *levels = PyLong_FromSsize_t(depth);
    PyObject *found = levels != NULL ? call(now.heap, name.word, value, levels, NULL) : NULL;
    Py_XDECREF(levels);
    if (found == NULL)
        return 0;
    word = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return word;
}

static int write_change(uint64_t key, uint64_t owner, uint64_t word)
{
    uint64_t words[] = {key << 5 | WRITE, owner | now.wire->by, word};
    return record(now.wire, words, 3);
}

/* -- objects ------------------------------------------------------------------------------------------------------ */

/* Whether it is a container that has attributes, too. */
static int has_own(PyObject *known)
{
    return FIELD(FIELD(known, known_at.shape), shape_at.has_own) == Py_True;
}

/* The kind of an object; OPAQUE for what is left to Python. */
static int kind_of(PyObject *known)
{
    PyObject *shape = FIELD(known, known_at.shape);
    int kind = (int)integer(FIELD(known, known_at.kind)), is_read_here = kind == LIST || kind == DICT;
    int is_special = FIELD(shape, shape_at.is_special) == Py_True || (has_own(known) && !is_read_here);
    return is_special ? OPAQUE : kind;
}

/* The dictionary with the attributes of an instance, owned; NULL without an error if Python is to read them. */
static PyObject *attributes_of(PyObject *value, PyObject *known)
{
    PyObject *shape = FIELD(known, known_at.shape);
    if (FIELD(shape, shape_at.dictionary) == Py_None || PyTuple_GET_SIZE(FIELD(shape, shape_at.slots)) > 0)
        return NULL;
    if (PyType_Check(value) || PyModule_Check(value))
        return NULL;
    PyObject *found = PyObject_GenericGetDict(value, NULL);
    if (found == NULL)
        PyErr_Clear();
    else if (!PyDict_CheckExact(found))
        Py_CLEAR(found);
    return found;
}

static int has_same_items(PyObject *old, PyObject *const *items, Py_ssize_t length)
{
    if (!PyList_CheckExact(old) && !PyTuple_CheckExact(old))
        return 0;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(old);
    for (Py_ssize_t index = 0; index < count && index < length; index++)
        if (PySequence_Fast_ITEMS(old)[index] != items[index])
            return 0;
    return 1;
}

/* Whether dictionaries have the very same values, and keys if those are asked for, in the same order. As with `zip`, the
   shorter one says how many. */
static int has_same_pairs(PyObject *old, PyObject *now_there, int keys)
{
    if (!PyDict_CheckExact(old))
        return PyTuple_CheckExact(old);
    PyObject *old_key, *old_value, *key, *value;
    Py_ssize_t old_at = 0, at = 0;
    while (PyDict_Next(old, &old_at, &old_key, &old_value) && PyDict_Next(now_there, &at, &key, &value))
        if (old_value != value || (keys && old_key != key))
            return 0;
    return 1;
}

/* Whether a container that has attributes has the same. */
static int has_same_own(PyObject *known, PyObject *value)
{
    PyObject *old = FIELD(known, known_at.own), *own = attributes_of(value, known);
    int same = own != NULL && PyDict_GET_SIZE(own) == (PyDict_CheckExact(old) ? PyDict_GET_SIZE(old) : 0) &&
               (PyDict_GET_SIZE(own) == 0 || has_same_pairs(old, own, 1));
    Py_XDECREF(own);
    return same;
}

/* Whether an object contains what it did when it was last compared. No for what Python is to compare. */
static int is_unchanged(PyObject *known, PyObject *value)
{
    PyObject *old = FIELD(known, known_at.contents);
    Py_ssize_t length = (Py_ssize_t)integer(FIELD(known, known_at.length));
    if (has_own(known) && !has_same_own(known, value))
        return 0;
    switch (kind_of(known)) {
    case LIST:
        return PyList_GET_SIZE(value) == length &&
               has_same_items(old, ((PyListObject *)value)->ob_item, PyList_GET_SIZE(value));
    case CLASS:
        return length > 0 && (unsigned long)length == ((PyTypeObject *)value)->tp_version_tag;
    case DICT:
        return PyDict_GET_SIZE(value) == length && has_same_pairs(old, value, 1);
    case INSTANCE: {
        PyObject *own = attributes_of(value, known);
        Py_ssize_t count = PyDict_CheckExact(old) ? PyDict_GET_SIZE(old) : 0;
        int same = own != NULL && PyDict_GET_SIZE(own) == count && has_same_pairs(old, own, 0);
        Py_XDECREF(own);
        return same;
    }
    }
    return 0;
}

static int write_word(PyObject *known, uint64_t key, int kind, uint64_t word)
{
    return write_change(key << 2 | kind, number_in(known, known_at.number) << 2 | 3, word);
}

/* Write the value of an attribute or an item. */
static int write_part(PyObject *known, uint64_t key, int kind, PyObject *value, Py_ssize_t depth)
{
    uint64_t word = word_of(value, depth - 1);
    return word == 0 ? -1 : write_word(known, key, kind, word);
}

/* `Heap.set_length` */
static int set_length(PyObject *known, Py_ssize_t length)
{
    if (PyLong_AsSsize_t(FIELD(known, known_at.length)) == length)
        return 0;
    PyObject *boxed = PyLong_FromSsize_t(length);
    if (boxed == NULL)
        return -1;
    set_field(known, known_at.length, boxed);
    return write_word(known, 0, LENGTH, (uint64_t)length << 3 | INTEGER);
}

/* What is different in the items of a list. */
static int write_items(PyObject *known, PyObject *old, PyObject *items, Py_ssize_t depth)
{
    Py_ssize_t before = PySequence_Fast_GET_SIZE(old);
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(items); index++) {
        PyObject *item = Py_NewRef(PyList_GET_ITEM(items, index));
        int is_new = index >= before ? 1 : differ(PySequence_Fast_ITEMS(old)[index], item);
        int failed = is_new < 0 || (is_new && write_part(known, index, INDEX, item, depth) < 0);
        Py_DECREF(item);
        if (failed)
            return -1;
    }
    for (Py_ssize_t index = PyList_GET_SIZE(items); index < before; index++)
        if (write_word(known, index, INDEX, ABSENT) < 0)
            return -1;
    return 0;
}

/* `Heap.compare_items` of a list. */
static int compare_items(PyObject *known, PyObject *value, Py_ssize_t depth)
{
    Py_ssize_t length = PyList_GET_SIZE(value);
    PyObject *items = PyList_GetSlice(value, 0, now.items);
    if (items == NULL)
        return -1;
    PyObject *old = FIELD(known, known_at.contents);
    FIELD(known, known_at.contents) = Py_NewRef(items);
    int failed = write_items(known, old, items, depth) < 0 || set_length(known, length) < 0;
    Py_DECREF(old);
    Py_DECREF(items);
    return failed ? -1 : 0;
}

/* `Heap.key_of`; 0 with an error. */
static uint64_t key_number(PyObject *key)
{
    int is_short = PyUnicode_CheckExact(key) && PyUnicode_GET_LENGTH(key) <= now.most_text;
    PyObject *found = is_short ? PyObject_Repr(key) : call(now.heap, name.key_of, key, NULL, NULL);
    if (found == NULL)
        return 0;
    uint64_t number = is_short ? text_number(now.wire, found) : PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return number;
}

/* The number of the key of an attribute or of an item; 0 with an error. */
static uint64_t part_number(PyObject *key, int kind)
{
    return kind == NAME ? text_number(now.wire, key) : key_number(key);
}

/* Whether a key is among those of a dictionary that follow a position, which moves behind it. */
static int comes_next(PyObject *dictionary, Py_ssize_t *at, PyObject *key)
{
    PyObject *other;
    int is_it = 0;
    while (is_it == 0 && PyDict_Next(dictionary, at, &other, NULL))
        is_it = PyObject_RichCompareBool(other, key, Py_EQ);
    return is_it;
}

/* What is different in attributes (NAME), whose names are strings, or in the items of a dictionary (ITEM). As in
   `Heap.compare_pairs`, items that have moved are written again. */
static int write_parts(PyObject *known, PyObject *old, PyObject *parts, int kind, Py_ssize_t depth)
{
    PyObject *key, *item;
    for (Py_ssize_t at = 0; PyDict_Next(old, &at, &key, &item);) {
        if (PyDict_Contains(parts, key) == 1)
            continue;
        uint64_t number = part_number(key, kind);
        if (number == 0 || write_word(known, number, kind, ABSENT) < 0)
            return -1;
    }
    Py_ssize_t following = 0;
    int has_moved = 0;
    for (Py_ssize_t at = 0; PyDict_Next(parts, &at, &key, &item);) {
        PyObject *before = PyDict_GetItemWithError(old, key);
        has_moved = has_moved || (kind == ITEM && comes_next(old, &following, key) != 1);
        int is_new = before == NULL || has_moved ? 1 : differ(before, item);
        if (!is_new)
            continue;
        Py_INCREF(item);
        uint64_t number = is_new > 0 ? part_number(key, kind) : 0;
        int failed = number == 0 || (has_moved && before != NULL && write_word(known, number, kind, ABSENT) < 0) ||
                     write_part(known, number, kind, item, depth) < 0;
        Py_DECREF(item);
        if (failed)
            return -1;
    }
    return 0;
}

static int has_only_names(PyObject *dictionary)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(dictionary, &at, &key, &value);)
        if (!PyUnicode_CheckExact(key))
            return 0;
    return 1;
}

/* `Heap.compare_attributes` of an instance with a dictionary and nothing else. Whether Python is to do it: 1, 0, or -1. */
static int compare_attributes(PyObject *known, PyObject *value, Py_ssize_t depth)
{
    PyObject *own = attributes_of(value, known);
    if (own == NULL || PyDict_GET_SIZE(own) > now.items || !has_only_names(own)) {
        Py_XDECREF(own);
        return 1;
    }
    PyObject *old = Py_NewRef(FIELD(known, known_at.contents));
    if (!PyDict_CheckExact(old))
        Py_SETREF(old, PyDict_New());
    Py_SETREF(own, PyDict_Copy(own));
    int failed = old == NULL || own == NULL;
    if (!failed && !has_only_names(old)) {
        failed = 1;
    } else if (!failed) {
        set_field(known, known_at.contents, Py_NewRef(own));
        failed = write_parts(known, old, own, NAME, depth);
    }
    Py_XDECREF(old);
    Py_XDECREF(own);
    return failed;
}

/* The first items of a dictionary; NULL without an error if their keys, or those before, are not plain. */
static PyObject *first_pairs(PyObject *dictionary, PyObject *old)
{
    PyObject *pairs = PyDict_New(), *key, *item;
    int is_other = pairs == NULL;
    for (Py_ssize_t at = 0; !is_other && PyDict_GET_SIZE(pairs) < now.items && PyDict_Next(dictionary, &at, &key, &item);)
        is_other = !is_plain(key) || PyDict_SetItem(pairs, key, item) < 0;
    for (Py_ssize_t at = 0; !is_other && PyDict_CheckExact(old) && PyDict_Next(old, &at, &key, &item);)
        is_other = !is_plain(key);
    if (is_other)
        Py_CLEAR(pairs);
    return pairs;
}

/* `Heap.compare_pairs` of plain keys. Whether Python is to do it: 1, 0, or -1 with an error. */
static int compare_pairs(PyObject *known, PyObject *value, Py_ssize_t depth)
{
    Py_ssize_t length = PyDict_GET_SIZE(value);
    PyObject *old = Py_NewRef(FIELD(known, known_at.contents)), *pairs = first_pairs(value, old);
    if (pairs == NULL) {
        Py_DECREF(old);
        return PyErr_Occurred() ? -1 : 1;
    }
    if (!PyDict_CheckExact(old))
        Py_SETREF(old, PyDict_New());
    set_field(known, known_at.contents, Py_NewRef(pairs));
    int failed = old == NULL || write_parts(known, old, pairs, ITEM, depth) < 0 || set_length(known, length) < 0;
    Py_XDECREF(old);
    Py_DECREF(pairs);
    return failed ? -1 : 0;
}

/* Python compares a class, and nothing has changed in it as long as Python's number for its version is the same. That is
   kept as the length, which a class has not. */
static int check_class(PyObject *known, PyObject *value)
{
    unsigned long version = ((PyTypeObject *)value)->tp_version_tag;
    if (ignore(call(now.heap, name.check, value, NULL, NULL)) < 0)
        return -1;
    PyObject *boxed = version != 0 ? PyLong_FromUnsignedLong(version) : PyLong_FromLong(-1);
    if (boxed == NULL)
        return -1;
    set_field(known, known_at.length, boxed);
    return 0;
}

/* `Heap.compare` of what is not a set or a text. Whether Python is to do it: 1, 0, or -1 with an error. */
static int compare(PyObject *known, PyObject *value, Py_ssize_t depth)
{
    if (has_own(known) && !has_same_own(known, value))
        return 1;
    switch (kind_of(known)) {
    case CLASS:
        return check_class(known, value);
    case LIST:
        return compare_items(known, value, depth);
    case DICT:
        return compare_pairs(known, value, depth);
    case INSTANCE:
        return compare_attributes(known, value, depth);
    }
    return 1;
}

/* Whether a function or a member of an enumeration may have attributes, or is a method of an object. */
static int has_others(PyObject *value)
{
    /* Of what is known by name, only members have a class with a class of its own. */
    if (!Py_IS_TYPE(Py_TYPE(value), &PyType_Type))
        return 1;
    if (PyCFunction_CheckExact(value))
        return PyCFunction_GET_SELF(value) != NULL && !PyModule_Check(PyCFunction_GET_SELF(value));
    PyObject *own = PyFunction_Check(value) ? ((PyFunctionObject *)value)->func_dict : NULL;
    return own != NULL && PyDict_GET_SIZE(own) > 0;
}

/* `Heap.check` */
static int check(PyObject *value)
{
    if (is_simple(value) || (PyTuple_CheckExact(value) && tuple_word(value) != 0))
        return 0;
    PyObject *known = Py_XNewRef(find(value));
    int left = 1;
    if (known == NULL && named_word(value) != 0 && !has_others(value))
        return 0;
    if (known != NULL && FIELD(known, known_at.contents) != Py_None)
        left = kind_of(known) == TUPLE || is_unchanged(known, value) ? 0 : compare(known, value, now.depth);
    Py_XDECREF(known);
    return left == 1 ? ignore(call(now.heap, name.check, value, NULL, NULL)) : left;
}

/* -- what is in others -------------------------------------------------------------------------------------------- */

/* Whether the kept contents of an object contain others. */
static int has_parts(PyObject *contents)
{
    return PyList_CheckExact(contents) || PyTuple_CheckExact(contents) || PyDict_CheckExact(contents);
}

static int add_waiting(PyObject *waiting, PyObject *part)
{
    return is_simple(part) ? 0 : PyList_Append(waiting, part);
}

static int add_parts(PyObject *waiting, PyObject *contents)
{
    Py_ssize_t at = 0;
    PyObject *part;
    if (PyDict_CheckExact(contents)) {
        while (PyDict_Next(contents, &at, NULL, &part))
            if (add_waiting(waiting, part) < 0)
                return -1;
        return 0;
    }
    for (; at < PySequence_Fast_GET_SIZE(contents); at++)
        if (add_waiting(waiting, PySequence_Fast_GET_ITEM(contents, at)) < 0)
            return -1;
    return 0;
}

/* One of `check_all_below`: 1 if it has been checked before. */
static int was_seen(PyObject *seen, PyObject *known)
{
    PyObject *key = PyLong_FromVoidPtr(known);
    int found = key == NULL ? -1 : PySet_Contains(seen, key);
    if (found == 0)
        found = PySet_Add(seen, key);
    Py_XDECREF(key);
    return found;
}

static int check_one_below(PyObject *value, Py_ssize_t most, int is_first, PyObject *waiting, PyObject *seen)
{
    PyObject *known = Py_XNewRef(find(value));
    if (known == NULL)
        return 0;
    int done = has_parts(FIELD(known, known_at.contents)) ? was_seen(seen, known) : 1;
    if (done == 0 && !is_first)
        done = check(value);
    if (done == 0 && PyList_GET_SIZE(waiting) < most) {
        PyObject *contents = Py_NewRef(FIELD(known, known_at.contents));
        done = has_parts(contents) ? add_parts(waiting, contents) : 0;
        Py_DECREF(contents);
    }
    Py_DECREF(known);
    return done < 0 ? -1 : 0;
}

/* `Heap.check_below` */
static int check_some_below(PyObject *value, Py_ssize_t most)
{
    PyObject *waiting = PyList_New(0), *seen = PySet_New(NULL);
    int failed = waiting == NULL || seen == NULL || check(value) < 0 || PyList_Append(waiting, value) < 0;
    for (Py_ssize_t at = 0; !failed && at < PyList_GET_SIZE(waiting); at++)
        failed = check_one_below(PyList_GET_ITEM(waiting, at), most, at == 0, waiting, seen) < 0;
    Py_XDECREF(waiting);
    Py_XDECREF(seen);
    return failed ? -1 : 0;
}

static int check_all_below(PyObject *value)
{
    return check_some_below(value, MOST_BELOW);
}

/* -- what others have methods of ---------------------------------------------------------------------------------- */

static Py_ssize_t size_of(PyObject *value)
{
    if (PyList_Check(value))
        return PyList_GET_SIZE(value);
    if (PyDict_Check(value))
        return PyDict_GET_SIZE(value);
    /* That of a `deque` is where all objects have it whose size varies. */
    return PyAnySet_Check(value) ? PySet_GET_SIZE(value) : Py_SIZE(value);
}

/* `Heap.has_watched_changed` */
static int has_watched_changed(void)
{
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(now.watched); index++) {
        PyObject *value = PyList_GET_ITEM(now.watched, index), *known = find(value);
        if (known == NULL)
            return 1;
        int kind = has_own(known) ? OPAQUE : kind_of(known);
        if (kind == LIST || kind == DICT ? !is_unchanged(known, value)
                                         : size_of(value) != PyLong_AsSsize_t(FIELD(known, known_at.length)))
            return 1;
    }
    return 0;
}

/* `Heap.watch`, which does so with containers only. */
static int watch(PyObject *value)
{
    PyObject *known = find(value);
    long kind = known != NULL ? PyLong_AsLong(FIELD(known, known_at.kind)) : LIST;
    if (kind != LIST && kind != DICT && kind != SET)
        return 0;
    return ignore(call(now.heap, name.watch, value, NULL, NULL));
}
