package stillframe;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.connect.TransportTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Launches JVMs or attaches to them. One that we launch connects to us, so that it opens no port. */
final class Start {
    private static final long ATTACH_WITHIN = 4000;
    /** With one of these, `java` prints its version and ends. */
    private static final Set<String> VERSION = Set.of("-version", "--version", "-fullversion", "--full-version");
    /** Options whose value is the next word. */
    private static final Set<String> WITH_VALUE = Set.of("-cp", "-classpath", "--class-path", "-p", "--module-path",
        "--upgrade-module-path", "--add-modules", "--limit-modules", "--add-opens", "--add-exports", "--add-reads", "--patch-module");
    /** Options that name the program. */
    private static final Set<String> MAIN = Set.of("-jar", "-m", "--module");
    private final Wire wire;
    private final Map<String, Object> arguments;
    private ListeningConnector listener;
    private Map<String, Connector.Argument> listening;
    /** The process that was launched: a JVM, or a script or build tool that starts JVMs. */
    private ProcessHandle program;
    /** The JVMs whose arguments are known. */
    private final Set<Long> asked = new HashSet<>();
    private volatile boolean isClosed;

    Start(Wire wire, Map<String, Object> arguments) {
        this.wire = wire;
        this.arguments = arguments;
    }

    Debuggee open(boolean launches) throws Exception {
        if (launches) {
            VirtualMachine vm = launch();
            return new Debuggee(vm, wire, arguments, program);
        }
        if (arguments.get("vm") != null) {
            return new Debuggee(Bridge.take(Json.number(arguments.get("vm"), 0)), wire, arguments, null);
        }
        VirtualMachine vm = arguments.get("host") != null ? attachToAddress() : attachToProcess();
        return new Debuggee(vm, wire, arguments, null);
    }

    void close() {
        isClosed = true;
        try {
            if (listener != null) listener.stopListening(listening);
        } catch (Exception already) {
            // It listens no longer.
        }
    }

    /** Replaces `{agent}` in `env` with the option that connects a JVM to us, and each one that it starts. */
    private VirtualMachine launch() throws Exception {
        listener = (ListeningConnector) connector("com.sun.jdi.SocketListen");
        listening = listener.defaultArguments();
        listening.get("localAddress").setValue("127.0.0.1");
        listening.get("timeout").setValue("100");
        String address = listener.startListening(listening);
        String port = address.substring(address.lastIndexOf(':') + 1);
        String agent = "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:" + port;
        Map<String, Object> environment = Json.map(arguments.get("env"));
        environment.replaceAll((name, value) -> value instanceof String ? ((String) value).replace("{agent}", agent) : value);
        Map<String, Object> started = wire.ask("runInTerminal",
            Json.object("kind", "integrated", "cwd", arguments.get("cwd"), "args", arguments.get("args"), "env", environment));
        program = ProcessHandle.of(Json.number(started.get("processId"), 0)).orElse(null);
        VirtualMachine vm = acceptFirst();
        Session.daemon(this::acceptOthers).start();
        return vm;
    }

    private VirtualMachine acceptFirst() throws Exception {
        while (true) {
            boolean isAlive = program != null && program.isAlive();
            try {
                VirtualMachine vm = listener.accept(listening);
                if (!onlyPrintsVersion(newJvms())) return vm;
                vm.dispose();
            } catch (TransportTimeoutException nothing) {
                if (!isAlive) throw new Failure("the program ended before its JVM was ready");
                if (isClosed) throw new Failure("the session has ended");
            }
        }
    }

    /** Each further JVM that the program starts is debugged on a separate connection. */
    private void acceptOthers() {
        while (!isClosed) {
            try {
                VirtualMachine vm = listener.accept(listening);
                List<ProcessHandle> jvms = newJvms();
                if (onlyPrintsVersion(jvms)) {
                    vm.dispose();
                    continue;
                }
                // Of several that start at once, it could be any.
                Object pid = jvms.size() == 1 ? jvms.get(0).pid() : null;
                Map<String, Object> configuration = Json.object("vm", Bridge.park(vm), "processId", pid,
                    "secret", arguments.get("secret"), "cwd", arguments.get("cwd"),
                    "sources", arguments.get("sources"), "justMyCode", arguments.get("justMyCode"));
                try {
                    wire.ask("startDebugging", Json.object("request", "attach", "configuration", configuration));
                } catch (Failure refused) {
                    vm.dispose();
                }
            } catch (TransportTimeoutException nothing) {
                // Another one may still arrive.
            } catch (Exception closed) {
                if (isClosed) return;
            }
        }
    }

