package stillframe;

import com.sun.jdi.VMDisconnectedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** One DAP session: for the program, or for a JVM that it has started. */
final class Session {
    private final Wire wire;
    /** Serializes requests that may run code of the program, so that `pause` does not wait for them. */
    private final ExecutorService slow = Executors.newSingleThreadExecutor(Session::daemon);
    private volatile Debuggee debuggee;
    private Start start;
    private volatile boolean hasBegun;
    private Map<String, Object> startRequest;

    Session(Wire wire) {
        this.wire = wire;
    }

    static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    void serve() throws IOException {
        try {
            while (true) {
                Map<String, Object> request = wire.read();
                String command = String.valueOf(request.get("command"));
                switch (command) {
                    case "launch":
                    case "attach":
                        startRequest = request;
                        daemon(() -> start(command, request)).start();
                        break;
                    case "evaluate":
                    case "setVariable":
                    case "variables":
                    case "exceptionInfo":
                    case "stillframe/thrown":
                        slow.execute(() -> answer(command, request));
                        break;
                    case "disconnect":
                        if (start != null) start.close();
                        if (debuggee != null) debuggee.leave(Json.flag(arguments(request).get("terminateDebuggee")));
                        wire.respond(request, Json.object());
                        return;
                    default:
                        answer(command, request);
                }
            }
        } finally {
            wire.close();
            if (start != null) start.close();
            if (debuggee != null) debuggee.leave(false);
        }
    }

    private static Map<String, Object> arguments(Map<String, Object> request) {
        return Json.map(request.get("arguments"));
    }

    /** Launches or attaches to the program. The response follows after the configuration. */
    private void start(String command, Map<String, Object> request) {
        try {
            Map<String, Object> arguments = arguments(request);
            if (!Bridge.isSecret(Json.string(arguments.get("secret")))) {
                throw new Failure("the client does not know this adapter's secret");
            }
            start = new Start(wire, arguments);
            debuggee = start.open(command.equals("launch"));
            if (arguments.get("processId") != null) {
                wire.event("process", Json.object("name", "java", "systemProcessId", arguments.get("processId")));
            }
            wire.event("initialized", Json.object());
        } catch (Failure failure) {
            wire.fail(request, failure.getMessage());
        } catch (Exception error) {
            wire.fail(request, "the debugger cannot start: " + error);
        }
    }

    private void answer(String command, Map<String, Object> request) {
        try {
            wire.respond(request, respond(command, arguments(request)));
            if (command.equals("configurationDone")) {
                wire.respond(startRequest, Json.object());
                hasBegun = true;
                debuggee.begin();
            }
        } catch (Failure failure) {
            wire.fail(request, failure.getMessage());
        } catch (VMDisconnectedException gone) {
            // The pump reports the end and closes the connection. A response could arrive first, and hide it.
            if (!hasBegun || debuggee.isOutlived()) wire.fail(request, "the JVM has ended");
        } catch (Exception error) {
            wire.fail(request, command + " failed: " + error);
        }
    }

    private Map<String, Object> respond(String command, Map<String, Object> arguments) throws Exception {
        if (command.equals("initialize")) return capabilities();
        if (debuggee == null) throw new Failure("`" + command + "` arrived before the program was started");
        if (debuggee.isGone()) {
            if (!debuggee.isOutlived()) throw new VMDisconnectedException();
            return withoutJvm(command, arguments);
        }
        switch (command) {
            case "setBreakpoints":
                return Json.object("breakpoints", debuggee.breakpoints.setInSource(
                    Json.string(Json.map(arguments.get("source")).get("path")), Json.list(arguments.get("breakpoints"))));
            case "setFunctionBreakpoints":
                return Json.object("breakpoints", debuggee.breakpoints.setOnMethods(Json.list(arguments.get("breakpoints"))));
            case "setExceptionBreakpoints":
                debuggee.exceptions.select(Json.list(arguments.get("filters")));
                return Json.object();
            case "configurationDone":
                return Json.object();
            case "threads":
                return Json.object("threads", debuggee.threads.list());
            case "stackTrace":
                return debuggee.frames.list(arguments);
            case "scopes":
                return Json.object("scopes", debuggee.frames.scopes(arguments));
            case "variables":
                return Json.object("variables", debuggee.frames.variables(arguments));
            case "setVariable":
                return debuggee.frames.assign(arguments);
            case "evaluate":
                return debuggee.frames.evaluate(arguments);
            case "exceptionInfo":
                return debuggee.exceptions.info();
            case "continue":
                debuggee.resume();
                return Json.object("allThreadsContinued", true);
            case "next":
            case "stepIn":
            case "stepOut":
                debuggee.steps.step(debuggee.threads.byNumber(arguments.get("threadId")), command);
                return Json.object();
            case "pause":
                debuggee.pause(arguments.get("threadId"));
                return Json.object();
            case "terminate":
                debuggee.leave(true);
                return Json.object();
            case "stillframe/readOnly":
                debuggee.calls.forbid();
                return Json.object();
            case "stillframe/activity":
                return debuggee.threads.activity();
            case "stillframe/thrown":
                return debuggee.exceptions.thrown();
            case "stillframe/same":
                return debuggee.frames.same(arguments);
            default:
                throw new Failure("`" + command + "` is not supported");
        }
    }

    /** What can be said between the end of a script's first JVM and that of the script. */
    private static Map<String, Object> withoutJvm(String command, Map<String, Object> arguments) throws Failure {
        switch (command) {
            case "threads":
                return Json.object("threads", List.of());
            case "setBreakpoints":
            case "setFunctionBreakpoints":
                List<Object> results = new ArrayList<>();
                for (Object wanted : Json.list(arguments.get("breakpoints"))) {
                    results.add(Json.object("verified", false, "message", "no JVM of the program is running; the next one gets this breakpoint"));
                }
                return Json.object("breakpoints", results);
            case "setExceptionBreakpoints":
            case "terminate":
                return Json.object();
            default:
                throw new Failure("the JVM has ended");
        }
    }

    private static Map<String, Object> capabilities() {
        List<Object> filters = new ArrayList<>();
        filters.add(Json.object("filter", "caught", "label", "Caught exceptions"));
        filters.add(Json.object("filter", "uncaught", "label", "Uncaught exceptions", "default", true));
        filters.add(Json.object("filter", "userUnhandled", "label", "Exceptions that user code does not catch"));
        return Json.object(
            "supportsConfigurationDoneRequest", true,
            "supportsConditionalBreakpoints", true,
            "supportsFunctionBreakpoints", true,
            "supportsSetVariable", true,
            "supportsEvaluateForHovers", true,
            "supportsExceptionInfoRequest", true,
            "supportsDelayedStackTraceLoading", true,
            "supportsTerminateRequest", true,
            "supportTerminateDebuggee", true,
            "exceptionBreakpointFilters", filters);
    }
}
