package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ExceptionRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Stops at exceptions. Each is reported once, where it is thrown. */
final class Exceptions {
    private static final long MESSAGE_WITHIN = 1000;
    private static final List<String> LOADERS = List.of("java.lang.ClassLoader", "java.net.URLClassLoader");
    /** How many frames of a cause are shown. */
    private static final int CAUSE_FRAMES = 30;
    /** How many frames are read at once. */
    private static final int FRAMES = 6;
    private final Debuggee debuggee;
    private final List<ExceptionRequest> requests = new ArrayList<>();
    private boolean caught;
    private boolean uncaught;
    private boolean userUnhandled;
    private long reported = -1;
    private volatile ObjectReference exception;
    private volatile ThreadReference thread;
    private volatile boolean isUncaught;

    Exceptions(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    synchronized void select(List<Object> filters) {
        debuggee.vm.eventRequestManager().deleteEventRequests(requests);
        requests.clear();
        caught = filters.contains("caught");
        uncaught = filters.contains("uncaught");
        userUnhandled = filters.contains("userUnhandled");
        if (uncaught || userUnhandled) request(false).enable();
        if (caught || userUnhandled) {
            ExceptionRequest request = request(true);
            // A build tool's loaders ask one another for each class, and throw thousands that none of the user's code sees.
            if (!caught) LOADERS.forEach(request::addClassExclusionFilter);
            request.enable();
        }
    }

    /** Has the JVM report exceptions that are caught, or others. */
    private ExceptionRequest request(boolean areCaught) {
        ExceptionRequest request = debuggee.vm.eventRequestManager().createExceptionRequest(null, areCaught, !areCaught);
        // The compiler, which runs inside Maven, finds the method that a call means by exceptions.
        request.addClassExclusionFilter("com.sun.tools.javac.*");
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        requests.add(request);
        return request;
    }

    synchronized boolean stops(ExceptionEvent event) {
        if (!isWanted(event) || event.exception().uniqueID() == reported) return false;
        reported = event.exception().uniqueID();
        exception = event.exception();
        thread = event.thread();
        isUncaught = event.catchLocation() == null;
        return true;
    }

    private boolean isWanted(ExceptionEvent event) {
        Location handler = event.catchLocation();
        if (handler == null) return uncaught || userUnhandled;
        // The JDK and libraries throw and catch many exceptions internally.
        boolean isByUser = debuggee.sources.isUsers(event.location());
        boolean isForUser = debuggee.sources.isUsers(handler);
        if (caught && (!debuggee.justMyCode || isByUser || isForUser)) return true;
        return !isForUser && passesUserCode(event.thread(), handler);
    }

    /**
     * Whether an exception leaves a user function before it is caught. Class loaders and build tools throw thousands that
     * are caught a few frames away, so that most stacks are not read whole.
     */
    private boolean passesUserCode(ThreadReference thread, Location handler) {
        try {
            int count = thread.frameCount();
            for (int from = 0; from < count; from += FRAMES) {
                for (StackFrame frame : thread.frames(from, Math.min(FRAMES, count - from))) {
                    Location location = frame.location();
                    if (location.method().equals(handler.method())) return false;
                    if (debuggee.sources.isUsers(location)) return true;
                }
            }
        } catch (IncompatibleThreadStateException running) {
            // Unknown without a stack.
        }
        return false;
    }

    /** The exception at which the program is stopped, or null. */
    ObjectReference current() {
        return exception;
    }

    void forget() {
        exception = null;
    }

    /** The type, and the message if it can be read without running code of the program. */
    String title() {
        String message = message(exception);
        return exception.referenceType().name() + (message == null ? "" : ": " + message);
    }

    static String message(ObjectReference thrown) {
        Field field = thrown.referenceType().fieldByName("detailMessage");
        Value value = field == null ? null : thrown.getValue(field);
        return value instanceof StringReference ? ((StringReference) value).value() : null;
    }

    Map<String, Object> info() throws Failure {
        ObjectReference thrown = exception;
        if (thrown == null) throw new Failure("no exception has stopped the program");
        String message = fullMessage(thrown);
        return Json.object("exceptionId", thrown.referenceType().name(), "description", message,
            "breakMode", isUncaught ? "unhandled" : "always",
            "details", Json.object("message", message, "typeName", thrown.referenceType().name(),
                "stackTrace", trace(thrown, message)));
    }

    /** Some messages are computed on request, such as that of a NullPointerException. */
    private String fullMessage(ObjectReference thrown) {
        Value value = called(thrown, "getMessage");
        // The field contains the constructor's argument.
        return value instanceof StringReference ? ((StringReference) value).value() : message(thrown);
    }

    /** What a method of an exception returns; null if it cannot be called. */
    private Value called(ObjectReference thrown, String method) {
        try {
            return debuggee.calls.within(MESSAGE_WITHIN, thread, false,
                call -> call.method(thrown, thrown.referenceType(), method, List.of()));
        } catch (Failure unavailable) {
            return null;
        }
    }

    private String trace(ObjectReference thrown, String message) {
        StringBuilder text = new StringBuilder(thrown.referenceType().name());
        if (message != null) text.append(": ").append(message);
        try {
            for (StackFrame frame : thread.frames()) {
                Location location = frame.location();
                text.append("\n\tat ").append(location.declaringType().name()).append('.').append(location.method().name());
                text.append('(').append(sourceName(location)).append(')');
            }
        } catch (IncompatibleThreadStateException running) {
            return text.toString();
        }
        Set<ObjectReference> seen = new HashSet<>(Set.of(thrown));
        for (ObjectReference cause = cause(thrown); cause != null; cause = cause(cause)) {
            if (!seen.add(cause)) return text + "\nCaused by: [CIRCULAR REFERENCE: " + cause.referenceType().name() + "]";
            text.append("\nCaused by: ").append(cause.referenceType().name());
            String why = fullMessage(cause);
            if (why != null) text.append(": ").append(why);
            places(cause, text);
        }
        return text.toString();
    }

    /** Where a cause was thrown, maybe in another thread. */
    private void places(ObjectReference cause, StringBuilder text) {
        Value trace = called(cause, "getStackTrace");
        if (!(trace instanceof ArrayReference)) return;
        List<Value> frames = ((ArrayReference) trace).getValues();
        for (Value one : frames.subList(0, Math.min(CAUSE_FRAMES, frames.size()))) {
            ObjectReference frame = (ObjectReference) one;
            Value file = Values.field(frame, "fileName");
            int line = ((PrimitiveValue) Values.field(frame, "lineNumber")).intValue();
            String place = file instanceof StringReference ? ((StringReference) file).value() : "Unknown Source";
            text.append("\n\tat ").append(string(frame, "declaringClass")).append('.').append(string(frame, "methodName"));
            text.append('(').append(place).append(line > 0 ? ":" + line : "").append(')');
        }
    }

    private static String string(ObjectReference object, String field) {
        Value value = Values.field(object, field);
        return value instanceof StringReference ? ((StringReference) value).value() : "?";
    }

    private static String sourceName(Location location) {
        try {
            return location.sourceName() + (location.lineNumber() > 0 ? ":" + location.lineNumber() : "");
        } catch (com.sun.jdi.AbsentInformationException unknown) {
            return "Unknown Source";
        }
    }

    static ObjectReference cause(ObjectReference thrown) {
        Field field = thrown.referenceType().fieldByName("cause");
        Value cause = field == null ? null : thrown.getValue(field);
        return cause instanceof ObjectReference && !cause.equals(thrown) ? (ObjectReference) cause : null;
    }

    /** The comparison of a failed assertion: the values that JUnit and others store in the exception. */
    Map<String, Object> thrown() {
        ObjectReference thrown = exception;
        if (thrown == null) return Json.object();
        Map<String, Object> answer = Json.object("mark", thrown.referenceType().name() + "@" + thrown.uniqueID());
        answer.put("test", test());
        boolean areTexts = isByAssertJ();
        for (String side : new String[] {"expected", "actual"}) {
            Field field = thrown.referenceType().fieldByName(side);
            Value value = field == null ? null : thrown.getValue(field);
            if (value != null) answer.put(side, side(value, areTexts));
        }
        return answer;
    }

    /**
     * The user's outermost method that a library has called, with the class of its object, which may have inherited it.
     * Libraries call tests by reflection, but extensions directly.
     */
    private String test() {
        String outermost = null;
        boolean isReflective = false;
        String test = null;
        boolean isTestReflective = false;
        try {
            for (StackFrame frame : thread.frames()) {
                Location location = frame.location();
                if (debuggee.sources.isUsers(location)) {
                    ObjectReference object = frame.thisObject();
                    String type = (object == null ? location.declaringType() : object.referenceType()).name();
                    outermost = type + "#" + location.method().name();
                    isReflective = false;
                } else if (Sources.isOfJdk(location.declaringType().name())) {
                    isReflective |= location.declaringType().name().equals("java.lang.reflect.Method");
                } else if (outermost != null) {
                    if (isReflective || !isTestReflective) {
                        test = outermost;
                        isTestReflective = isReflective;
                    }
                    outermost = null;
                }
            }
        } catch (IncompatibleThreadStateException running) {
            // Unknown without a stack.
        }
        return test;
    }

    /** AssertJ stores the texts of values in place of these. */
    private boolean isByAssertJ() {
        try {
            for (StackFrame frame : thread.frames(0, Math.min(FRAMES, thread.frameCount()))) {
                if (frame.location().declaringType().name().startsWith("org.assertj.")) return true;
            }
        } catch (IncompatibleThreadStateException running) {
            // Unknown without a stack.
        }
        return false;
    }

    /** opentest4j stores the text and type of a value in a `ValueWrapper`. */
    private List<Object> side(Value value, boolean isText) {
        List<Object> side = new ArrayList<>();
        Value shown = value;
        String type = null;
        if (value instanceof ObjectReference) {
            ObjectReference wrapper = (ObjectReference) value;
            Field real = wrapper.referenceType().fieldByName("value");
            Field text = wrapper.referenceType().fieldByName("stringRepresentation");
            if (real != null && text != null) {
                shown = wrapper.getValue(real) == null ? wrapper.getValue(text) : wrapper.getValue(real);
                type = Values.field(wrapper, "type") == null ? null : Values.typeName(wrapper.getValue(real));
            }
        }
        if (isText && shown instanceof StringReference) {
            side.add(((StringReference) shown).value());
            side.add("");
            return side;
        }
        side.add(Values.text(shown));
        side.add(type == null ? Values.typeName(shown) : type);
        return side;
    }
}
