/* New objects, and single attributes and items: as record_heap.py. Part of record_native.c. */

/* -- new objects -------------------------------------------------------------------------------------------------- */

/* A `Known`, as its `__init__` makes it. */
static PyObject *new_known(uint64_t number, PyObject *shape)
{
    PyTypeObject *type = (PyTypeObject *)now.known_type;
    PyObject *made = type->tp_alloc(type, 0);
    if (made == NULL)
        return NULL;
    FIELD(made, known_at.number) = PyLong_FromUnsignedLongLong(number);
    FIELD(made, known_at.word) = PyLong_FromUnsignedLongLong(number << 3 | REFERENCE);
    FIELD(made, known_at.length) = PyLong_FromLong(-1);
    FIELD(made, known_at.shape) = Py_NewRef(shape);
    FIELD(made, known_at.kind) = Py_NewRef(FIELD(shape, shape_at.kind));
    FIELD(made, known_at.held) = Py_NewRef(Py_None);
    FIELD(made, known_at.weak) = Py_NewRef(Py_None);
    FIELD(made, known_at.contents) = Py_NewRef(Py_None);
    FIELD(made, known_at.own) = Py_NewRef(Py_None);
    if (FIELD(made, known_at.number) && FIELD(made, known_at.word) && FIELD(made, known_at.length))
        return made;
    Py_DECREF(made);
    return NULL;
}

/* Refer to an object, weakly if that is possible. */
static int hold(PyObject *known, PyObject *value, PyObject *shape)
{
    if (FIELD(shape, shape_at.is_weak) == Py_True) {
        PyObject *weak = PyWeakref_NewRef(value, NULL);
        if (weak != NULL) {
            set_field(known, known_at.weak, weak);
            return 0;
        }
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        set_field(shape, shape_at.is_weak, Py_NewRef(Py_False));
    }
    set_field(known, known_at.held, Py_NewRef(value));
    return 0;
}

/* Find the object again by its identity, and check whether it is still used. */
static int keep_known(PyObject *known, PyObject *value)
{
    PyObject *key = PyLong_FromVoidPtr(value), *list = PyObject_GetAttr(now.heap, name.new);
    PyObject *old = key != NULL ? Py_XNewRef(PyDict_GetItemWithError(now.known, key)) : NULL;
    /* It is of one that was in the same place. */
    if (old != NULL) {
        set_field(old, known_at.contents, Py_NewRef(Py_None));
        set_field(old, known_at.own, Py_NewRef(Py_None));
        Py_DECREF(old);
    }
    int failed = key == NULL || list == NULL || !PyList_CheckExact(list) || PyDict_SetItem(now.known, key, known) < 0 ||
                 PyList_Append(list, known) < 0;
    int is_time = !failed && PyList_GET_SIZE(list) > NEW;
    Py_XDECREF(key);
    Py_XDECREF(list);
    if (failed)
        return -1;
    return is_time ? ignore(call(now.heap, name.sweep, NULL, NULL, NULL)) : 0;
}

/* `Heap.numbered`; a new reference. */
static PyObject *numbered(PyObject *value, PyObject *shape)
{
    uint64_t number = ++now.wire->objects, text = text_number(now.wire, FIELD(shape, shape_at.name));
    PyObject *known = text != 0 ? new_known(number, shape) : NULL;
    if (known == NULL)
        return NULL;
    uint64_t words[] = {number << 5 | OBJECT, text << 3 | (uint64_t)kind_of(known)};
    if (record(now.wire, words, 2) < 0 || hold(known, value, shape) < 0 || keep_known(known, value) < 0)
        Py_CLEAR(known);
    return known;
}

/* The shape of a type whose objects are numbered here, borrowed; NULL without an error for any other. */
static PyObject *shape_of(PyObject *value)
{
    /* A metaclass of the program may have a `__hash__`. */
    if (!Py_IS_TYPE(Py_TYPE(value), &PyType_Type) || PyType_Check(value) || PyModule_Check(value))
        return NULL;
    PyObject *shape = PyDict_GetItemWithError(now.shapes, (PyObject *)Py_TYPE(value));
    PyErr_Clear();
    if (shape == NULL || FIELD(shape, shape_at.is_special) == Py_True)
        return NULL;
    long kind = PyLong_AsLong(FIELD(shape, shape_at.kind));
    int is_own = kind == INSTANCE && FIELD(shape, shape_at.dictionary) != Py_None &&
                 PyTuple_GET_SIZE(FIELD(shape, shape_at.slots)) == 0;
    return kind == LIST || kind == DICT || is_own ? shape : NULL;
}

/* `Heap.contents_of` */
static int write_contents(PyObject *known, PyObject *value, Py_ssize_t depth)
{
    PyObject *nothing = PyTuple_New(0);
    if (nothing == NULL)
        return -1;
    set_field(known, known_at.contents, nothing);
    int is_marked = PyLong_AsSsize_t(FIELD(known, known_at.length)) == UNREAD;
    int left = is_marked ? 1 : compare(known, value, depth);
    if (left != 1)
        return left;
    PyObject *levels = PyLong_FromSsize_t(depth);
    int failed = levels == NULL ? -1 : ignore(call(now.heap, name.contents_of, known, value, levels));
    Py_XDECREF(levels);
    return failed;
}

