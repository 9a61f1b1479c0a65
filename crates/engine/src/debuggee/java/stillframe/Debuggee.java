package stillframe;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** One JVM: whether it runs or is stopped, and its parts. */
final class Debuggee {
    final VirtualMachine vm;
    final Wire wire;
    final Sources sources;
    final Threads threads;
    final Frames frames;
    final Breakpoints breakpoints;
    final Exceptions exceptions;
    final Steps steps;
    final Calls calls;
    final TestReports reports;
    final boolean justMyCode;
    private final boolean stopsOnEntry;
    private final Pump pump;
    /** Events that arrived while another stop is reported. */
    private final List<EventSet> deferred = new ArrayList<>();
    /** Held while a rule runs code of the program, which a pause must not interrupt. */
    final ReentrantLock ruling = new ReentrantLock(true);
    private boolean isStopped;
    private ThreadReference pausing;
    private final ProcessHandle program;
    private volatile boolean isGone;
    private volatile boolean isLeft;

    /** `program` is the process that was launched: none for a JVM that was attached to, or that another one started. */
    Debuggee(VirtualMachine vm, Wire wire, Map<String, Object> arguments, ProcessHandle program) {
        this.vm = vm;
        this.wire = wire;
        this.program = program;
        stopsOnEntry = Json.flag(arguments.get("stopOnEntry"));
        justMyCode = Json.flag(arguments.get("justMyCode"));
        sources = new Sources(Json.string(arguments.get("cwd")), Json.list(arguments.get("sources")));
        reports = new TestReports(arguments, sources);
        threads = new Threads(this);
        calls = new Calls(this);
        frames = new Frames(this);
        breakpoints = new Breakpoints(this);
        exceptions = new Exceptions(this);
        steps = new Steps(this);
        pump = new Pump(this);
    }

    /** Starts it after the configuration. */
    void begin() {
        if (stopsOnEntry) {
            MethodEntryRequest entry = vm.eventRequestManager().createMethodEntryRequest();
            Steps.LIBRARIES.forEach(entry::addClassExclusionFilter);
            entry.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            entry.enable();
        }
        // A JVM that is suspended at startup resumes with its first event.
        pump.start();
    }

    synchronized boolean isStopped() {
        return isStopped;
    }

    /**
     * Stops all threads because of an event, which has suspended its own thread. If another stop is reported, the event
     * is handled again on resume.
     */
    synchronized void stop(ThreadReference thread, EventSet set, String reason, List<Object> numbers, String text) {
        if (isStopped) {
            deferred.add(set);
            return;
        }
        vm.suspend();
        // All threads are suspended once now.
        set.resume();
        show(thread, reason, numbers, text);
    }

    /** Reads something while no thread runs. A resume would invalidate the frames of a stop. */
    synchronized <T> T suspended(Supplier<T> read) {
        if (isStopped) return read.get();
        vm.suspend();
        try {
            return read.get();
        } finally {
            vm.resume();
        }
    }

    private void show(ThreadReference thread, String reason, List<Object> numbers, String text) {
        isStopped = true;
        pausing = null;
        steps.end();
        wire.event("stopped", Json.object("reason", reason, "threadId", threads.number(thread),
            "allThreadsStopped", true, "hitBreakpointIds", numbers, "text", text));
    }

    /** Queues an event if a stop is reported. */
    synchronized boolean defers(EventSet set) {
        if (isStopped) deferred.add(set);
        return isStopped;
    }

    synchronized void resume() throws Failure {
        if (!isStopped) throw new Failure("the program is already running");
        isStopped = false;
        frames.forget();
        calls.unpin();
        exceptions.forget();
        steps.forget();
        vm.resume();
        pump.again(deferred);
        deferred.clear();
    }

    /**
     * A thread can call methods only if an event has stopped it, so a running one is stopped by a step of one
     * instruction. A blocked one is suspended where it is.
     */
    void pause(Object number) throws Failure, InterruptedException {
        ThreadReference thread;
        ruling.lock();
        try {
            thread = threads.toPause(number);
            synchronized (this) {
                // Another stop came first, and is reported.
                if (isStopped) return;
                pausing = thread;
            }
            if (threads.isRunning(thread)) steps.nudge(thread);
        } finally {
            ruling.unlock();
        }
        for (int i = 0; i < 40 && threads.isRunning(thread) && !isStopped(); i++) Thread.sleep(5);
        ruling.lock();
        try {
            synchronized (this) {
                if (isStopped) return;
                steps.end();
                vm.suspend();
                show(thread, "pause", null, null);
            }
        } finally {
            ruling.unlock();
        }
    }

    synchronized boolean isPausing(ThreadReference thread) {
        return thread.equals(pausing);
    }

    /** Whether the JVM has ended. The program may not have: a script may start further JVMs. */
    boolean isGone() {
        return isGone;
    }

    /** Whether the program keeps running without the JVM, which has just ended. */
    boolean isOutlived() {
        try {
            for (int i = 0; i < 40 && isAlive(); i++) Thread.sleep(5);
        } catch (InterruptedException ended) {
            return false;
        }
        return isAlive();
    }

    private boolean isAlive() {
        return program != null && program.isAlive();
    }

    /** The JVM has ended. Returns once the program has, too, or no client waits for it. */
    void outlive() {
        isGone = true;
        try {
            while (!isLeft && isAlive()) Thread.sleep(5);
        } catch (InterruptedException ended) {
            // The bridge ends.
        }
    }

    /** Detaches from the program, or ends it. */
    void leave(boolean kills) {
        isLeft = true;
        try {
            if (kills) vm.exit(143);
            else vm.dispose();
        } catch (VMDisconnectedException gone) {
            // It has ended.
        }
    }

    /** The stack of a thread, or an error. */
    static Failure unreadable(ThreadReference thread, IncompatibleThreadStateException error) {
        return new Failure("the thread `" + Threads.name(thread) + "` is running, so its frames cannot be read");
    }
}
