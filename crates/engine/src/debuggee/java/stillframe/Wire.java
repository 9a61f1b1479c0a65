package stillframe;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The Debug Adapter Protocol on a socket. */
final class Wire {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final Map<Long, CompletableFuture<Map<String, Object>>> asked = new HashMap<>();
    private long sequence;

    Wire(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
        out = new BufferedOutputStream(socket.getOutputStream());
    }

    /** The next request of the client. Responses go to the callers that wait for them. */
    Map<String, Object> read() throws IOException {
        while (true) {
            Map<String, Object> message = Json.map(Json.parse(readText()));
            if (!"response".equals(message.get("type"))) return message;
            CompletableFuture<Map<String, Object>> waiting;
            synchronized (asked) {
                waiting = asked.remove(Json.number(message.get("request_seq"), -1));
            }
            if (waiting != null) waiting.complete(message);
        }
    }

    private String readText() throws IOException {
        int length = 0;
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            if (line.toLowerCase().startsWith("content-length:")) {
                length = Integer.parseInt(line.substring(15).trim());
            }
        }
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) throw new EOFException();
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int letter; (letter = in.read()) != '\n'; ) {
            if (letter < 0) throw new EOFException();
            if (letter != '\r') line.append((char) letter);
        }
        return line.toString();
    }

    void event(String name, Map<String, Object> body) {
        send(Json.object("type", "event", "event", name, "body", body));
    }

    void respond(Map<String, Object> request, Map<String, Object> body) {
        send(Json.object("type", "response", "request_seq", request.get("seq"), "success", true,
            "command", request.get("command"), "body", body));
    }

    void fail(Map<String, Object> request, String message) {
        send(Json.object("type", "response", "request_seq", request.get("seq"), "success", false,
            "command", request.get("command"), "message", message));
    }

    /** Sends a reverse request, and waits for the response. */
    Map<String, Object> ask(String command, Map<String, Object> arguments) throws Failure {
        CompletableFuture<Map<String, Object>> answer = new CompletableFuture<>();
        Map<String, Object> request = Json.object("type", "request", "command", command, "arguments", arguments);
        synchronized (out) {
            synchronized (asked) {
                asked.put(sequence + 1, answer);
            }
            send(request);
        }
        try {
            Map<String, Object> message = answer.get(30, TimeUnit.SECONDS);
            if (Json.flag(message.get("success"))) return Json.map(message.get("body"));
            throw new Failure(String.valueOf(message.get("message")));
        } catch (Failure failure) {
            throw failure;
        } catch (Exception error) {
            throw new Failure("the client did not respond to `" + command + "`");
        }
    }

    private void send(Map<String, Object> message) {
        try {
            synchronized (out) {
                message.put("seq", ++sequence);
                byte[] bytes = Json.write(message).getBytes(StandardCharsets.UTF_8);
                out.write(("Content-Length: " + bytes.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                out.write(bytes);
                out.flush();
            }
        } catch (IOException gone) {
            // The reader detects the end of the connection too.
        }
    }

    void close() {
        try {
            socket.close();
        } catch (IOException already) {
            // It is closed.
        }
    }
}
