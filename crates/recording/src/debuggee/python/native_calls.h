/* Variables, calls and lines, and what these have changed: as record_run.py. Part of record_native.c. */

/* -- variables ---------------------------------------------------------------------------------------------------- */

/* Where variables of a frame are read: in its slots, or in the dictionary of a module. */
typedef struct _PyInterpreterFrame Frame;
typedef struct {
    Frame *frame;
    PyObject *dictionary, *globals;
} Scope;

static PyCodeObject *code_of(Frame *frame)
{
#if PY_VERSION_HEX >= 0x030D0000
    return (PyCodeObject *)frame->f_executable;
#else
    return frame->f_code;
#endif
}

/* Whether the variables of a frame can be read here. Those of classes, for example, are read by Python. */
static int scope_of(Frame *frame, Scope *scope)
{
    PyCodeObject *code = code_of(frame);
    scope->frame = frame;
    scope->dictionary = NULL;
    scope->globals = frame->f_globals;
    if (!PyDict_CheckExact(scope->globals))
        return 0;
    if (code->co_flags & CO_OPTIMIZED)
        return 1;
    scope->dictionary = frame->f_locals;
    return scope->dictionary == scope->globals && code->co_nlocalsplus == 0;
}

/* A variable, owned; NULL without an error if it has no value. Names are interned, as those of a frame are. */
static PyObject *variable(const Scope *scope, PyObject *wanted)
{
    if (scope->dictionary != NULL)
        return item_of(scope->dictionary, wanted);
    PyCodeObject *code = code_of(scope->frame);
    for (int index = 0; index < code->co_nlocalsplus; index++) {
        if (PyTuple_GET_ITEM(code->co_localsplusnames, index) != wanted)
            continue;
        int kind = _PyLocals_GetKind(code->co_localspluskinds, index);
        PyObject *value = scope->frame->localsplus[index];
        if (kind & (CO_FAST_CELL | CO_FAST_FREE) && value != NULL && PyCell_Check(value))
            value = PyCell_GET(value);
#ifdef CO_FAST_HIDDEN
        if (kind & CO_FAST_HIDDEN)
            continue;
#endif
        return Py_XNewRef(value);
    }
    return NULL;
}

static int forget_variable(PyObject *known, PyObject *wanted, uint64_t owner)
{
    PyObject *old = item_of(known, wanted);
    /* The last line of a handler may have changed what is in it. */
    int failed = old != NULL && PyExceptionInstance_Check(old) ? check_all_below(old) : 0;
    Py_XDECREF(old);
    if (failed < 0 || PyDict_DelItem(known, wanted) < 0)
        return -1;
    uint64_t text = text_number(now.wire, wanted);
    return text == 0 ? -1 : write_change(text << 2 | NAME, owner, ABSENT);
}

/* Write a variable if it has changed, and keep what it is now. */
static int store_variable(const Scope *scope, PyObject *known, PyObject *wanted, uint64_t owner)
{
    PyObject *value = variable(scope, wanted), *old = PyDict_GetItemWithError(known, wanted);
    int failed = 0;
    if (value == NULL)
        return old != NULL ? forget_variable(known, wanted, owner) : 0;
    if (value != old) {
        int is_new = old == NULL ? 1 : differ(old, value);
        failed = is_new < 0 || PyDict_SetItem(known, wanted, value) < 0;
        if (!failed && is_new) {
            uint64_t word = word_of(value, now.depth), text = word != 0 ? text_number(now.wire, wanted) : 0;
            failed = text == 0 || write_change(text << 2 | NAME, owner, word) < 0;
        }
    }
    Py_DECREF(value);
    return failed ? -1 : 0;
}

static int store(const Scope *scope, uint64_t owner, PyObject *known, PyObject *names)
{
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); index++)
        if (store_variable(scope, known, PyTuple_GET_ITEM(names, index), owner << 1 | 1) < 0)
            return -1;
    return 0;
}

/* -- paths -------------------------------------------------------------------------------------------------------- */

/* An attribute of a class that is a variable for certain, owned; NULL without an error for any other. */
static PyObject *class_attribute(PyObject *class, PyObject *attribute)
{
    PyObject *own = ((PyTypeObject *)class)->tp_dict;
    if (own == NULL || PyDict_GET_SIZE(own) > now.items || PyUnicode_READ_CHAR(attribute, 0) == '_')
        return NULL;
    PyObject *found = item_of(own, attribute);
    if (found != NULL && !is_simple(found) && !PyList_CheckExact(found) && !PyDict_CheckExact(found))
        Py_CLEAR(found);
    return found;
}