/* `Heap.object` of a list, a dictionary or an instance with a dictionary. 0 without an error if Python is to do it. */
static uint64_t object_word(PyObject *value, Py_ssize_t depth)
{
    PyObject *known = Py_XNewRef(find(value)), *shape = known == NULL ? shape_of(value) : FIELD(known, known_at.shape);
    if (shape == NULL)
        return 0;
    if (known == NULL && (known = numbered(value, shape)) == NULL)
        return 0;
    int failed = 0, is_unread = FIELD(known, known_at.contents) == Py_None;
    if (is_unread && depth > 0)
        failed = write_contents(known, value, depth);
    /* Python writes that an instance is not read. */
    int is_left = is_unread && depth <= 0 && kind_of(known) == INSTANCE && PyLong_AsSsize_t(FIELD(known, known_at.length)) == -1;
    uint64_t word = failed < 0 || is_left ? 0 : number_in(known, known_at.word);
    Py_DECREF(known);
    return word;
}

/* -- attributes and items ----------------------------------------------------------------------------------------- */

/* Replace what is known of an attribute or an item, and write it if it differs. `contents` and `value` are owned by the
   caller. */
static int store_part(PyObject *known, PyObject *contents, PyObject *key, PyObject *value, uint64_t text, int kind)
{
    PyObject *old = PyDict_GetItemWithError(contents, key);
    if (old == NULL && PyErr_Occurred())
        return -1;
    int is_new = old == NULL ? 1 : differ(old, value);
    if (is_new < 0 || (old != value && PyDict_SetItem(contents, key, value) < 0))
        return -1;
    return is_new ? write_part(known, text, kind, value, now.depth) : 0;
}

/* `Heap.check_attribute` of an instance with a dictionary. Whether Python is to do it: 1, or 0, or -1 with an error. */
static int check_own(PyObject *known, PyObject *own, PyObject *attribute)
{
    PyObject *item = item_of(own, attribute);
    if (item == NULL)
        return 1;
    PyObject *contents = Py_NewRef(FIELD(known, known_at.contents));
    int failed = 0;
    if (!PyDict_CheckExact(contents)) {
        Py_SETREF(contents, PyDict_New());
        if (contents != NULL)
            set_field(known, known_at.contents, Py_NewRef(contents));
        failed = contents == NULL;
    }
    if (!failed && (PyDict_GET_SIZE(contents) < now.items || PyDict_Contains(contents, attribute) == 1)) {
        PyObject *old = PyDict_GetItemWithError(contents, attribute);
        uint64_t text = old == item ? 1 : text_number(now.wire, attribute);
        failed = text == 0 || (old != item && store_part(known, contents, attribute, item, text, NAME) < 0);
    }
    Py_XDECREF(contents);
    Py_DECREF(item);
    return failed ? -1 : 0;
}

/* `Heap.check_attribute` */
static int check_attribute(PyObject *value, PyObject *attribute)
{
    PyObject *known = Py_XNewRef(find(value));
    int left = 1;
    if (known != NULL && FIELD(known, known_at.contents) != Py_None && kind_of(known) == INSTANCE) {
        PyObject *own = attributes_of(value, known);
        if (own != NULL)
            left = check_own(known, own, attribute);
        Py_XDECREF(own);
    }
    Py_XDECREF(known);
    return left == 1 ? check(value) : left;
}

/* `Heap.check_item` of a list. */
static int check_list_item(PyObject *known, PyObject *value, PyObject *key)
{
    Py_ssize_t length = PyList_GET_SIZE(value), index = PyLong_AsSsize_t(key);
    PyObject *contents = FIELD(known, known_at.contents);
    if (index == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 1;
    }
    index += index < 0 ? length : 0;
    if (index < 0 || index >= length)
        return 0;
    PyObject *item = PyList_GET_ITEM(value, index);
    if (PyList_CheckExact(contents) && index < PyList_GET_SIZE(contents)) {
        PyObject *old = PyList_GET_ITEM(contents, index);
        if (length != PyLong_AsSsize_t(FIELD(known, known_at.length)))
            return 1;
        if (!differ(old, item))
            return 0;
        Py_INCREF(item);
        PyList_SetItem(contents, index, Py_NewRef(item));
    } else if (PySequence_Fast_GET_SIZE(contents) > index) {
        return 1;
    } else {
        Py_INCREF(item);
    }
    int failed = write_part(known, index, INDEX, item, now.depth);
    Py_DECREF(item);
    return failed;
}

/* `Heap.check_item` of a dictionary whose keys are plain. */
static int check_dict_item(PyObject *known, PyObject *value, PyObject *key)
{
    PyObject *contents = FIELD(known, known_at.contents), *item;
    if (PyDict_GET_SIZE(value) != PyLong_AsSsize_t(FIELD(known, known_at.length)) || !PyDict_CheckExact(contents))
        return 1;
    PyObject *old = PyDict_GetItemWithError(contents, key);
    PyErr_Clear();
    if (old == NULL || (item = item_of(value, key)) == NULL)
        return 1;
    int is_new = differ(old, item);
    Py_INCREF(contents);
    int failed = is_new < 0;
    if (is_new > 0) {
        uint64_t number = key_number(key);
        failed = number == 0 || write_part(known, number, ITEM, item, now.depth) < 0;
    }
    failed = failed || PyDict_SetItem(contents, key, item) < 0;
    Py_DECREF(contents);
    Py_DECREF(item);
    return failed ? -1 : 0;
}

/* `Heap.check_item` */
static int check_item(PyObject *value, PyObject *key)
{
    PyObject *known = Py_XNewRef(find(value));
    int left = 1;
    if (known != NULL && FIELD(known, known_at.contents) != Py_None) {
        if (PyList_CheckExact(value) && PyLong_CheckExact(key))
            left = check_list_item(known, value, key);
        else if (PyDict_CheckExact(value) && is_plain(key))
            left = check_dict_item(known, value, key);
    }
    Py_XDECREF(known);
    return left == 1 ? check(value) : left;
}
