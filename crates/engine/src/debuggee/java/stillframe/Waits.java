package stillframe;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds what a thread waits for from the JDK methods on its stack. */
final class Waits {
    /** Prefixes of `Class.method` on a stack, and the kind of wait. */
    private static final String[][] KINDS = {
        {"java.io.FileInputStream.read", "input", "its standard input or a file"},
        {"sun.nio.ch.NioSocketImpl.accept", "server", "connections to a port"},
        {"java.net.PlainSocketImpl.socketAccept", "server", "connections to a port"},
        {"sun.nio.ch.Net.accept", "server", "connections to a port"},
        {"sun.nio.ch.ServerSocketChannelImpl", "server", "connections to a port"},
        {"sun.nio.ch.EPoll", "server", "events on its connections"},
        {"sun.nio.ch.KQueue", "server", "events on its connections"},
        {"sun.nio.ch.Net.poll", "socket", "data on a connection"},
        {"sun.nio.ch.SocketDispatcher.read", "socket", "data on a connection"},
        {"java.net.SocketInputStream", "socket", "data on a connection"},
        {"java.lang.ProcessImpl.waitFor", "child", "the end of another process"},
        {"java.lang.ProcessHandleImpl.waitFor", "child", "the end of another process"},
    };

    /** `JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT`. */
    private static final int WAITING_WITH_TIMEOUT = 0x20;

    private Waits() {
    }

    /**
     * Waits with a timeout end by themselves. The JVM keeps a thread's state in the object, as JVMTI defines it, but that
     * of a virtual thread in a way of its own.
     */
    static boolean isTimed(ThreadReference thread, List<StackFrame> frames) {
        if (Threads.isVirtual(thread)) return passes(frames, "java.lang.VirtualThread.parkNanos");
        Value status = Threads.field(thread, "threadStatus");
        return status instanceof IntegerValue && (((IntegerValue) status).value() & WAITING_WITH_TIMEOUT) != 0;
    }

    static Map<String, Object> of(Threads threads, List<StackFrame> frames, String top, ObjectReference monitor, boolean isTimed)
        throws IncompatibleThreadStateException {
        if (top.startsWith("java.lang.Thread.sleep") || passes(frames, "java.lang.VirtualThread.sleepNanos")) {
            return wait("timer", "a `Thread.sleep`", true, null);
        }
        for (StackFrame frame : first(frames)) {
            String method = name(frame);
            for (String[] kind : KINDS) {
                if (method.startsWith(kind[0])) return wait(kind[1], kind[2], false, null);
            }
            if (method.startsWith("java.lang.Thread.join") || method.startsWith("java.lang.VirtualThread.join")) {
                ThreadReference joined = self(frame, ThreadReference.class);
                List<Object> holders = joined == null ? null : List.of(threads.number(joined));
                String who = joined == null ? "another thread" : "the thread `" + Threads.name(joined) + "`";
                return wait("thread", "the end of " + who, isTimed, holders);
            }
        }
        boolean isParked = top.startsWith("jdk.internal.misc.Unsafe.park") || top.startsWith("sun.misc.Unsafe.park");
        if (isParked || passes(frames, "java.lang.VirtualThread.park")) {
            return parked(threads, frames, isTimed);
        }
        if (top.startsWith("java.lang.Object.wait")) {
            String of = monitor == null ? "a monitor" : Threads.described(monitor);
            return wait("lock", "a `notify` of " + of, isTimed, null);
        }
        return null;
    }

    private static boolean passes(List<StackFrame> frames, String method) {
        return first(frames).stream().anyMatch(frame -> name(frame).startsWith(method));
    }

    /** Enough to see through what the JDK calls to wait. */
    private static List<StackFrame> first(List<StackFrame> frames) {
        return frames.subList(0, Math.min(8, frames.size()));
    }

    /** A lock of `java.util.concurrent` records its owner. */
    private static Map<String, Object> parked(Threads threads, List<StackFrame> frames, boolean isTimed) {
        for (StackFrame frame : frames) {
            String type = frame.location().declaringType().name();
            if (!Sources.isOfJdk(type)) break;
            ObjectReference object = self(frame, ObjectReference.class);
            if (object == null) continue;
            Value owner = Values.field(object, "exclusiveOwnerThread");
            if (name(frame).equals("java.util.concurrent.ThreadPoolExecutor.getTask")) {
                return wait("lock", "a task of its thread pool, which was not shut down", isTimed, null);
            }
            boolean isLock = name(frame).endsWith(".lock") || name(frame).contains("acquire");
            if (owner instanceof ThreadReference && isLock) {
                String what = Names.simple(object.referenceType().name()).replaceAll("\\.(NonfairSync|FairSync|Sync)$", "");
                return wait("lock", "a `" + what + "`", isTimed, List.of(threads.number((ThreadReference) owner)));
            }
        }
        String waiter = "something";
        for (StackFrame frame : frames) {
            String type = frame.location().declaringType().name();
            if (!Sources.isOfJdk(type)) break;
            waiter = Names.of(frame.location().method());
        }
        return wait("lock", "what `" + waiter + "` waits for", isTimed, null);
    }

    private static Map<String, Object> wait(String kind, String what, boolean isTimed, List<Object> holders) {
        return Json.object("kind", kind, "what", what, "timed", isTimed, "holders", holders == null ? new ArrayList<>() : holders);
    }

    private static String name(StackFrame frame) {
        Location location = frame.location();
        return location.declaringType().name() + "." + location.method().name();
    }

    private static <T> T self(StackFrame frame, Class<T> type) {
        try {
            ObjectReference self = frame.thisObject();
            return type.isInstance(self) ? type.cast(self) : null;
        } catch (RuntimeException unavailable) {
            return null;
        }
    }
}
