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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Resolves type names as at a source location, and loads types if necessary. */
final class Types {
    private static final Pattern IMPORT = Pattern.compile("(?m)^\\s*import\\s+([\\w.]+(?:\\.\\*)?)\\s*;");
    private static final Pattern STATIC = Pattern.compile("(?m)^\\s*import\\s+static\\s+([\\w.]+)\\.(\\w+|\\*)\\s*;");
    /** The types that only the search for a name has linked. */
    private static final Set<ReferenceType> LINKED = ConcurrentHashMap.newKeySet();
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
        if (known != null) return LINKED.contains(known) ? initialized(known) : known;
        if (Operators.isPrimitive(name)) return null;
        List<String> candidates = candidates(name);
        // An unknown variable must not load classes.
        String last = name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
        if (call.isPure || last.isEmpty() || !Character.isUpperCase(last.charAt(0))) return null;
        return load(candidates);
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
            if (imported.endsWith("." + first)) firsts.addAll(0, spellings(imported));
            if (imported.endsWith(".*")) firsts.addAll(spellings(imported.substring(0, imported.length() - 1) + first));
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

    /** What a source imports; a static import may be one of a class in a class, too. */
    private List<String> imports() {
        List<String> names = new ArrayList<>();
        Matcher matcher = IMPORT.matcher(text());
        while (matcher.find()) names.add(matcher.group(1));
        matcher = STATIC.matcher(text());
        while (matcher.find()) names.add(matcher.group(1) + "." + matcher.group(2));
        return names;
    }

    /** The names that the JVM may have for an imported class: `Map.Entry` is `Map$Entry` there. */
    private static List<String> spellings(String imported) {
        List<String> names = new ArrayList<>(List.of(imported));
        StringBuilder nested = new StringBuilder(imported);
        for (int dot = imported.lastIndexOf('.'); dot > 0; dot = imported.lastIndexOf('.', dot - 1)) {
            // Names of packages begin with small letters.
            if (!Character.isUpperCase(imported.charAt(imported.lastIndexOf('.', dot - 1) + 1))) break;
            nested.setCharAt(dot, '$');
            names.add(nested.toString());
        }
        return names;
    }

    /** The classes from which a name is imported. */
    List<ReferenceType> imported(String name) throws Failure {
        List<ReferenceType> owners = new ArrayList<>();
        Matcher matcher = STATIC.matcher(text());
        while (matcher.find()) {
            if (!matcher.group(2).equals("*") && !matcher.group(2).equals(name)) continue;
            ReferenceType owner = known(matcher.group(1));
            if (owner == null && !call.isPure) owner = linked(candidates(matcher.group(1)));
            if (owner == null || (owner.fieldByName(name) == null && owner.methodsByName(name).isEmpty())) continue;
            owner = initialized(owner);
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

    /** Until it is initialized, its static fields have no values. */
    private ReferenceType initialized(ReferenceType type) throws Failure {
        return call.isPure || type.isInitialized() ? type : load(List.of(type.name()));
    }

    /** The first of these that exists, initialized. */
    private ReferenceType load(List<String> names) throws Failure {
        ClassObjectReference found = forName(names, true);
        return found == null ? null : found.reflectedType();
    }

    /** The same, but not initialized by that: only this thread runs, and the initialization may wait for another one. */
    private ReferenceType linked(List<String> names) throws Failure {
        ClassObjectReference found = forName(names, false);
        if (found == null) return null;
        try {
            call.method(found, found.referenceType(), "getDeclaredFields", List.of());
            for (ReferenceType type = found.reflectedType(); type != null; type = superclass(type)) LINKED.add(type);
            return found.reflectedType();
        } catch (Failure incomplete) {
            return null;
        }
    }

    private static ReferenceType superclass(ReferenceType type) {
        return type instanceof ClassType ? ((ClassType) type).superclass() : null;
    }

    private ClassObjectReference forName(List<String> names, boolean isInitialized) throws Failure {
        ReferenceType owner = loaded("java.lang.Class");
        ObjectReference loader = location.declaringType().classLoader();
        for (String name : names) {
            try {
                Value found = call.method(null, owner, "forName", Arrays.asList(call.text(name), debuggee.vm.mirrorOf(isInitialized), loader));
                if (found instanceof ClassObjectReference) return (ClassObjectReference) found;
            } catch (Failure none) {
                // The next one may exist.
            }
        }
        return null;
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
