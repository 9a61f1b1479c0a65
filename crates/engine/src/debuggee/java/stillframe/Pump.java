package stillframe;

import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.MethodExitEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingDeque;

/**
 * Handles the JVM's events. Every event suspends only its own thread; all threads are suspended once a stop is decided.
 * One thread reads them. It responds at once where it must not block, because code of the program that we call may have
 * caused the event; another thread decides about stops.
 */
final class Pump {
    private final Debuggee debuggee;
    private final LinkedBlockingDeque<EventSet> inbox = new LinkedBlockingDeque<>();

    Pump(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    void start() {
        Session.daemon(this::read).start();
        Session.daemon(this::decide).start();
    }

    /** Handles queued events again. */
    void again(List<EventSet> sets) {
        for (int i = sets.size(); i-- > 0; ) inbox.addFirst(sets.get(i));
    }

    private void read() {
        try {
            while (true) {
                EventSet set = debuggee.vm.eventQueue().remove();
                // What suspends no thread needs no decision.
                boolean suspends = set.suspendPolicy() != EventRequest.SUSPEND_NONE;
                boolean isImmediate = true;
                for (Event event : set) {
                    if (event instanceof VMDisconnectEvent) throw new VMDisconnectedException();
                    if (event instanceof ClassPrepareEvent) {
                        debuggee.breakpoints.loaded(((ClassPrepareEvent) event).referenceType());
                    } else if (event instanceof LocatableEvent) {
                        Calls.begun(event);
                        isImmediate = debuggee.calls.isCalling(((LocatableEvent) event).thread());
                    }
                }
                if (Proxies.handle(set)) continue;
                if (isImmediate || !suspends) set.resume();
                else inbox.addLast(set);
            }
        } catch (VMDisconnectedException | InterruptedException gone) {
            debuggee.outlive();
            debuggee.breakpoints.ended();
            debuggee.reports.passOn();
            debuggee.wire.event("terminated", Json.object());
            debuggee.wire.close();
        }
    }

    private void decide() {
        while (true) {
            try {
                EventSet set = inbox.takeFirst();
                if (debuggee.defers(set)) continue;
                debuggee.ruling.lock();
                try {
                    if (!debuggee.defers(set) && !stops(set)) set.resume();
                } finally {
                    debuggee.ruling.unlock();
                }
            } catch (VMDisconnectedException | InterruptedException gone) {
                return;
            } catch (RuntimeException | Failure error) {
                System.err.println("stillframe: an event was skipped: " + error);
            }
        }
    }

    /** Whether events of one thread at one location stop the program. */
    private boolean stops(EventSet set) throws Failure {
        ThreadReference thread = null;
        String reason = null;
        String text = null;
        List<Object> hit = new ArrayList<>();
        List<BreakpointEvent> breakpoints = new ArrayList<>();
        for (Event event : set) {
            if (!(event instanceof LocatableEvent)) continue;
            thread = ((LocatableEvent) event).thread();
            if (event instanceof MethodExitEvent) {
                debuggee.steps.left((MethodExitEvent) event);
            } else if (event instanceof MethodEntryEvent) {
                if (((MethodEntryEvent) event).method().name().equals("main")) {
                    reason = "entry";
                    event.request().disable();
                }
            } else if (event instanceof StepEvent) {
                if (debuggee.isPausing(thread)) reason = "pause";
                else if (debuggee.steps.ends((StepEvent) event)) reason = "step";
            } else if (event instanceof ExceptionEvent) {
                if (debuggee.exceptions.stops((ExceptionEvent) event)) {
                    reason = "exception";
                    text = debuggee.exceptions.title();
                }
            } else if (event instanceof BreakpointEvent) {
                breakpoints.add((BreakpointEvent) event);
            }
        }
        boolean isHit = false;
        for (BreakpointEvent event : breakpoints) isHit |= debuggee.breakpoints.hit(event, hit);
        if (isHit && !"entry".equals(reason)) reason = "breakpoint";
        if (reason == null) return false;
        debuggee.stop(thread, set, reason, reason.equals("breakpoint") ? hit : null, text);
        return true;
    }
}
