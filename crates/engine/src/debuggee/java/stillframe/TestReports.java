package stillframe;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Forwards the test results of Maven Surefire and Gradle, which write an XML file for each class. */
final class TestReports {
    private static final List<String> FOLDERS = List.of("surefire-reports", "failsafe-reports", "test-results");
    private static final int DEPTH = 8;
    private static final Pattern FRAME = Pattern.compile("at (?:\\S*/)?([\\w.$]+)\\.[\\w$<>]+\\(\\w+\\.java:(\\d+)\\)");
    private static final Pattern CAUSE = Pattern.compile("(?m)^\\s*(?:Caused by|Suppressed): ");
    private final Sources sources;
    private final String folder;
    private final String file;
    /** The reports of earlier runs, with the times and sizes that they had before this one. */
    private final Map<Path, String> earlier = new HashMap<>();

    TestReports(Map<String, Object> arguments, Sources sources) {
        this.sources = sources;
        folder = Json.string(arguments.get("cwd"));
        file = Json.string(arguments.get("reports"));
        if (file == null || folder == null) return;
        for (Path report : found()) earlier.put(report, stamp(report));
    }

    private static String stamp(Path report) {
        try {
            return Files.getLastModifiedTime(report) + " " + Files.size(report);
        } catch (IOException gone) {
            return "";
        }
    }

    /** Writes a line for each test if the client has requested it. */
    void passOn() {
        if (file == null || folder == null) return;
        List<Object> lines = new ArrayList<>();
        for (Path report : found()) {
            try {
                read(report, lines);
            } catch (Exception broken) {
                System.err.println("stillframe: `" + report + "` cannot be read: " + broken.getMessage());
            }
        }
        if (lines.isEmpty()) return;
        lines.add(0, Json.object("kind", "collected", "count", (long) lines.size()));
        StringBuilder text = new StringBuilder();
        for (Object line : lines) text.append(Json.write(line)).append('\n');
        try (FileOutputStream out = new FileOutputStream(new File(file), true)) {
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException gone) {
            System.err.println("stillframe: cannot write the test results: " + gone.getMessage());
        }
    }

    /** Reports of this run; those of an earlier one may exist too. */
    private List<Path> found() {
        try (Stream<Path> paths = Files.walk(Paths.get(folder), DEPTH)) {
            return paths.filter(this::isReport).sorted().collect(Collectors.toList());
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return List.of();
        }
    }

    private boolean isReport(Path path) {
        String name = String.valueOf(path.getFileName());
        boolean isInFolder = FOLDERS.stream().anyMatch(folder -> path.toString().contains(File.separator + folder + File.separator));
        if (!isInFolder || !name.startsWith("TEST-") || !name.endsWith(".xml")) return false;
        return !stamp(path).equals(earlier.get(path));
    }

    private void read(Path report, List<Object> lines) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        NodeList cases = factory.newDocumentBuilder().parse(report.toFile()).getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) lines.add(result((Element) cases.item(i)));
    }

    private Map<String, Object> result(Element test) {
        String type = test.getAttribute("classname");
        String name = test.getAttribute("name").replaceAll("\\(.*\\)$", "");
        Element problem = child(test, "failure");
        boolean isError = problem == null && child(test, "error") != null;
        if (isError) problem = child(test, "error");
        boolean isSkipped = child(test, "skipped") != null;
        String path = sources.fileOfClass(type);
        Map<String, Object> result = Json.object("kind", "result", "id", name.isEmpty() ? type : type + "#" + name, "file", path,
            "outcome", problem != null ? "failed" : isSkipped ? "skipped" : "passed");
        if (problem == null) return result;
        String details = problem.getTextContent().trim();
        String message = problem.getAttribute("message");
        String exception = problem.getAttribute("type");
        // Gradle has what the exception prints.
        if (message.equals(exception)) message = "";
        if (message.startsWith(exception + ": ")) message = message.substring(exception.length() + 2);
        result.put("message", message);
        result.put("exception", exception);
        result.put("details", details);
        String simple = type.substring(type.lastIndexOf('.') + 1);
        Matcher own = Pattern.compile("at (?:\\S*/)?" + Pattern.quote(type) + "[.$].*\\(" + simple.split("\\$")[0] + "\\.java:(\\d+)\\)").matcher(details);
        Matcher cause = CAUSE.matcher(details);
        int end = cause.find() ? cause.start() : details.length();
        if (own.region(0, end).find()) {
            result.put("line", Long.valueOf(own.group(1)));
            return result;
        }
        // A test may be inherited.
        for (Matcher frame = FRAME.matcher(details).region(0, end); frame.find();) {
            String inherited = sources.fileOfClass(frame.group(1));
            if (inherited == null) continue;
            result.put("file", inherited);
            result.put("line", Long.valueOf(frame.group(2)));
        }
        // Only the cause of an exception of a test runner is of the user's.
        if (!result.containsKey("line") && own.reset().find()) result.put("line", Long.valueOf(own.group(1)));
        return result;
    }

    private static Element child(Element parent, String name) {
        NodeList found = parent.getElementsByTagName(name);
        return found.getLength() == 0 ? null : (Element) found.item(0);
    }
}
