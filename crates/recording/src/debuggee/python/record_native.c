/* The hot path of the recorder of Python, compiled by the user's C compiler for one version of Python.

   It writes the same records as the Python code whose place it takes: `Wire` (record_wire.py), the methods of `Heap` that
   find out what has changed (record_heap.py), `Recorder.enter`, `leave`, `settle` and what they call (record_run.py), and
   the events (record_tracing.py, record_monitoring.py). The objects are those of the Python code; the fields of its
   classes are read where `__slots__` puts them. What is unusual is left to the Python method of the same name.

   The GIL is held throughout. Whatever releases an object of the program may run code of the program and let other
   threads run, so that what is used afterwards is owned here. A function that returns an int returns -1 with an error
   set. No error reaches the program but a RecursionError or a KeyboardInterrupt, as in `guarded`. */

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <structmember.h>
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <opcode.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030E0000 || defined(Py_GIL_DISABLED) || SIZEOF_VOID_P != 8
#error "not written for this Python"
#endif
#if PY_VERSION_HEX < 0x030C0000
#define TRACES 1
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#endif

/* As in record_wire.py. */
enum { SIZE = 1 << 18 };
enum { LINE = 1, ENTER = 2, LEAVE = 3, SUSPEND = 6, WRITE = 9, TEXT = 10, OBJECT = 11 };
enum { INTEGER = 1, CONSTANT = 2, REFERENCE = 4 };
enum { NAME, INDEX, ITEM, LENGTH };
enum { CALL_SHIFT = 29, BY_SHIFT = 32 };
#define CONSTANT_WORD(number) ((uint64_t)(number) << 3 | CONSTANT)
#define NONE_WORD CONSTANT_WORD(0)
#define ABSENT CONSTANT_WORD(3)
/* As in record_heap.py, record_shapes.py and record_effects.py. */
#define WIDE ((int64_t)1 << 60)
enum { NEW = 64, MOST_MEMBERS = 8, MOST_BELOW = 1000, WITH_PARTS = 2, UNREAD = -2 };
enum { FUNCTION, LIST, DICT, SET, TUPLE, INSTANCE, OPAQUE, CLASS };
enum { BY_ATTRIBUTE, BY_CONSTANT, BY_VARIABLE, BY_FORMULA };
enum { OF_LITERAL, OF_PATH, OF_LENGTH, OF_SUM, OF_DIFFERENCE, OF_PRODUCT, OF_QUOTIENT, OF_REST };

#include "native_wire.h"

#include "native_heap.h"

#include "native_parts.h"

#include "native_calls.h"

#include "native_events.h"

/* -- the module --------------------------------------------------------------------------------------------------- */

static int keep(PyObject **where, PyObject *value) /* takes the reference */
{
    Py_XSETREF(*where, value);
    return value != NULL ? 0 : -1;
}

static int keep_attribute(PyObject **where, PyObject *object, const char *attribute)
{
    return keep(where, PyObject_GetAttrString(object, attribute));
}