/* `Recorder.attribute`; NULL without an error if it cannot be read without running code. */
static PyObject *attribute_of(PyObject *value, PyObject *attribute)
{
    PyObject *known = find(value);
    if (known != NULL && kind_of(known) == CLASS) {
        PyObject *found = class_attribute(value, attribute);
        if (found != NULL)
            return found;
    }
    PyObject *own = known != NULL && kind_of(known) == INSTANCE ? attributes_of(value, known) : NULL;
    if (own != NULL) {
        PyObject *found = item_of(own, attribute);
        Py_DECREF(own);
        if (found != NULL || PyErr_Occurred())
            return found;
    }
    PyObject *found = call(now.recorder, name.attribute, value, attribute, NULL);
    if (found == now.missing)
        Py_CLEAR(found);
    return found;
}

static PyObject *item_at(PyObject *value, PyObject *key)
{
    if (PyLong_CheckExact(key) && (PyList_CheckExact(value) || PyTuple_CheckExact(value))) {
        Py_ssize_t length = PySequence_Fast_GET_SIZE(value), index = PyLong_AsSsize_t(key);
        if (index == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return NULL;
        }
        index += index < 0 ? length : 0;
        return 0 <= index && index < length ? Py_NewRef(PySequence_Fast_ITEMS(value)[index]) : NULL;
    }
    if (PyDict_Check(value) && is_plain(key))
        return item_of(value, key);
    return NULL;
}

static PyObject *computed(const Scope *scope, PyObject *formula);

/* What is at the beginning of a path, owned; NULL without an error if nothing is. */
static PyObject *root_of(const Scope *scope, PyObject *root)
{
    PyObject *value = variable(scope, root);
    if (value == NULL)
        value = item_of(scope->globals, root);
    return value == NULL && PyUnicode_CompareWithASCIIString(root, "globals()") == 0 ? Py_NewRef(scope->globals) : value;
}

/* The key of a step, owned: the constant itself, or what the variable or the formula is. NULL without an error if it has no
   value. */
static PyObject *key_of_step(const Scope *scope, long kind, PyObject *step)
{
    if (kind == BY_FORMULA)
        return computed(scope, step);
    return kind == BY_VARIABLE ? root_of(scope, step) : Py_NewRef(step);
}

static PyObject *next_of(const Scope *scope, PyObject *value, long kind, PyObject *step)
{
    if (kind == BY_ATTRIBUTE)
        return attribute_of(value, step);
    PyObject *key = key_of_step(scope, kind, step);
    PyObject *found = key != NULL ? item_at(value, key) : NULL;
    Py_XDECREF(key);
    return found;
}

/* `Recorder.may_be_below`; -1 with an error. */
static int may_be_below(PyObject *value, PyObject *step)
{
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(step, 0));
    PyObject *attribute = PyTuple_GET_ITEM(step, 1);
    if (kind != BY_ATTRIBUTE)
        return kind == BY_FORMULA || (kind == BY_VARIABLE && PyDict_Check(value)) ||
               !(PyList_CheckExact(value) || PyTuple_CheckExact(value) || PyDict_CheckExact(value) || is_simple(value));
    /* Most are methods. */
    PyTypeObject *type = Py_TYPE(value);
    PyObject *found = _PyType_Lookup(type, attribute);
    if (found != NULL ? PyFunction_Check(found) : type->tp_getattro == PyObject_GenericGetAttr)
        return 0;
    PyObject *answer = call(now.recorder, name.may_be_below, value, PyTuple_GET_ITEM(step, 0), attribute);
    int is_below = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    return is_below;
}

/* `Recorder.follow`; takes the reference to the value. NULL with an error, or if nothing is at the very end. */
static PyObject *follow(const Scope *scope, PyObject *value, PyObject *steps, int is_exact)
{
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(steps); index++) {
        PyObject *step = PyTuple_GET_ITEM(steps, index);
        long kind = PyLong_AsLong(PyTuple_GET_ITEM(step, 0));
        PyObject *found = next_of(scope, value, kind, PyTuple_GET_ITEM(step, 1));
        int is_below = found == NULL && !is_exact && !PyErr_Occurred() ? may_be_below(value, step) : 0;
        if (is_below > 0 && check_all_below(value) < 0)
            Py_CLEAR(value);
        if (PyErr_Occurred() || (found == NULL && is_exact))
            Py_CLEAR(value);
        if (found == NULL)
            return value;
        Py_SETREF(value, found);
    }
    return value;
}

