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
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
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
    private final Set<ThreadReference> calling = ConcurrentHashMap.newKeySet();
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
        return calling.contains(thread);
    }

    <T> T within(long milliseconds, ThreadReference thread, boolean isPure, Body<T> body) throws Failure {
        if (isCalling(thread)) {
            throw new Failure("the thread `" + thread.name() + "` still runs an expression that did not end");
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

    private Failure interrupted(Call call, FutureTask<?> task, long milliseconds) {
        call.isOver = true;
        try {
            // Only once: JDWP ends the JVM if an error is already pending for a thread.
            ThreadReference busy = call.busy();
            if (stopper != null && call.failed == null && busy != null) busy.stop(stopper);
            task.get(GRACE, TimeUnit.MILLISECONDS);
        } catch (Exception expected) {
            // It fails with the injected error, or takes longer.
        }
        String problem = "the expression did not end within " + milliseconds + " ms";
        if (task.isDone()) return new Failure(problem);
        return new Failure("the expression cannot be interrupted: a method that it calls waits, maybe for the lock of a thread "
            + "that is stopped; the thread `" + call.thread.name() + "` responds again when that returns");
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

    /** One evaluation, or one of a lambda in it. */
    final class Call {
        final ThreadReference thread;
        final boolean isPure;
        /** The whole evaluation. */
        private final Call whole;
        private volatile boolean isOver;
        private volatile Failure failed;
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

        /** Ends the code of the program that has called a lambda, which cannot give it a result; it may catch an exception. */
        void fail(ThreadReference caller, Failure failure) {
            // An error may be pending for the thread already.
            if (whole.isOver || whole.failed != null) return;
            if (failure.exception == null) whole.failed = failure;
            try {
                caller.stop(failure.exception == null ? stopper : failure.exception);
            } catch (InvalidTypeException impossible) {
                // It is an Error or an exception.
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
            boolean isOutermost = calling.add(in);
            try {
                if (stopper == null) stopper = newStopper();
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
                if (isOutermost) calling.remove(in);
                if (whole.isOver && worker == null) letGo();
            }
        }

        private Failure unable() {
            return new Failure("methods cannot be called in the thread `" + thread.name()
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