static int keep_number(Py_ssize_t *where, const char *attribute)
{
    PyObject *number = PyObject_GetAttrString(now.heap, attribute);
    *where = number != NULL ? PyLong_AsSsize_t(number) : -1;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int find_fields(PyObject *classes)
{
    for (size_t index = 0; index < Py_ARRAY_LENGTH(FIELDS); index++) {
        PyObject *class = PyDict_GetItemString(classes, FIELDS[index].class);
        if (class == NULL) {
            PyErr_SetString(PyExc_KeyError, FIELDS[index].class);
            return -1;
        }
        if (find_field(class, FIELDS[index].field, FIELDS[index].at) < 0)
            return -1;
    }
    return 0;
}

/* attach(recorder, source, classes, missing): work for this recorder from now on. */
static PyObject *attach(PyObject *module, PyObject *arguments)
{
    PyObject *recorder, *source, *classes, *missing;
    if (!PyArg_ParseTuple(arguments, "OOO!O", &recorder, &source, &PyDict_Type, &classes, &missing) ||
        find_fields(classes) < 0)
        return NULL;
    now.is_on = 0;
    Py_CLEAR(now.thread);
    forget_found(1);
    /* A forked process has other numbers for the same code. */
    now.extra = PyUnstable_Eval_RequestCodeExtraIndex(NULL);
    if (now.extra < 0) {
        PyErr_SetString(PyExc_RuntimeError, "too many forks");
        return NULL;
    }
    if (keep(&now.recorder, Py_NewRef(recorder)) < 0 || keep(&now.source, Py_NewRef(source)) < 0 ||
        keep(&now.missing, Py_NewRef(missing)) < 0 || keep_attribute(&now.heap, recorder, "heap") < 0 ||
        keep_attribute((PyObject **)&now.wire, recorder, "wire") < 0 ||
        keep_attribute((PyObject **)&now.turn, recorder, "turn") < 0 || keep_attribute(&now.known, now.heap, "known") < 0 ||
        keep_attribute(&now.tuples, now.heap, "tuples") < 0 || keep_attribute(&now.watched, now.heap, "watched") < 0 ||
        keep(&now.known_type, Py_XNewRef(PyDict_GetItemString(classes, "Known"))) < 0 ||
        keep_attribute(&now.shapes, now.heap, "shapes") < 0 ||
        keep_attribute(&now.texts, now.heap, "texts") < 0 || keep_attribute(&now.floats, now.heap, "floats") < 0 ||
        keep(&now.activation_type, Py_XNewRef(PyDict_GetItemString(classes, "Activation"))) < 0)
        return NULL;
    if (keep_number(&now.items, "items") < 0 || keep_number(&now.most_text, "most_text") < 0 ||
        keep_number(&now.depth, "depth") < 0)
        return NULL;
    now.is_on = 1;
    Py_RETURN_NONE;
}

static PyObject *detach(PyObject *module, PyObject *unused)
{
    now.is_on = 0;
    Py_RETURN_NONE;
}

/* What lines change has changed. */
static PyObject *forget_lines(PyObject *module, PyObject *unused)
{
    forget_found(0);
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"attach", attach, METH_VARARGS, NULL},
    {"detach", detach, METH_NOARGS, NULL},
    {"forget_lines", forget_lines, METH_NOARGS, NULL},
#ifdef TRACES
    {"follow", follow_frame, METH_VARARGS, NULL},
    {"trace", trace, METH_NOARGS, NULL},
#else
    {"on_line", (PyCFunction)(void (*)(void))monitor_line, METH_FASTCALL, NULL},
    {"on_return", (PyCFunction)(void (*)(void))monitor_return, METH_FASTCALL, NULL},
    {"on_start", (PyCFunction)(void (*)(void))monitor_start, METH_FASTCALL, NULL},
#endif
    {NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, .m_name = "record_native", .m_size = -1, .m_methods = METHODS,
};

static int make_names(void)
{
#define MAKE(text) keep(&name.text, PyUnicode_InternFromString(#text)) < 0
    return MAKE(leave) || MAKE(word) || MAKE(check) || MAKE(fail) || MAKE(thread) || MAKE(code) || MAKE(enter) ||
                   MAKE(settle) || MAKE(line_of) || MAKE(attribute) || MAKE(module) || MAKE(key_of) || MAKE(unwind) ||
                   MAKE(resume) || MAKE(on_exception) || MAKE(observe) || MAKE(disable) || MAKE(contents_of) ||
                   MAKE(new) || MAKE(sweep) || MAKE(check_attribute) || MAKE(may_be_below) || MAKE(watch) ||
                   MAKE(check_watched) || MAKE(check_globals) || MAKE(__builtins__)
               ? -1
               : 0;
#undef MAKE
}

PyMODINIT_FUNC PyInit_record_native(void)
{
    if (Py_Version != PY_VERSION_HEX || PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "compiled for another Python");
        return NULL;
    }
#ifdef TRACES
    if (PyType_Ready(&TracerType) < 0)
        return NULL;
#endif
    if (PyType_Ready(&WireType) < 0 || PyType_Ready(&TurnType) < 0 || make_names() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&MODULE);
    if (module == NULL || PyModule_AddObjectRef(module, "Wire", (PyObject *)&WireType) < 0 ||
        PyModule_AddObjectRef(module, "Turn", (PyObject *)&TurnType) < 0)
        return NULL;
    return module;
}