static PyObject *length_of(PyObject *value) /* takes the reference */
{
    PyObject *length = NULL;
    if (value != NULL && (PyList_CheckExact(value) || PyTuple_CheckExact(value) || PyDict_CheckExact(value) || PyUnicode_CheckExact(value)))
        length = PyLong_FromSsize_t(PyObject_Size(value));
    Py_XDECREF(value);
    return length;
}

static PyObject *operated(long kind, PyObject *left, PyObject *right)
{
    if (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right) && kind == OF_SUM)
        return PyUnicode_Concat(left, right);
    if (!PyLong_CheckExact(left) || !PyLong_CheckExact(right))
        return NULL;
    switch (kind) {
    case OF_SUM:
        return PyNumber_Add(left, right);
    case OF_DIFFERENCE:
        return PyNumber_Subtract(left, right);
    case OF_PRODUCT:
        return PyNumber_Multiply(left, right);
    case OF_QUOTIENT:
        return PyNumber_FloorDivide(left, right);
    }
    return PyNumber_Remainder(left, right);
}

/* `Recorder.compute`; owned, NULL without an error if it has no value. */
static PyObject *computed(const Scope *scope, PyObject *formula)
{
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(formula, 0));
    PyObject *first = PyTuple_GET_ITEM(formula, 1);
    if (kind == OF_LITERAL)
        return Py_NewRef(first);
    if (kind == OF_PATH) {
        PyObject *value = root_of(scope, first);
        return value != NULL ? follow(scope, value, PyTuple_GET_ITEM(formula, 2), 1) : NULL;
    }
    if (kind == OF_LENGTH)
        return length_of(computed(scope, first));
    PyObject *left = computed(scope, first), *right = left != NULL ? computed(scope, PyTuple_GET_ITEM(formula, 2)) : NULL;
    PyObject *result = right != NULL ? operated(kind, left, right) : NULL;
    /* A division by zero is the program's, which has had it. */
    PyErr_Clear();
    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}

/* `Recorder.find`: the object at the end of a path, owned; NULL without an error if there is none. */
static PyObject *find_path(const Scope *scope, PyObject *root, PyObject *steps)
{
    PyObject *value = root_of(scope, root);
    return value == NULL ? NULL : follow(scope, value, steps, 0);
}

/* `Recorder.check_globals`: 1 if it is the dictionary of a module's variables, 0, or -1 with an error. Its name may be NULL. */
static int check_globals(PyObject *value, PyObject *wanted)
{
    if (!PyDict_CheckExact(value) || PyDict_Contains(value, name.__builtins__) != 1)
        return 0;
    PyObject *answer = call(now.recorder, name.check_globals, value, wanted, NULL);
    int is_it = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    return is_it;
}

static int check_slot(const Scope *scope, PyObject *value, PyObject *slot)
{
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(slot, 0));
    PyObject *step = PyTuple_GET_ITEM(slot, 1);
    if (kind == BY_ATTRIBUTE && PyModule_Check(value))
        return ignore(call(now.recorder, name.check_attribute, value, step, NULL));
    if (kind == BY_ATTRIBUTE)
        return check_attribute(value, step);
    PyObject *key = key_of_step(scope, kind, step);
    int failed = check_globals(value, key);
    if (failed == 0)
        failed = check_item(value, key != NULL ? key : now.missing);
    Py_XDECREF(key);
    return failed < 0 ? -1 : 0;
}

typedef int Check(const Scope *scope, PyObject *path, PyObject *value);

static int check_whole(const Scope *scope, PyObject *path, PyObject *value)
{
    int is_globals = check_globals(value, NULL);
    return is_globals == 0 ? check(value) : is_globals < 0 ? -1 : 0;
}

/* A slot is a path with one more step, by itself. */
static int check_last(const Scope *scope, PyObject *path, PyObject *value)
{
    return check_slot(scope, value, PyTuple_GET_ITEM(path, 2));
}

