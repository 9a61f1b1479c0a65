package stillframe;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.event.MethodExitEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodExitRequest;
import com.sun.jdi.request.StepRequest;
import java.util.ArrayList;
import java.util.List;

/** Steps, and the value that the function of a step out returns. */
final class Steps {
    /** What steps skip. */
    static final List<String> LIBRARIES = List.of("java.*", "javax.*", "sun.*", "com.sun.*", "jdk.*");
    /** The maximum number of method exits that a step out checks. */
    private static final int MOST_EXITS = 200;
    private final Debuggee debuggee;
    private final List<EventRequest> requests = new ArrayList<>();
    /** Where the step that is under way began; null if that is in a library, whose other code it may then end in. */
    private Location began;
    private int beganDepth;
    private boolean hasLeftLibrary;
    private int depth;
    private int exits;
    private Method leaving;
    /** The value that the last step out returned, and its method. */
    private String returnedFrom;
    private Value returned;

    Steps(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    void step(ThreadReference thread, String command) throws Failure {
        if (!debuggee.isStopped()) throw new Failure("the program is already running");
        if (debuggee.calls.isCalling(thread)) throw Calls.stillBusy(thread);
        request(thread, command);
        debuggee.resume();
    }

    private synchronized void request(ThreadReference thread, String command) throws Failure {
        try {
            end();
            Location here = thread.frame(0).location();
            began = debuggee.justMyCode && debuggee.sources.isUsers(here) ? here : null;
            beganDepth = thread.frameCount();
            int how = command.equals("next") ? StepRequest.STEP_OVER
                : command.equals("stepIn") ? StepRequest.STEP_INTO : StepRequest.STEP_OUT;
            if (how == StepRequest.STEP_OUT) watchExit(thread);
            request(thread, StepRequest.STEP_LINE, how);
        } catch (IncompatibleThreadStateException running) {
            throw Debuggee.unreadable(thread, running);
        }
    }

    private void request(ThreadReference thread, int size, int how) {
        StepRequest request = debuggee.vm.eventRequestManager().createStepRequest(thread, size, how);
        if (debuggee.justMyCode) LIBRARIES.forEach(request::addClassExclusionFilter);
        enable(request);
    }

    private void enable(EventRequest request) {
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        requests.add(request);
        request.enable();
    }

    private void watchExit(ThreadReference thread) throws IncompatibleThreadStateException {
        depth = thread.frameCount();
        exits = 0;
        leaving = thread.frame(0).location().method();
        if (!debuggee.vm.canGetMethodReturnValues()) return;
        MethodExitRequest request = debuggee.vm.eventRequestManager().createMethodExitRequest();
        request.addThreadFilter(thread);
        request.addClassFilter(leaving.declaringType());
        enable(request);
    }

    /** Handles the return of a method, possibly the one that the step leaves. */
    synchronized void left(MethodExitEvent event) {
        try {
            boolean isIt = event.method().equals(leaving) && event.thread().frameCount() == depth;
            if (isIt && !leaving.returnTypeName().equals("void")) {
                returnedFrom = leaving.name();
                returned = event.returnValue();
            }
            if (isIt || ++exits > MOST_EXITS) event.request().disable();
        } catch (IncompatibleThreadStateException running) {
            event.request().disable();
        }
    }

    /** Stops a running thread at its next instruction. */
    synchronized void nudge(ThreadReference thread) {
        end();
        StepRequest request = debuggee.vm.eventRequestManager().createStepRequest(thread, StepRequest.STEP_MIN, StepRequest.STEP_INTO);
        enable(request);
    }

    /** Whether a step has reached a source line. Synthetic methods have none. */
    synchronized boolean ends(StepEvent event) {
        Location location = event.location();
        Method method = location.method();
        boolean isCompilers = method.isBridge() || (method.isSynthetic() && !method.name().startsWith("lambda$"));
        ThreadReference thread = event.thread();
        boolean isLine = location.lineNumber() > 0 && !isCompilers;
        boolean isInLibrary = isLine && began != null && !debuggee.sources.isUsers(location);
        if (isLine && !isInLibrary && !isBack(thread, location)) return true;
        remove(event.request());
        hasLeftLibrary |= isInLibrary;
        // Without code of the user's on the stack, the thread may come to some only in another task.
        if (isInLibrary && !debuggee.threads.hasUserFrame(thread)) return false;
        // A step into what the library calls would be reported at the entry of each of its methods, which takes minutes.
        request(thread, StepRequest.STEP_LINE, isInLibrary ? StepRequest.STEP_OUT : StepRequest.STEP_INTO);
        return false;
    }

    /** Whether a library has returned to the line of which the step has called it. */
    private boolean isBack(ThreadReference thread, Location location) {
        try {
            return hasLeftLibrary && thread.frameCount() == beganDepth && location.method().equals(began.method())
                && location.lineNumber() == began.lineNumber();
        } catch (IncompatibleThreadStateException running) {
            return false;
        }
    }

    private void remove(EventRequest request) {
        requests.remove(request);
        debuggee.vm.eventRequestManager().deleteEventRequest(request);
    }

    /** The step is over, however it ended. */
    synchronized void end() {
        try {
            debuggee.vm.eventRequestManager().deleteEventRequests(requests);
        } catch (VMDisconnectedException gone) {
            // There is nothing left to step.
        }
        requests.clear();
        began = null;
        hasLeftLibrary = false;
    }

    synchronized void forget() {
        returnedFrom = null;
    }

    /** The name of the function that a step has left by `return`, or null. */
    synchronized String returnedFrom() {
        return returnedFrom;
    }

    synchronized Value returned() {
        return returned;
    }
}
