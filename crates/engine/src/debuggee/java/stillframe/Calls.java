package stillframe;

import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.InvocationException;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.event.Event;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs code of the program in a stopped thread, with a deadline. Only that thread is resumed meanwhile. Code that does
 * not end is interrupted with an Error, as by `Thread.stop`; a thread that ignores that is abandoned.
 */
final class Calls {
    /** The time that interrupted code has to end. */
    private static final long GRACE = 1000;
    private final Debuggee debuggee;
    private volatile boolean isReadOnly;
    /** The threads that run code of the program, each with the evaluation. */
    private final Map<ThreadReference, Call> calling = new ConcurrentHashMap<>();
    private final List<ObjectReference> pinned = new ArrayList<>();
    private volatile ObjectReference stopper;

    Calls(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    /** Forbids running code of the program. */
    void forbid() {
        isReadOnly = true;
    }

    /** Work that may run code of the program. */
    interface Body<T> {
        T run(Call call) throws Failure;
    }

    boolean isCalling(ThreadReference thread) {
        return calling.containsKey(thread);
    }

    /** Notes that the code of an evaluation runs. */
    static void begun(Event event) {
        EventRequest request = event.request();
        Object call = request == null ? null : request.getProperty(Call.class);
        if (call != null) ((Call) call).hasBegun = true;
    }

    <T> T within(long milliseconds, ThreadReference thread, boolean isPure, Body<T> body) throws Failure {
        if (isCalling(thread)) {
            throw stillBusy(thread);
        }
        Call call = new Call(null, thread, isPure || isReadOnly);
        FutureTask<T> task = new FutureTask<>(() -> {
            try {
                return body.run(call);
            } finally {
                call.end();
            }
        });
        Session.daemon(task).start();
        try {
            return task.get(milliseconds, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw interrupted(call, task, milliseconds);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof VMDisconnectedException) throw (VMDisconnectedException) failed.getCause();
            throw failure(failed.getCause());
        } catch (InterruptedException ending) {
            throw new Failure("the debugger ends");
        }
    }

    private static Failure failure(Throwable cause) {
        if (cause instanceof Failure) return (Failure) cause;
        if (cause instanceof StackOverflowError) return new Failure("the expression is nested too deeply");
        return new Failure("it cannot be evaluated: " + cause);
    }

    /** What a thread cannot do while it runs an expression that was abandoned. */
    static Failure stillBusy(ThreadReference thread) {
        return new Failure("the thread `" + Threads.name(thread) + "` still runs an expression that did not end");
    }

    private Failure interrupted(Call call, FutureTask<?> task, long milliseconds) {
        call.isOver = true;
        try {
            call.interrupt();
            task.get(GRACE, TimeUnit.MILLISECONDS);
        } catch (Exception expected) {
            // It fails with the injected error, or takes longer.
        }
        ThreadReference busy = call.busy();
        if (task.isDone()) return new Failure("the expression did not end within " + milliseconds + " ms");
        // A thread that waits to enter a synchronized method has not begun it.
        boolean waits = busy != null && (!call.hasBegun || busy.status() == ThreadReference.THREAD_STATUS_MONITOR);
        return new Failure("the expression cannot be interrupted: a method that it calls "
            + (waits ? "waits for a lock, maybe one that a stopped thread holds" : "continues after the error that was thrown into it")
            + "; the thread `" + Threads.name(call.thread) + "` responds again when that returns");
    }

    /** Keeps objects that only we refer to from being collected while code of the program runs. */
    private <T extends Value> T pin(T value) {
        if (value instanceof ObjectReference) {
            ((ObjectReference) value).disableCollection();
            synchronized (pinned) {
                pinned.add((ObjectReference) value);
            }
        }
        return value;
    }

    void unpin() {
        synchronized (pinned) {
            for (ObjectReference object : pinned) {
                try {
                    object.enableCollection();
                } catch (ObjectCollectedException gone) {
                    // It was meant to fail.
                }
            }
            pinned.clear();
        }
    }

    /** Fails expressions that would end the program: it could not end while the thread that ends it runs our call. */
    private void forbidExits() {
        Proxies.Handler handler = (thread, set) -> {
            Call call = calling.get(thread);
            if (call != null) call.fail(thread, new Failure("it would end the program"));
            set.resume();
        };
        ReferenceType runtime = debuggee.vm.classesByName("java.lang.Runtime").get(0);
        for (String name : List.of("exit", "halt")) {
            BreakpointRequest request = debuggee.vm.eventRequestManager().createBreakpointRequest(runtime.methodsByName(name).get(0).location());
            request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            request.putProperty(Proxies.Handler.class, handler);
            request.enable();
        }
    }

    /** One evaluation, or one of a lambda in it. */
    final class Call {
        final ThreadReference thread;
        final boolean isPure;
        /** The whole evaluation. */
        private final Call whole;
        private volatile boolean isOver;
        private volatile Failure failed;
        /** A method that it calls has begun. */
        private volatile boolean hasBegun;
        /** The thread into which an error was thrown because the time was up. */
        private ThreadReference interrupted;
        /** Threads whose calls can be interrupted. */
        private final Set<ThreadReference> reached = ConcurrentHashMap.newKeySet();
        /** The thread of its own that makes the calls, once there are lambdas. */
        private ThreadReference worker;
        private final List<ThreadReference> workers = Collections.synchronizedList(new ArrayList<>());
        private final List<Runnable> ends = Collections.synchronizedList(new ArrayList<>());
        private final List<EventRequest> requests = Collections.synchronizedList(new ArrayList<>());

        private Call(Call whole, ThreadReference thread, boolean isPure) {
            this.whole = whole == null ? this : whole;
            this.thread = thread;
            this.isPure = isPure;
        }

        /** The evaluation of a lambda: its calls are made in the stopped thread again. */
        Call inner() {
            return new Call(whole, thread, isPure);
        }

        boolean isOver() {
            return whole.isOver;
        }

        boolean hasWorker() {
            return worker != null;
        }

        void workIn(ThreadReference thread, Runnable end) {
            worker = thread;
            whole.workers.add(thread);
            whole.ends.add(end);
        }

        /** Removes a request when the evaluation ends. */
        void uses(EventRequest request) {
            whole.requests.add(request);
        }

        private void end() {
            for (Runnable end : ends) end.run();
            debuggee.vm.eventRequestManager().deleteEventRequests(requests);
        }

        /** The thread that runs code of the program: others may wait for it. */
        private ThreadReference busy() {
            if (isCalling(thread)) return thread;
            for (int i = workers.size(); i-- > 0; ) {
                if (isCalling(workers.get(i))) return workers.get(i);
            }
            return null;
        }

        /** Throws an error into the code of the program that runs, if any does. */
        private synchronized void interrupt() throws InvalidTypeException {
            ThreadReference busy = busy();
            // Only once: JDWP ends the JVM if an error is already pending for a thread.
            if (stopper == null || failed != null || busy == null) return;
            interrupted = busy;
            busy.stop(stopper);
        }

        /**
         * Makes the next call in a thread one that an error can end. JDWP delivers an error, or an interrupt, to a thread
         * that an event has stopped only when it is done with that event, which is after the call; but it is done with the
         * last event only, so there has to be one in the call.
         */
        private void reach(ThreadReference thread) {
            if (!whole.reached.add(thread)) return;
            MethodEntryRequest entry = debuggee.vm.eventRequestManager().createMethodEntryRequest();
            entry.addThreadFilter(thread);
            entry.addCountFilter(1);
            entry.setSuspendPolicy(EventRequest.SUSPEND_NONE);
            entry.putProperty(Call.class, whole);
            uses(entry);
            entry.enable();
        }

        /**
         * Takes the error from a thread whose call has ended by itself meanwhile: the program must not get it, nor the
         * interrupt that comes with it.
         */
        private void takeBack(ThreadReference thread) {
            ClassType type = (ClassType) debuggee.vm.classesByName("java.lang.Thread").get(0);
            Method clear = type.concreteMethodByName("interrupted", "()Z");
            for (boolean isTaken = false; !isTaken; ) {
                try {
                    // In a thread that another stop suspends, a call would have to wait for it.
                    while (thread.suspendCount() > 1) Thread.sleep(20);
                    whole.reached.remove(thread);
                    reach(thread);
                    type.invokeMethod(thread, clear, List.of(), ClassType.INVOKE_SINGLE_THREADED);
                    isTaken = true;
                } catch (InvocationException pending) {
                    // This was the error.
                } catch (InterruptedException | IncompatibleThreadStateException | InvalidTypeException | ClassNotLoadedException gone) {
                    return;
                }
            }
        }

        /** Ends the code of the program that has called a lambda, which cannot give it a result; it may catch an exception. */
        void fail(ThreadReference caller, Failure failure) {
            synchronized (whole) {
                // An error may be pending for the thread already.
                if (whole.isOver || whole.failed != null) return;
                if (failure.exception == null) whole.failed = failure;
                try {
                    caller.stop(failure.exception == null ? stopper : failure.exception);
                } catch (InvalidTypeException impossible) {
                    // It is an Error or an exception.
                }
            }
        }

        Value text(String text) {
            return pin(debuggee.vm.mirrorOf(text));
        }

        <T extends Value> T keep(T value) {
            return pin(value);
        }

        void mayChange(String what) throws Failure {
            if (isPure) throw new Failure(what + " is not allowed without side effects");
        }

        /** Calls the matching overload of a method. `object` is null for a static one. */
        Value method(ObjectReference object, ReferenceType type, String name, List<Value> arguments) throws Failure {
            Overloads.Choice choice = Overloads.choose(debuggee, this, type, name, arguments, object == null);
            return invoke(object, type, choice.method, choice.arguments);
        }

        Value invoke(ObjectReference object, ReferenceType type, Method method, List<Value> arguments) throws Failure {
            mayChange("calling `" + Names.of(method) + "`");
            load(method);
            return run(thread -> {
                if (object != null) return object.invokeMethod(thread, method, arguments, ObjectReference.INVOKE_SINGLE_THREADED);
                ReferenceType owner = method.declaringType();
                if (owner instanceof InterfaceType) {
                    return ((InterfaceType) owner).invokeMethod(thread, method, arguments, ObjectReference.INVOKE_SINGLE_THREADED);
                }
                return ((ClassType) owner).invokeMethod(thread, method, arguments, ObjectReference.INVOKE_SINGLE_THREADED);
            });
        }

        /** Makes the types of the parameters known to the loader of the method's class: a call needs them. */
        private void load(Method method) throws Failure {
            ReferenceType owner = method.declaringType();
            for (int missing = method.argumentTypeNames().size(); missing > 0; missing--) {
                try {
                    method.argumentTypes();
                    return;
                } catch (ClassNotLoadedException unloaded) {
                    String name = unloaded.className();
                    String known = name.endsWith("[]") ? "[L" + name.substring(0, name.length() - 2) + ";" : name;
                    ReferenceType classes = debuggee.vm.classesByName("java.lang.Class").get(0);
                    method(null, classes, "forName", Arrays.asList(text(known), debuggee.vm.mirrorOf(false), owner.classLoader()));
                }
            }
        }

        /** Calls the method of an interface that an object inherits. */
        Value inherited(ObjectReference object, Method method, List<Value> arguments) throws Failure {
            Operators operators = new Operators(debuggee, this);
            List<Value> fitted = new ArrayList<>();
            for (int i = 0; i < arguments.size(); i++) fitted.add(operators.converted(arguments.get(i), method.argumentTypeNames().get(i)));
            int how = ObjectReference.INVOKE_SINGLE_THREADED | ObjectReference.INVOKE_NONVIRTUAL;
            return run(thread -> object.invokeMethod(thread, method, fitted, how));
        }

        Value construct(ClassType type, List<Value> arguments) throws Failure {
            mayChange("`new`");
            Overloads.Choice choice = Overloads.choose(debuggee, this, type, "<init>", arguments, false);
            load(choice.method);
            return run(thread -> type.newInstance(thread, choice.method, choice.arguments, ClassType.INVOKE_SINGLE_THREADED));
        }

        private Value run(Invocation invocation) throws Failure {
            if (whole.isOver) throw new Failure("the time is up");
            ThreadReference in = worker != null ? worker : thread;
            // A second suspension would keep the call from running.
            if (in.suspendCount() > 1) throw unable();
            boolean isOutermost = calling.putIfAbsent(in, whole) == null;
            try {
                if (stopper == null) {
                    stopper = newStopper();
                    forbidExits();
                }
                reach(in);
                Value value = pin(invocation.run(in));
                // The program may catch every Error.
                if (whole.failed != null) throw whole.failed;
                return value;
            } catch (InvocationException thrown) {
                if (whole.failed != null) throw whole.failed;
                ObjectReference exception = thrown.exception();
                if (exception.equals(stopper)) throw new Failure("it was interrupted");
                String message = Exceptions.message(exception);
                throw new Failure(exception.referenceType().name() + (message == null ? "" : ": " + message), pin(exception));
            } catch (IncompatibleThreadStateException running) {
                throw unable();
            } catch (InvalidTypeException | ClassNotLoadedException wrong) {
                throw new Failure("an argument does not fit: " + wrong.getMessage());
            } finally {
                synchronized (whole) {
                    if (in.equals(whole.interrupted)) takeBack(in);
                    if (isOutermost) calling.remove(in);
                }
                if (whole.isOver && worker == null) letGo();
            }
        }

        private Failure unable() {
            return new Failure("methods cannot be called in the thread `" + Threads.name(thread)
                + "`, because no breakpoint, step or exception has stopped it; read variables and fields, or choose the thread that stopped");
        }

        private ObjectReference newStopper() throws InvocationException, IncompatibleThreadStateException,
            InvalidTypeException, ClassNotLoadedException {
            ClassType error = (ClassType) debuggee.vm.classesByName("java.lang.Error").get(0);
            Method constructor = error.concreteMethodByName("<init>", "()V");
            ObjectReference object = error.newInstance(thread, constructor, List.of(), ClassType.INVOKE_SINGLE_THREADED);
            object.disableCollection();
            return object;
        }

        /** Resumes the thread of an abandoned call that has returned while the program runs. */
        private void letGo() {
            while (!debuggee.isStopped() && thread.suspendCount() > 0) thread.resume();
        }
    }

    private interface Invocation {
        Value run(ThreadReference thread) throws InvocationException, IncompatibleThreadStateException, InvalidTypeException, ClassNotLoadedException;
    }
}
