package stillframe;

import com.sun.jdi.BooleanValue;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadGroupReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The threads of a JVM: their IDs, names, states and waits. */
final class Threads {
    private static final int MOST_FRAMES = 200;
    /** A program can have a million. */
    private static final int MOST_VIRTUAL = 200;
    private final Debuggee debuggee;
    private final Map<ThreadReference, Long> numbers = new LinkedHashMap<>();
    private long last;

    Threads(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    synchronized long number(ThreadReference thread) {
        return numbers.computeIfAbsent(thread, key -> ++last);
    }

    synchronized ThreadReference byNumber(Object number) throws Failure {
        long wanted = Json.number(number, 0);
        for (Map.Entry<ThreadReference, Long> one : numbers.entrySet()) {
            if (one.getValue() == wanted && !hasEnded(one.getKey())) return one.getKey();
        }
        throw new Failure("no thread `" + wanted + "`");
    }

    /**
     * All threads, but of the virtual ones only this many, those that stopped or were shown last first. A JVM that was
     * started without `includevirtualthreads` names only the others itself, so a virtual one is known once it has stopped.
     */
    private List<ThreadReference> live() {
        List<ThreadReference> live = new ArrayList<>();
        List<ThreadReference> known = numbered();
        Collections.reverse(known);
        known.removeIf(thread -> !isVirtual(thread));
        Set<ThreadReference> virtual = new LinkedHashSet<>(known);
        for (ThreadReference thread : debuggee.vm.allThreads()) {
            if (isVirtual(thread)) virtual.add(thread);
            else live.add(thread);
        }
        virtual.stream().limit(MOST_VIRTUAL).forEach(live::add);
        return live;
    }

    /** The threads that have a number. Those that have ended lose it. */
    private synchronized List<ThreadReference> numbered() {
        numbers.keySet().removeIf(Threads::hasEnded);
        return new ArrayList<>(numbers.keySet());
    }

    private static boolean hasEnded(ThreadReference thread) {
        try {
            return thread.status() == ThreadReference.THREAD_STATUS_ZOMBIE;
        } catch (ObjectCollectedException gone) {
            return true;
        }
    }

    /** No program has a class in this package. */
    static boolean isVirtual(ThreadReference thread) {
        String type = thread.referenceType().name();
        return type.equals("java.lang.VirtualThread") || type.equals("java.lang.ThreadBuilders$BoundVirtualThread");
    }

    static String name(ThreadReference thread) {
        if (!isVirtual(thread)) return thread.name();
        return thread.name().isEmpty() ? "virtual thread " + shortName(thread) : thread.name() + " (virtual)";
    }

    /** Most virtual threads have no name. */
    static String shortName(ThreadReference thread) {
        return thread.name().isEmpty() && isVirtual(thread) ? "#" + field(thread, "tid") : thread.name();
    }

    /** User threads first: those of the JVM itself are in the group `system`. */
    private List<ThreadReference> ordered() {
        List<ThreadReference> threads = new ArrayList<>();
        List<ThreadReference> system = new ArrayList<>();
        for (ThreadReference thread : live()) {
            (isSystem(thread) ? system : threads).add(thread);
        }
        threads.addAll(system);
        return threads;
    }

    /** Threads of the JVM itself are not listed, unless one has stopped. */
    private boolean isListed(ThreadReference thread) {
        return !isSystem(thread) || (debuggee.isStopped() && thread.isAtBreakpoint());
    }

    static boolean isSystem(ThreadReference thread) {
        try {
            if (isVirtual(thread)) return false;
            ThreadGroupReference group = thread.threadGroup();
            return group == null || group.parent() == null || group.name().equals("InnocuousThreadGroup");
        } catch (ObjectCollectedException gone) {
            return true;
        }
    }

    List<Object> list() {
        List<Object> rows = new ArrayList<>();
        for (ThreadReference thread : ordered()) {
            try {
                if (!isListed(thread)) continue;
                String name = name(thread) + (isDaemon(thread) ? " (daemon)" : "");
                rows.add(Json.object("id", number(thread), "name", name));
            } catch (ObjectCollectedException gone) {
                // It has ended meanwhile.
            }
        }
        return rows;
    }

    private static boolean isDaemon(ThreadReference thread) {
        Value isDaemon = field(thread, "daemon");
        return isDaemon instanceof BooleanValue && ((BooleanValue) isDaemon).value();
    }

    /** A field of a thread, which newer versions of Java keep in an object of its own. */
    static Value field(ThreadReference thread, String name) {
        Value holder = Values.field(thread, "holder");
        return Values.field(holder instanceof ObjectReference ? (ObjectReference) holder : thread, name);
    }

    boolean isRunning(ThreadReference thread) {
        return thread.status() == ThreadReference.THREAD_STATUS_RUNNING;
    }

    /** The requested thread, or else one that runs user code. */
    ThreadReference toPause(Object number) throws Failure {
        ThreadReference thread = debuggee.suspended(() -> {
            ThreadReference asked = null;
            ThreadReference users = null;
            for (ThreadReference one : ordered()) {
                if (isSystem(one)) continue;
                if (asked == null || number(one) == Json.number(number, 0)) asked = one;
                if (users == null && hasUserFrame(one)) users = one;
            }
            return asked != null && hasUserFrame(asked) || users == null ? asked : users;
        });
        if (thread == null) throw new Failure("the program has no thread to pause");
        return thread;
    }

    boolean hasUserFrame(ThreadReference thread) {
        try {
            for (StackFrame frame : thread.frames()) {
                if (debuggee.sources.isUsers(frame.location())) return true;
            }
        } catch (IncompatibleThreadStateException running) {
            // An evaluation is running in it.
        }
        return false;
    }

    /** What each thread does and waits for. The program is suspended briefly for that. */
    Map<String, Object> activity() {
        List<Object> rows = debuggee.suspended(() -> {
            List<Object> found = new ArrayList<>();
            for (ThreadReference thread : ordered()) {
                if (isSystem(thread)) continue;
                try {
                    found.add(activity(thread));
                } catch (IncompatibleThreadStateException | ObjectCollectedException gone) {
                    // It has ended meanwhile.
                }
            }
            return found;
        });
        return Json.object("threads", rows);
    }

    private Map<String, Object> activity(ThreadReference thread) throws IncompatibleThreadStateException {
        List<Object> stack = new ArrayList<>();
        List<StackFrame> frames = thread.frames(0, Math.min(thread.frameCount(), MOST_FRAMES));
        for (StackFrame frame : frames) stack.add(place(frame.location()));
        return Json.object("id", number(thread), "name", name(thread), "daemon", isDaemon(thread), "stack", stack,
            "blocked", blocked(thread, frames));
    }

    /** Function, file or null, and line. */
    private List<Object> place(Location location) {
        List<Object> place = new ArrayList<>();
        place.add(Names.of(location.method()));
        place.add(debuggee.sources.isUsers(location) ? debuggee.sources.fileOf(location) : null);
        place.add((long) location.lineNumber());
        place.add((long) firstLine(location));
        return place;
    }

    private static int firstLine(Location location) {
        return location.method().location() == null ? location.lineNumber() : location.method().location().lineNumber();
    }

    private Map<String, Object> blocked(ThreadReference thread, List<StackFrame> frames)
        throws IncompatibleThreadStateException {
        if (frames.isEmpty()) return null;
        int status = thread.status();
        String top = frames.get(0).location().declaringType().name() + "." + frames.get(0).location().method().name();
        ObjectReference monitor = thread.currentContendedMonitor();
        if (monitor != null && status == ThreadReference.THREAD_STATUS_MONITOR) {
            List<Object> holders = new ArrayList<>();
            ThreadReference owner = owner(monitor);
            if (owner != null) holders.add(number(owner));
            return Json.object("kind", "lock", "what", "the monitor of " + described(monitor), "timed", false, "holders", holders);
        }
        boolean isTimed = status == ThreadReference.THREAD_STATUS_SLEEPING || Waits.isTimed(thread, frames);
        return Waits.of(this, frames, top, monitor, isTimed);
    }

    /** For a monitor, a JVM reports no virtual thread as its owner; for the thread, it reports what it owns. */
    private ThreadReference owner(ObjectReference monitor) throws IncompatibleThreadStateException {
        if (monitor.owningThread() != null) return monitor.owningThread();
        for (ThreadReference thread : live()) {
            if (isVirtual(thread) && thread.ownedMonitors().contains(monitor)) return thread;
        }
        return null;
    }

    static String described(ObjectReference object) {
        return "a `" + Names.simple(object.referenceType().name()) + "`";
    }
}
