package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Objects of the program whose methods the debugger executes: the handler of a proxy stops at its beginning, and returns
 * what the debugger has found out. A JVM does not begin a call in a thread that is in another one, and a stop at a proxy
 * is in one. So there is a thread of its own for what calls proxies, and the stopped one remains free.
 */
final class Proxies {
    /** A handler that every JDK has, because a class that we add would stay in the program. It is never executed. */
    private static final String HANDLER = "sun.reflect.annotation.AnnotationInvocationHandler";
    /** How often it is looked, every 2 ms, whether a thread has begun, when the time is up. */
    private static final int LATE = 400;
    private final Debuggee debuggee;
    private final Evaluator evaluator;
    private final Calls.Call call;

    Proxies(Debuggee debuggee, Evaluator evaluator, Calls.Call call) {
        this.debuggee = debuggee;
        this.evaluator = evaluator;
        this.call = call;
    }

    /** What happens at a call of a proxy, whose thread is suspended. */
    interface Handler {
        void called(ThreadReference thread, EventSet set);
    }

    interface Result {
        Value get() throws Failure, IncompatibleThreadStateException;
    }

    /** Handles the call of a proxy; false if the events are of something else. */
    static boolean handle(EventSet set) {
        for (Object event : set) {
            if (!(event instanceof BreakpointEvent)) continue;
            BreakpointEvent hit = (BreakpointEvent) event;
            Object handler = hit.request().getProperty(Handler.class);
            if (handler == null) continue;
            ((Handler) handler).called(hit.thread(), set);
            return true;
        }
        return false;
    }

    /** Lets a call of a proxy return. */
    static void answer(Calls.Call call, ThreadReference thread, EventSet set, Result result) {
        try {
            thread.forceEarlyReturn(result.get());
        } catch (Failure failure) {
            call.fail(thread, failure);
        } catch (VMDisconnectedException gone) {
            return;
        } catch (IncompatibleThreadStateException | InvalidTypeException | ClassNotLoadedException | RuntimeException unable) {
            call.fail(thread, new Failure("the lambda cannot be evaluated: " + unable));
        }
        set.resume();
    }

    ObjectReference create(InterfaceType type, Handler what) throws Failure {
        call.mayChange("a lambda");
        ClassType owner = (ClassType) evaluator.loaded(HANDLER);
        // Its constructor wants a type of annotations.
        List<Value> arguments = Arrays.asList(evaluator.loaded("java.lang.Override").classObject(), null);
        ObjectReference handler = (ObjectReference) call.construct(owner, arguments);
        ArrayReference types = call.keep(((ArrayType) evaluator.loaded("java.lang.Class[]")).newInstance(1));
        try {
            types.setValue(0, type.classObject());
        } catch (InvalidTypeException | ClassNotLoadedException impossible) {
            throw new Failure("the lambda cannot be evaluated: " + impossible);
        }
        ReferenceType proxies = evaluator.loaded("java.lang.reflect.Proxy");
        Value proxy = call.method(null, proxies, "newProxyInstance", Arrays.asList(type.classLoader(), types, handler));
        BreakpointRequest request = debuggee.vm.eventRequestManager().createBreakpointRequest(owner.methodsByName("invoke").get(0).location());
        request.addInstanceFilter(handler);
        request.setSuspendPolicy(BreakpointRequest.SUSPEND_EVENT_THREAD);
        request.putProperty(Handler.class, what);
        call.uses(request);
        request.enable();
        return (ObjectReference) proxy;
    }

    /** From now on, calls are made in a thread that waits in a proxy of its own. */
    void begin() throws Failure {
        if (call.hasWorker()) return;
        CountDownLatch arrived = new CountDownLatch(1);
        EventSet[] at = new EventSet[1];
        ObjectReference runnable = create((InterfaceType) evaluator.loaded("java.lang.Runnable"), (thread, set) -> {
            at[0] = set;
            arrived.countDown();
        });
        ClassType type = (ClassType) evaluator.loaded("java.lang.Thread");
        ThreadReference thread = (ThreadReference) call.construct(type, List.of(runnable, call.text("stillframe expression")));
        call.method(thread, type, "setDaemon", List.of(debuggee.vm.mirrorOf(true)));
        call.method(thread, type, "start", List.of());
        try {
            // Without an answer, its code would fail, so it is waited for a little longer than there is time.
            for (int late = 0; !arrived.await(2, TimeUnit.MILLISECONDS); ) {
                if (call.isOver() && ++late > LATE) throw new Failure("the time is up");
                // In a program that is stopped, a thread is suspended before it begins.
                if (thread.suspendCount() > 0 && thread.frameCount() == 0) thread.resume();
            }
        } catch (InterruptedException | IncompatibleThreadStateException unable) {
            throw new Failure("the lambda cannot be evaluated: " + unable);
        }
        Runnable end = () -> answer(call, thread, at[0], () -> null);
        if (call.isOver()) {
            end.run();
            throw new Failure("the time is up");
        }
        call.workIn(thread, end);
    }
}