    /** The JVMs that have been started since the last one connected. */
    private List<ProcessHandle> newJvms() {
        if (program == null) return List.of();
        return Stream.concat(Stream.of(program), program.descendants())
            .filter(process -> process.info().command().orElse("").endsWith("/java") && asked.add(process.pid()))
            .collect(Collectors.toList());
    }

    /** Whether the JVM that has just connected is one that a script asks for its version before it starts another. */
    private static boolean onlyPrintsVersion(List<ProcessHandle> jvms) {
        return jvms.stream().anyMatch(process -> printsVersion(process.info().arguments().orElse(new String[0])));
    }

    /** Whether one of the options does so; what follows the main class is the program's. */
    private static boolean printsVersion(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            String word = arguments[i];
            if (VERSION.contains(word)) return true;
            if (WITH_VALUE.contains(word)) i++;
            else if (!word.startsWith("-") || MAIN.contains(word)) return false;
        }
        return false;
    }

    private VirtualMachine attachToAddress() throws Exception {
        AttachingConnector socket = (AttachingConnector) connector("com.sun.jdi.SocketAttach");
        Map<String, Connector.Argument> values = socket.defaultArguments();
        values.get("hostname").setValue(String.valueOf(arguments.get("host")));
        values.get("port").setValue(String.valueOf(arguments.get("port")));
        // JDI waits for the handshake forever.
        FutureTask<VirtualMachine> attaching = new FutureTask<>(() -> socket.attach(values));
        Session.daemon(attaching).start();
        try {
            return attaching.get(ATTACH_WITHIN, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new Failure("the server there is not a JVM's debugger");
        } catch (ExecutionException failed) {
            boolean isFree = failed.getCause() instanceof ConnectException;
            throw new Failure(isFree ? "nothing listens there; a JVM does not listen while another debugger is attached"
                : String.valueOf(failed.getCause().getMessage()));
        }
    }

    /** A JVM can be debugged only if it was started with the agent: HotSpot cannot load it later. */
    private VirtualMachine attachToProcess() throws Exception {
        long pid = Json.number(arguments.get("processId"), 0);
        String without = "process " + pid + " was started without the debug agent, and a JVM cannot load it later; "
            + "start it with `-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0`";
        if (!isJvm(pid)) throw new Failure("process " + pid + " is not a JVM of this user");
        com.sun.tools.attach.VirtualMachine process;
        try {
            process = com.sun.tools.attach.VirtualMachine.attach(String.valueOf(pid));
        } catch (Exception error) {
            throw new Failure("process " + pid + " does not respond as a JVM: " + error.getMessage());
        }
        String address;
        try {
            address = process.getAgentProperties().getProperty("sun.jdwp.listenerAddress");
            if (address == null) {
                startDebugging(process);
                address = process.getAgentProperties().getProperty("sun.jdwp.listenerAddress");
            }
        } finally {
            process.detach();
        }
        if (address == null) throw new Failure(without);
        String[] parts = address.split(":");
        arguments.put("host", parts.length == 3 && !parts[1].isEmpty() && !parts[1].equals("*") ? parts[1] : "127.0.0.1");
        arguments.put("port", parts[parts.length - 1]);
        return attachToAddress();
    }

    /** The signal that makes a JVM listen would end any other program. */
    private static boolean isJvm(long pid) {
        Path maps = Paths.get("/proc/" + pid + "/maps");
        try {
            if (Files.exists(maps)) return Files.readString(maps).contains("libjvm.so");
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return false;
        }
        return com.sun.tools.attach.VirtualMachine.list().stream().anyMatch(one -> one.id().equals(String.valueOf(pid)));
    }

    /** A JVM whose agent has the option `onjcmd=y` starts to listen on request. */
    private static void startDebugging(com.sun.tools.attach.VirtualMachine process) {
        try {
            java.lang.reflect.Method command = process.getClass().getMethod("executeJCmd", String.class);
            try (java.io.InputStream answer = (java.io.InputStream) command.invoke(process, "VM.start_java_debugging")) {
                answer.readAllBytes();
            }
        } catch (Exception unavailable) {
            // Then it has no address afterwards.
        }
    }

    private static Connector connector(String name) throws Failure {
        for (Connector connector : Bootstrap.virtualMachineManager().allConnectors()) {
            if (connector.name().equals(name)) return connector;
        }
        throw new Failure("this JDK has no JDI connector `" + name + "`");
    }
}
