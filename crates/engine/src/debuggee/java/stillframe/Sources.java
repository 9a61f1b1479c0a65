package stillframe;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the source files of classes. A class is user code if its file is found. */
final class Sources {
    private static final int MOST_FILES = 50_000;
    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");
    private final List<Path> roots = new ArrayList<>();
    /** Files by path within a root, such as `shop/Basket.java`; empty if not found. */
    private final Map<String, String> found = new HashMap<>();
    private final Path folder;
    private Map<String, List<Path>> byName;

    Sources(String folder, List<Object> files) {
        this.folder = folder == null ? null : Paths.get(folder);
        for (Object file : files) add((String) file);
    }

    /** The file of a class within its root: `shop/Basket.java`. */
    static String inRoot(String file) {
        Path path = Paths.get(file);
        String name = String.valueOf(path.getFileName());
        try {
            Matcher matcher = PACKAGE.matcher(Files.readString(path));
            if (matcher.find()) return matcher.group(1).replace('.', '/') + "/" + name;
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            // A file of another machine: only its name is usable.
        }
        return name;
    }

    /** Adds a user file. Files in its folder are found too. */
    synchronized void add(String file) {
        String inRoot = inRoot(file);
        found.put(inRoot, file);
        found.values().removeIf(String::isEmpty);
        if (file.endsWith(inRoot)) {
            Path root = Paths.get(file.substring(0, file.length() - inRoot.length()));
            if (!roots.contains(root)) roots.add(root);
        }
    }

    /** The file of a location, or null. */
    String fileOf(Location location) {
        try {
            return find(location.sourcePath());
        } catch (AbsentInformationException unknown) {
            return null;
        }
    }

    String fileOf(ReferenceType type) {
        try {
            return find(type.sourcePaths(null).get(0));
        } catch (AbsentInformationException unknown) {
            return null;
        }
    }

    /** The file of a class by its name, or null. */
    String fileOfClass(String type) {
        return find(type.split("\\$")[0].replace('.', '/') + ".java");
    }

    boolean isUsers(Location location) {
        return !isOfJdk(location.declaringType().name()) && fileOf(location) != null;
    }

    static boolean isOfJdk(String type) {
        return type.startsWith("java.") || type.startsWith("jdk.") || type.startsWith("sun.")
            || type.startsWith("javax.") || type.startsWith("com.sun.");
    }

    /** Whether no block ends or begins between two lines: the first may be the header of a block with the other. */
    static boolean isOneBlock(String file, int line, int next) {
        try {
            String[] lines = Files.readString(Paths.get(file)).split("\n", -1);
            for (int i = line; i < next && i <= lines.length; i++) {
                String code = codeOf(lines[i - 1]);
                boolean isHead = i == line && code.endsWith("{") && code.indexOf('}') < 0;
                if (!isHead && (code.indexOf('{') >= 0 || code.indexOf('}') >= 0 || code.endsWith(";"))) return false;
            }
            return true;
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return false;
        }
    }

    /** Whether no block that is open after one line ends before another. */
    static boolean isInBlock(String file, int line, int next) {
        try {
            String[] lines = Files.readString(Paths.get(file)).split("\n", -1);
            // A whole class on the line.
            if (line <= lines.length && codeOf(lines[line - 1]).matches(".*\\b(class|interface|enum|record) .*\\}.*")) return false;
            int depth = 0;
            for (int i = line + 1; i < next && i <= lines.length; i++) {
                for (char each : codeOf(lines[i - 1]).toCharArray()) {
                    depth += each == '{' ? 1 : each == '}' ? -1 : 0;
                    if (depth < 0) return false;
                }
            }
            return true;
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return false;
        }
    }

    /** A line without literals and comments. */
    private static String codeOf(String line) {
        return line.replaceAll("\"(\\\\.|[^\"])*\"|'(\\\\.|[^'\\\\])'", "").replaceAll("//.*|/\\*.*?\\*/", "").trim();
    }

    private synchronized String find(String inRoot) {
        String known = found.get(inRoot);
        if (known == null) {
            Path path = search(inRoot);
            known = path == null ? "" : path.toString();
            found.put(inRoot, known);
        }
        return known.isEmpty() ? null : known;
    }

    private Path search(String inRoot) {
        for (Path root : roots) {
            Path path = root.resolve(inRoot);
            if (Files.isRegularFile(path)) return path;
        }
        if (byName == null) byName = sourcesIn(folder);
        String name = inRoot.substring(inRoot.lastIndexOf('/') + 1);
        for (Path path : byName.getOrDefault(name, List.of())) {
            if (path.endsWith(inRoot) && inRoot(path.toString()).equals(inRoot)) return path;
        }
        return null;
    }

    private static Map<String, List<Path>> sourcesIn(Path folder) {
        Map<String, List<Path>> files = new HashMap<>();
        if (folder == null || folder.getNameCount() == 0) return files;
        int[] seen = {0};
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<Path>() {
                @Override
                public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                    String name = String.valueOf(path.getFileName());
                    boolean isNoSource = name.startsWith(".") || name.equals("target") || name.equals("node_modules");
                    return isNoSource && !path.equals(folder) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                    String name = String.valueOf(path.getFileName());
                    if (name.endsWith(".java")) files.computeIfAbsent(name, key -> new ArrayList<>()).add(path);
                    return ++seen[0] > MOST_FILES ? FileVisitResult.TERMINATE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path path, IOException error) {
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException unreadable) {
            // Use what was found so far.
        }
        return files;
    }
}
