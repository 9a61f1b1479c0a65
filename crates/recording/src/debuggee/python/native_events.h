/* The events of Python: as record_tracing.py and record_monitoring.py. Part of record_native.c. */

#ifdef TRACES
/* -- events of sys.settrace --------------------------------------------------------------------------------------- */

/* The trace function of a frame: called by Python only while the program has a trace function of its own. */
typedef struct {
    PyObject_HEAD
    PyObject *activation;
    /* Of the recorder that it belongs to: a forked process has another one. */
    Py_ssize_t extra;
    int is_waiting;
} Tracer;

static PyTypeObject TracerType;

/* The trace function of a frame, borrowed, if it is ours. */
static Tracer *tracer_of(PyFrameObject *frame)
{
    Tracer *found = (Tracer *)frame->f_trace;
    return found != NULL && Py_IS_TYPE(found, &TracerType) && found->extra == now.extra ? found : NULL;
}

/* Give a frame a trace function. */
static int trace_frame(PyFrameObject *frame, PyObject *activation) /* takes the reference */
{
    Tracer *tracer = PyObject_GC_New(Tracer, &TracerType);
    if (tracer == NULL) {
        Py_DECREF(activation);
        return -1;
    }
    tracer->activation = activation;
    tracer->extra = now.extra;
    tracer->is_waiting = 0;
    PyObject_GC_Track(tracer);
    Py_XSETREF(frame->f_trace, (PyObject *)tracer);
    return 0;
}

static int trace_call(PyFrameObject *frame)
{
    PyObject *code = code_known(code_of(frame->f_frame), now.recorder, name.code);
    if (code == NULL || code == Py_None || code == Py_False)
        return code == NULL ? recovered() : 0;
    PyObject *thread = this_thread();
    if (thread == NULL)
        return recovered();
    Tracer *tracer = tracer_of(frame);
    if (tracer != NULL && tracer->is_waiting) {
        tracer->is_waiting = 0;
        return ignore(call(now.recorder, name.resume, thread, tracer->activation, NULL)) < 0 ? recovered() : 0;
    }
    PyObject *activation = enter(thread, code, frame->f_frame);
    if (activation == NULL)
        return PyErr_Occurred() ? recovered() : 0;
    return trace_frame(frame, activation) < 0 ? recovered() : 0;
}

/* Whether a frame that is left will be resumed. */
static int is_yield(PyFrameObject *frame)
{
    PyCodeObject *code = code_of(frame->f_frame);
    if (!(code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) || PyFrame_GetLasti(frame) < 0)
        return 0;
    int operation = _Py_OPCODE(*frame->f_frame->prev_instr);
    return operation == YIELD_VALUE || operation == SEND;
}

static int take(PyObject *inner, void *found)
{
    *(PyObject **)found = inner;
    return 0;
}

/* `unwrapped`; borrowed, and owned by the value. */
static PyObject *unwrapped(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && strcmp(type->tp_name, "async_generator_wrapped_value") == 0)
        type->tp_traverse(value, take, &value);
    return value;
}

static int trace_return(Tracer *tracer, PyFrameObject *frame, PyObject *value)
{
    PyObject *thread = this_thread();
    if (thread == NULL)
        return recovered();
    /* An exception leaves the frame. */
    if (value == NULL)
        return ignore(call(now.recorder, name.unwind, thread, tracer->activation, NULL)) < 0 ? recovered() : 0;
    tracer->is_waiting = is_yield(frame);
    return leave(thread, tracer->activation, tracer->is_waiting ? unwrapped(value) : value,
                 tracer->is_waiting ? SUSPEND : LEAVE);
}

static int trace_exception(Tracer *tracer, PyFrameObject *frame, PyObject *exception)
{
    PyObject *raised = call(now.source, name.on_exception, tracer->activation, (PyObject *)frame, exception);
    if (raised == NULL)
        return recovered();
    Py_DECREF(raised);
    return 0;
}

static int trace_in_frame(Tracer *tracer, PyFrameObject *frame, int what, PyObject *argument)
{
    if (tracer->activation == NULL)
        return 0;
    /* After an event other than the next line, more of this line may run. */
    if (settle(tracer->activation, frame->f_frame) < 0)
        return -1;
    switch (what) {
    case PyTrace_LINE:
        return on_line(tracer->activation, PyFrame_GetLineNumber(frame));
    case PyTrace_RETURN:
        return trace_return(tracer, frame, argument);
    case PyTrace_EXCEPTION:
        return trace_exception(tracer, frame, argument);
    }
    return 0;
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument)
{
    if (!now.is_on)
        return 0;
    int failed = 0;
    if (what == PyTrace_CALL) {
        failed = trace_call(frame);
    } else if (tracer_of(frame) != NULL) {
        Tracer *tracer = (Tracer *)Py_NewRef(tracer_of(frame));
        failed = trace_in_frame(tracer, frame, what, argument);
        Py_DECREF(tracer);
    }
    /* As when a trace function in Python raises. */
    if (failed < 0)
        PyEval_SetTrace(NULL, NULL);
    return failed;
}

