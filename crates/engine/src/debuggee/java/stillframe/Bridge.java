package stillframe;

import com.sun.jdi.VirtualMachine;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A debug adapter for Java on top of JDI. It prints its address; the first connection debugs the program, and each
 * further one a JVM that the program has started. It exits with the last connection.
 */
public final class Bridge {
    /** JVMs that wait for a connection, by ID. */
    private static final Map<Long, VirtualMachine> waiting = new HashMap<>();
    private static final AtomicInteger sessions = new AtomicInteger();
    private static long numbers;

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            System.out.println("stillframe-java 127.0.0.1:" + server.getLocalPort());
            while (true) {
                Socket socket = server.accept();
                sessions.incrementAndGet();
                Thread thread = new Thread(() -> serve(socket), "session");
                thread.setDaemon(true);
                thread.start();
            }
        }
    }

    private static void serve(Socket socket) {
        try {
            new Session(new Wire(socket)).serve();
        } catch (Exception gone) {
            // The client has closed the connection.
        }
        if (sessions.decrementAndGet() == 0) System.exit(0);
    }

    /** Whether a client has sent the secret that this process was started with. */
    static boolean isSecret(String shown) {
        String secret = System.getenv("STILLFRAME_BRIDGE_SECRET");
        return secret == null || (shown != null && MessageDigest.isEqual(shown.getBytes(), secret.getBytes()));
    }

    static synchronized long park(VirtualMachine vm) {
        waiting.put(++numbers, vm);
        return numbers;
    }

    static synchronized VirtualMachine take(long number) throws Failure {
        VirtualMachine vm = waiting.remove(number);
        if (vm == null) throw new Failure("no waiting JVM with the number `" + number + "`");
        return vm;
    }
}
