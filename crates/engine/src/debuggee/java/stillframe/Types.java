package stillframe;

import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Resolves type names as at a source location, and loads types if necessary. */
final class Types {
    private static final Pattern IMPORT = Pattern.compile("(?m)^\\s*import\\s+([\\w.]+(?:\\.\\*)?)\\s*;");
    private static final Pattern STATIC = Pattern.compile("(?m)^\\s*import\\s+static\\s+([\\w.]+)\\.(\\w+|\\*)\\s*;");
    private final Debuggee debuggee;
    private final Calls.Call call;
    private final Location location;

    Types(Debuggee debuggee, Calls.Call call, Location location) {
        this.debuggee = debuggee;
        this.call = call;
        this.location = location;
    }

    ReferenceType named(String name) throws Failure {
        ReferenceType type = name.endsWith("[]") ? array(name.substring(0, name.length() - 2)) : find(name);
        if (type == null) throw new Failure("cannot find symbol: class `" + name + "`");
        return type;
    }

    /** The object for `String.class` or `int.class`. */
    Value classObject(String name) throws Failure {
        String box = name.equals("void") ? "java.lang.Void" : Operators.boxOf(name);
        if (box == null) return named(name).classObject();
        ReferenceType type = named(box);
        return type.getValue(type.fieldByName("TYPE"));
    }

    ClassType constructible(String name) throws Failure {
        ReferenceType type = named(name);
        if (type instanceof ClassType && !((ClassType) type).isAbstract()) return (ClassType) type;
        throw new Failure("`" + name + "` is abstract and cannot be created");
    }

    ArrayType array(String item) throws Failure {
        String name = Operators.isPrimitive(item) ? item : named(item).name();
        for (ReferenceType type : debuggee.vm.classesByName(name + "[]")) return (ArrayType) type;
        throw new Failure("the program has no array of `" + item + "` yet");
    }

    /** Null if the type does not exist. */
    ReferenceType find(String name) throws Failure {
        ReferenceType known = known(name);
        if (known != null || Operators.isPrimitive(name)) return known;
        List<String> candidates = candidates(name);
        // An unknown variable must not load classes.
        String last = name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
        if (call.isPure || last.isEmpty() || !Character.isUpperCase(last.charAt(0))) return null;
        for (String candidate : candidates) {
            ReferenceType type = load(candidate);
            if (type != null) return type;
        }
        return null;
    }

    /** The same of what is loaded. */
    ReferenceType known(String name) {
        if (Operators.isPrimitive(name)) return null;
        for (String candidate : candidates(name)) {
            ReferenceType loaded = loaded(candidate);
            if (loaded != null) return loaded;
        }
        return null;
    }

    private List<String> candidates(String name) {
        List<String> names = new ArrayList<>();
        String here = location.declaringType().name();
        String[] parts = name.split("\\.");
        String first = parts[0];
        List<String> firsts = new ArrayList<>();
        for (String outer = here; ; outer = outer.substring(0, outer.lastIndexOf('$'))) {
            // The name of a local class has a number before it.
            String own = outer.substring(Math.max(outer.lastIndexOf('.'), outer.lastIndexOf('$')) + 1);
            if (own.replaceFirst("^\\d+", "").equals(first)) firsts.add(outer);
            firsts.add(outer + "$" + first);
            if (outer.indexOf('$') < 0) break;
        }
        String outermost = here.split("\\$")[0];
        int dot = outermost.lastIndexOf('.');
        firsts.add(dot < 0 ? first : outermost.substring(0, dot + 1) + first);
        for (String imported : imports()) {
            if (imported.endsWith("." + first)) firsts.add(0, imported);
            if (imported.endsWith(".*")) firsts.add(imported.substring(0, imported.length() - 1) + first);
        }
        firsts.add("java.lang." + first);
        firsts.add("java.util." + first);
        firsts.add("java.util.stream." + first);
        for (String begin : firsts) {
            String rest = String.join("$", Arrays.asList(parts).subList(1, parts.length));
            names.add(rest.isEmpty() ? begin : begin + "$" + rest);
        }
        // `java.util.Map.Entry`: a dot can follow a package or a class.
        StringBuilder qualified = new StringBuilder(name);
        for (int at = name.length(); at >= 0; at = name.lastIndexOf('.', at - 1)) {
            if (at < name.length()) qualified.setCharAt(at, '$');
            names.add(qualified.toString());
            if (at == 0) break;
        }
        return names;
    }

    private List<String> imports() {
        List<String> names = new ArrayList<>();
        Matcher matcher = IMPORT.matcher(text());
        while (matcher.find()) names.add(matcher.group(1));
        return names;
    }

    /** The classes that a static import may mean by a name. */
    List<ReferenceType> imported(String name) throws Failure {
        List<ReferenceType> owners = new ArrayList<>();
        Matcher matcher = STATIC.matcher(text());
        while (matcher.find()) {
            boolean isMeant = matcher.group(2).equals("*") || matcher.group(2).equals(name);
            ReferenceType owner = isMeant ? find(matcher.group(1)) : null;
            if (owner != null) owners.add(owner);
        }
        return owners;
    }

    /** The source; empty if there is none: then types need their full names. */
    private String text() {
        String file = debuggee.sources.fileOf(location);
        try {
            return file == null ? "" : Files.readString(Paths.get(file));
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return "";
        }
    }

    private ReferenceType loaded(String name) {
        for (ReferenceType type : debuggee.vm.classesByName(name)) {
            if (type.isPrepared()) return type;
        }
        return null;
    }

    private ReferenceType load(String name) throws Failure {
        ReferenceType owner = loaded("java.lang.Class");
        ObjectReference loader = location.declaringType().classLoader();
        try {
            Value found = call.method(null, owner, "forName", Arrays.asList(call.text(name), debuggee.vm.mirrorOf(true), loader));
            return found instanceof ClassObjectReference ? ((ClassObjectReference) found).reflectedType() : null;
        } catch (Failure none) {
            return null;
        }
    }

    boolean isInstance(Value value, String name) throws Failure {
        if (!(value instanceof ObjectReference)) return false;
        String wanted = named(name).name();
        return wanted.equals("java.lang.Object") || Overloads.distance(((ObjectReference) value).referenceType(), wanted) < 1000;
    }

    /** The enclosing class of a nested one. */
    ReferenceType outer(ReferenceType type) {
        int dollar = type.name().lastIndexOf('$');
        return dollar < 0 ? null : loaded(type.name().substring(0, dollar));
    }
}