static PyObject *Tracer_call(PyObject *self, PyObject *arguments, PyObject *names)
{
    PyObject *frame, *argument;
    const char *event;
    if (!PyArg_ParseTuple(arguments, "O!sO", &PyFrame_Type, &frame, &event, &argument))
        return NULL;
    int what = PyTrace_EXCEPTION;
    if (strcmp(event, "line") == 0)
        what = PyTrace_LINE;
    else if (strcmp(event, "return") == 0)
        what = PyTrace_RETURN;
    if (!now.is_on || ((Tracer *)self)->extra != now.extra)
        Py_RETURN_NONE;
    return trace_in_frame((Tracer *)self, (PyFrameObject *)frame, what, argument) < 0 ? NULL : Py_NewRef(self);
}

/* It may be part of a cycle: a frame, its variables as they are known, an exception, and its traceback. */
static int Tracer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Tracer *)self)->activation);
    return 0;
}

static int Tracer_clear(PyObject *self)
{
    Py_CLEAR(((Tracer *)self)->activation);
    return 0;
}

static void Tracer_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Tracer_clear(self);
    PyObject_GC_Del(self);
}

static PyTypeObject TracerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "record_native.Tracer", .tp_basicsize = sizeof(Tracer), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_call = Tracer_call, .tp_traverse = Tracer_traverse, .tp_clear = Tracer_clear, .tp_dealloc = Tracer_dealloc,
};

/* follow(frame, activation) */
static PyObject *follow_frame(PyObject *module, PyObject *arguments)
{
    PyObject *frame, *activation;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyFrame_Type, &frame, &activation) ||
        trace_frame((PyFrameObject *)frame, Py_NewRef(activation)) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *trace(PyObject *module, PyObject *unused)
{
    PyEval_SetTrace(on_event, NULL);
    Py_RETURN_NONE;
}
#else
/* -- events of sys.monitoring ------------------------------------------------------------------------------------- */

/* The activation that runs a code object in this thread, borrowed; NULL without an error if there is none. */
static PyObject *running(PyObject *code, PyObject **thread)
{
    *thread = this_thread();
    PyObject *activation = *thread != NULL ? FIELD(*thread, thread_at.top) : NULL;
    if (activation == NULL || activation == Py_None)
        return NULL;
    return FIELD(FIELD(activation, activation_at.code), code_at.code) == code ? activation : NULL;
}

/* Write what the line has changed that runs. What it is called with: the activation, owned, or NULL. */
static PyObject *settled(PyObject *code, PyObject **thread)
{
    PyObject *activation = Py_XNewRef(running(code, thread));
    if (activation != NULL && settle(activation, _PyThreadState_GetFrame(PyThreadState_Get())) < 0)
        Py_CLEAR(activation);
    return activation;
}

static PyObject *ended(PyObject *activation, int failed)
{
    Py_XDECREF(activation);
    if (activation == NULL && PyErr_Occurred())
        failed = recovered();
    return failed < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *monitor_line(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *thread, *activation = now.is_on && count == 2 ? settled(arguments[0], &thread) : NULL;
    return ended(activation, activation != NULL ? on_line(activation, (int)PyLong_AsLong(arguments[1])) : 0);
}

static PyObject *monitor_return(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *thread, *activation = now.is_on && count == 3 ? settled(arguments[0], &thread) : NULL;
    return ended(activation, activation != NULL ? leave(thread, activation, arguments[2], LEAVE) : 0);
}

static PyObject *monitor_start(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (!now.is_on || count != 2)
        Py_RETURN_NONE;
    PyObject *code = code_known((PyCodeObject *)arguments[0], now.source, name.observe);
    if (code == NULL)
        return ended(NULL, 0);
    if (code == Py_None || code == Py_False)
        return PyObject_GetAttr(now.source, name.disable);
    PyObject *thread = this_thread();
    if (thread == NULL)
        return ended(NULL, 0);
    return ended(enter(thread, code, _PyThreadState_GetFrame(PyThreadState_Get())), 0);
}
#endif