static int check_below(const Scope *scope, PyObject *path, PyObject *value)
{
    return is_simple(value) ? 0 : check_all_below(value);
}

/* `Heap.check_read` */
static int check_read(const Scope *scope, PyObject *path, PyObject *value)
{
    PyObject *known = PyDict_Check(value) && !PyDict_CheckExact(value) ? find(value) : NULL;
    int is_filled = known != NULL && FIELD(known, known_at.contents) != Py_None &&
                    PyDict_GET_SIZE(value) != PyLong_AsSsize_t(FIELD(known, known_at.length));
    return is_filled ? check(value) : 0;
}

static int watch_one(const Scope *scope, PyObject *path, PyObject *value)
{
    return watch(value);
}

/* What was returned to the line, if that may be changed; only this and what is in it if it is the one thing in others. */
static int check_returned(const Scope *scope, PyObject *activation, int is_one)
{
    PyObject *returned = FIELD(activation, activation_at.returned);
    if (returned == Py_None)
        return 0;
    FIELD(activation, activation_at.returned) = Py_NewRef(Py_None);
    int failed = is_one ? check_some_below(returned, WITH_PARTS) : check_below(scope, NULL, returned);
    Py_DECREF(returned);
    return failed;
}

/* Checks what paths lead to, which are a root and steps each. */
static int check_paths(const Scope *scope, PyObject *paths, Check *check_one)
{
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(paths); index++) {
        PyObject *path = PyTuple_GET_ITEM(paths, index);
        PyObject *value = find_path(scope, PyTuple_GET_ITEM(path, 0), PyTuple_GET_ITEM(path, 1));
        if (value == NULL) {
            if (PyErr_Occurred())
                return -1;
            continue;
        }
        int failed = check_one(scope, path, value);
        Py_DECREF(value);
        if (failed < 0)
            return -1;
    }
    return 0;
}

/* -- calls and lines ---------------------------------------------------------------------------------------------- */

/* What to do about an error: let the recording end, as `guarded` does. -1 if the program is to have it. */
static int recovered(void)
{
    if (!PyErr_Occurred())
        return 0;
    if (PyErr_ExceptionMatches(PyExc_RecursionError) || !PyErr_ExceptionMatches(PyExc_Exception))
        return -1;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *result = error != NULL ? call(now.recorder, name.fail, error, NULL, NULL) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
    return 0;
}

/* The thread that runs, borrowed. */
static PyObject *this_thread(void)
{
    /* No later thread has the same. */
    uint64_t identity = PyThreadState_Get()->id;
    if (now.thread == NULL || now.identity != identity) {
        PyObject *thread = call(now.recorder, name.thread, NULL, NULL, NULL);
        if (thread == NULL)
            return NULL;
        /* Another thread may run when the old one is released. This one keeps its own. */
        PyObject *old = now.thread;
        now.thread = thread;
        now.identity = identity;
        Py_XDECREF(old);
        return thread;
    }
    return now.thread;
}

static int store_shared(const Scope *scope, PyObject *names)
{
    PyObject *module = call(now.recorder, name.module, scope->globals, NULL, NULL);
    if (module == NULL)
        return -1;
    Scope shared = {scope->frame, scope->globals, scope->globals};
    uint64_t owner = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(module, 0));
    int failed = store(&shared, owner, PyTuple_GET_ITEM(module, 1), names);
    Py_DECREF(module);
    return failed;
}

static int settle_in(const Scope *scope, PyObject *activation, PyObject *effects)
{
    now.wire->by = number_in(activation, activation_at.number) << BY_SHIFT;
    PyObject *names = FIELD(effects, effects_at.names), *shared = FIELD(effects, effects_at.shared);
    uint64_t owner = number_in(activation, activation_at.owner);
    if (store(scope, owner, FIELD(activation, activation_at.known), names) < 0)
        return -1;
    if (PyTuple_GET_SIZE(shared) > 0 && store_shared(scope, shared) < 0)
        return -1;
    if (check_paths(scope, FIELD(effects, effects_at.paths), check_whole) < 0 ||
        check_paths(scope, FIELD(effects, effects_at.slots), check_last) < 0)
        return -1;
    int is_named = PyUnicode_Check(FIELD(effects, effects_at.returned));
    int is_one = is_named && FIELD(activation, activation_at.returned) != Py_None;
    if ((!is_one && check_paths(scope, FIELD(effects, effects_at.below), check_below) < 0) ||
        check_paths(scope, FIELD(effects, effects_at.read), check_read) < 0 ||
        check_paths(scope, FIELD(effects, effects_at.given), watch_one) < 0)
        return -1;
    return check_returned(scope, activation, is_one);
}

static int settle_watched(PyObject *activation)
{
    if (!has_watched_changed())
        return 0;
    turn_begin(now.turn);
    now.wire->by = number_in(activation, activation_at.number) << BY_SHIFT;
    int failed = ignore(call(now.heap, name.check_watched, NULL, NULL, NULL));
    turn_end(now.turn);
    return failed;
}

/* `Recorder.settle` of what is pending. An object is made of the frame that runs only where Python needs one. */
static int settle(PyObject *activation, Frame *frame)
{
    PyObject *effects = FIELD(activation, activation_at.pending);
    Scope scope;
    int failed = settle_watched(activation);
    if (effects == Py_None || failed < 0)
        return failed < 0 ? recovered() : 0;
    Py_INCREF(effects);
    if (scope_of(frame, &scope)) {
        turn_begin(now.turn);
        failed = settle_in(&scope, activation, effects);
        turn_end(now.turn);
    } else {
        failed = ignore(call(now.recorder, name.settle, activation, effects, (PyObject *)PyEval_GetFrame()));
    }
    Py_DECREF(effects);
    return failed < 0 ? recovered() : 0;
}

/* The word of a line; its effects become pending. 0 with an error. */
static uint64_t reach(PyObject *activation, int line)
{
    PyObject *code = FIELD(activation, activation_at.code);
    size_t at = found_at(code, (unsigned)line);
    if (found_lines[at].code == code && found_lines[at].line == line) {
        set_field(activation, activation_at.pending, Py_NewRef(found_lines[at].effects));
        return found_lines[at].word;
    }
    PyObject *key = PyLong_FromLong(line);
    PyObject *found = key != NULL ? Py_XNewRef(PyDict_GetItemWithError(FIELD(code, code_at.lines), key)) : NULL;
    if (found == NULL && !PyErr_Occurred())
        found = call(now.recorder, name.line_of, code, key, NULL);
    Py_XDECREF(key);
    if (found == NULL)
        return 0;
    uint64_t word = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(found, 0));
    set_field(activation, activation_at.pending, Py_NewRef(PyTuple_GET_ITEM(found, 1)));
    Py_XSETREF(found_lines[at].code, Py_NewRef(code));
    Py_XSETREF(found_lines[at].effects, Py_NewRef(PyTuple_GET_ITEM(found, 1)));
    found_lines[at].word = word;
    found_lines[at].line = line;
    Py_DECREF(found);
    return word;
}

static int on_line(PyObject *activation, int line)
{
    uint64_t word = reach(activation, line);
    if (word != 0)
        word |= number_in(activation, activation_at.number) << CALL_SHIFT;
    return word == 0 || record(now.wire, &word, 1) < 0 ? recovered() : 0;
}

/* An `Activation`, as its `__init__` makes it. */
static PyObject *new_activation(uint64_t number, PyObject *code, PyObject *caller)
{
    PyTypeObject *type = (PyTypeObject *)now.activation_type;
    PyObject *made = type->tp_alloc(type, 0);
    if (made == NULL)
        return NULL;
    FIELD(made, activation_at.number) = PyLong_FromUnsignedLongLong(number);
    FIELD(made, activation_at.owner) = PyLong_FromUnsignedLongLong(number << 1);
    FIELD(made, activation_at.known) = PyDict_New();
    FIELD(made, activation_at.code) = Py_NewRef(code);
    FIELD(made, activation_at.caller) = Py_NewRef(caller);
    FIELD(made, activation_at.pending) = Py_NewRef(Py_None);
    FIELD(made, activation_at.returned) = Py_NewRef(Py_None);
    if (FIELD(made, activation_at.number) && FIELD(made, activation_at.owner) && FIELD(made, activation_at.known))
        return made;
    Py_DECREF(made);
    return NULL;
}

static int write_enter(PyObject *activation, PyObject *thread, uint64_t number)
{
    PyObject *caller = FIELD(activation, activation_at.caller);
    uint64_t words[] = {
        number_in(FIELD(activation, activation_at.code), code_at.number),
        number << 1,
        number_in(thread, thread_at.number),
        caller == Py_None ? 0 : number_in(caller, activation_at.number),
    };
    for (int index = 0; index < 4; index++)
        words[index] = words[index] << 1 | 1;
    return blob(now.wire, number << 5 | ENTER, NULL, 0, words, 4);
}

/* Whether the line of a caller may have changed something before it calls. */
static int changes_early(PyObject *caller)
{
    PyObject *effects = caller != Py_None ? FIELD(caller, activation_at.pending) : Py_None;
    return effects != Py_None && FIELD(effects, effects_at.early) == Py_True;
}

/* `Recorder.enter`; a new reference. NULL may be without an error that the program is to have. */
static PyObject *enter(PyObject *thread, PyObject *code, Frame *frame)
{
    Scope scope;
    if (FIELD(code, code_at.is_module) == Py_True || changes_early(FIELD(thread, thread_at.top)) ||
        !scope_of(frame, &scope) || scope.dictionary != NULL)
        return call(now.recorder, name.enter, thread, code, (PyObject *)PyEval_GetFrame());
    turn_begin(now.turn);
    uint64_t number = ++now.wire->calls;
    PyObject *activation = new_activation(number, code, FIELD(thread, thread_at.top));
    int failed = activation == NULL;
    if (!failed) {
        set_field(thread, thread_at.top, Py_NewRef(activation));
        now.wire->by = number << BY_SHIFT;
        PyObject *known = FIELD(activation, activation_at.known);
        failed = write_enter(activation, thread, number) < 0 ||
                 store(&scope, number << 1, known, FIELD(code, code_at.arguments)) < 0;
    }
    turn_end(now.turn);
    if (failed && recovered() < 0)
        Py_CLEAR(activation);
    return activation;
}

/* Whether what a function returns may be changed by the line that called it: what any returns, or one of a name. */
static int is_wanted(PyObject *wanted, PyObject *code)
{
    PyObject *name = ((PyCodeObject *)FIELD(code, code_at.code))->co_name;
    return wanted == Py_True || (PyUnicode_Check(wanted) && PyUnicode_Compare(wanted, name) == 0);
}

/* `Recorder.leave` */
static int leave(PyObject *thread, PyObject *activation, PyObject *value, int tag)
{
    if (FIELD(FIELD(activation, activation_at.code), code_at.keeps) == Py_True)
        return ignore(call(now.recorder, name.leave, thread, activation, value)) < 0 ? recovered() : 0;
    uint64_t number = number_in(activation, activation_at.number);
    turn_begin(now.turn);
    now.wire->by = number << BY_SHIFT;
    uint64_t words[] = {number << 5 | tag, word_of(value, now.depth)};
    int failed = words[1] == 0 || record(now.wire, words, 2) < 0;
    turn_end(now.turn);
    if (failed)
        return recovered();
    PyObject *caller = FIELD(activation, activation_at.caller);
    set_field(thread, thread_at.top, Py_NewRef(caller));
    PyObject *effects = caller != Py_None ? FIELD(caller, activation_at.pending) : Py_None;
    if (effects != Py_None && is_wanted(FIELD(effects, effects_at.returned), FIELD(activation, activation_at.code)))
        set_field(caller, activation_at.returned, Py_NewRef(value));
    return 0;
}

/* The `Code` of a code object that has been entered before, borrowed; NULL for any other. */
static PyObject *remembered_code(PyCodeObject *code)
{
    void *found = NULL;
    PyUnstable_Code_GetExtra((PyObject *)code, now.extra, &found);
    return found;
}

/* What a method says of a code object, which is remembered with it: a `Code`, borrowed, or false or none; NULL with an
   error. */
static PyObject *code_known(PyCodeObject *code, PyObject *asked, PyObject *method)
{
    PyObject *found = remembered_code(code);
    if (found != NULL)
        return found;
    found = call(asked, method, (PyObject *)code, NULL, NULL);
    if (found == NULL)
        return NULL;
    /* `Recorder.codes` keeps it. */
    Py_DECREF(found);
    if (found != Py_None && PyUnstable_Code_SetExtra((PyObject *)code, now.extra, found) < 0)
        return NULL;
    return found;
}
