package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ByteValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VoidValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Formats values. No code of the program runs for that: collections are read from their fields. */
final class Values {
    /** Limits of a text: array items, objects and characters of a string. */
    private static final int MOST_NUMBERS = 100;
    private static final int MOST_OBJECTS = 10;
    private static final int MOST_LETTERS = 1 << 20;
    private static final int DEPTH = 2;

    private Values() {
    }

    static String text(Value value) {
        return text(value, DEPTH);
    }

    private static String text(Value value, int depth) {
        if (value == null) return "null";
        if (value instanceof VoidValue) return "void";
        if (value instanceof CharValue) return "'" + ((CharValue) value).value() + "'";
        if (value instanceof PrimitiveValue) return value.toString();
        if (value instanceof StringReference) return quoted(string((StringReference) value));
        if (value instanceof ArrayReference) return array((ArrayReference) value, depth);
        return object((ObjectReference) value, depth);
    }

    /** Formats a value as a literal. */
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            int plain = "\n\r\t\b\f\"\\".indexOf(letter);
            if (plain >= 0) out.append('\\').append("nrtbf\"\\".charAt(plain));
            else if (letter < ' ' || Character.isSurrogate(letter) && text.length() == 1) out.append(String.format("\\u%04x", (int) letter));
            else out.append(letter);
        }
        return out.append('"').toString();
    }

    /** A very long string is read in part. */
    static String string(StringReference string) {
        Value bytes = field(string, "value");
        if (!(bytes instanceof ArrayReference)) return string.value();
        int length = ((ArrayReference) bytes).length();
        if (length <= MOST_LETTERS) return string.value();
        boolean isWide = field(string, "coder") instanceof ByteValue && ((ByteValue) field(string, "coder")).value() == 1;
        List<Value> read = ((ArrayReference) bytes).getValues(0, MOST_LETTERS);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < read.size(); i += isWide ? 2 : 1) {
            int low = ((PrimitiveValue) read.get(i)).byteValue() & 255;
            text.append((char) (isWide ? low | (((PrimitiveValue) read.get(i + 1)).byteValue() & 255) << 8 : low));
        }
        return text + "...";
    }

    private static String array(ArrayReference array, int depth) {
        int length = array.length();
        boolean isPlain = Operators.isPrimitive(((com.sun.jdi.ArrayType) array.type()).componentTypeName());
        int count = Math.min(length, isPlain ? MOST_NUMBERS : MOST_OBJECTS);
        if (depth == 0 && !isPlain && length > 0) return "[...]";
        List<String> items = new ArrayList<>();
        if (count > 0) {
            for (Value item : array.getValues(0, count)) items.add(text(item, depth - 1));
        }
        if (count < length) items.add("...");
        return "[" + String.join(", ", items) + "]";
    }

    private static String object(ObjectReference object, int depth) {
        ReferenceType type = object.referenceType();
        String name = Names.simple(type.name());
        if (object instanceof ClassObjectReference) return "class " + ((ClassObjectReference) object).reflectedType().name();
        if (Operators.unboxedOf(type.name()) != null) return text(field(object, "value"), depth);
        if (isA(type, "java.lang.Enum")) return ((StringReference) field(object, "name")).value();
        if (object instanceof ThreadReference) return name + "[" + ((ThreadReference) object).name() + "]";
        if (isA(type, "java.lang.Throwable")) {
            String message = Exceptions.message(object);
            return name + (message == null ? "" : ": " + message);
        }
        String plain = plain(object, type.name());
        if (plain != null) return plain;
        Containers container = Containers.of(object);
        if (container != null) return container(container, depth);
        if (type.name().contains("$$Lambda")) return name;
        boolean isRecord = isA(type, "java.lang.Record");
        return name + (isRecord ? "[" : "{") + fields(object, type, depth) + (isRecord ? "]" : "}");
    }

    private static String container(Containers container, int depth) {
        if (container.isOptional) {
            return container.size == 0 ? "Optional.empty" : "Optional[" + text(container.items(0, 1).get(0).value, depth - 1) + "]";
        }
        String[] brackets = container.isMap ? new String[] {"{", "}"} : new String[] {"[", "]"};
        if (container.size > 0 && depth == 0) return brackets[0] + "..." + brackets[1];
        List<String> items = new ArrayList<>();
        for (Containers.Item item : container.items(0, Math.min(container.size, MOST_OBJECTS))) {
            String value = text(item.value, depth - 1);
            items.add(container.isMap ? text(item.key, depth - 1) + "=" + value : value);
        }
        if (items.size() < container.size) items.add("...");
        return brackets[0] + String.join(", ", items) + brackets[1];
    }

    private static String fields(ObjectReference object, ReferenceType type, int depth) {
        List<Field> fields = instanceFields(type);
        if (depth == 0 && !fields.isEmpty()) return "...";
        List<Field> shown = fields.subList(0, Math.min(fields.size(), MOST_OBJECTS));
        Map<Field, Value> values = object.getValues(shown);
        List<String> texts = new ArrayList<>();
        for (Field field : shown) {
            Value value = values.get(field);
            texts.add(field.name() + "=" + (object.equals(value) ? "this" : text(value, depth - 1)));
        }
        if (shown.size() < fields.size()) texts.add("...");
        return String.join(", ", texts);
    }

    /** Fields of an object, those of superclasses first, without synthetic ones. */
    static List<Field> instanceFields(ReferenceType type) {
        List<Field> fields = new ArrayList<>();
        if (type instanceof ClassType && ((ClassType) type).superclass() != null) {
            fields.addAll(instanceFields(((ClassType) type).superclass()));
        }
        for (Field field : type.fields()) {
            if (!field.isStatic() && !field.name().startsWith("this$")) fields.add(field);
        }
        return fields;
    }

    /** The text of instances of some JDK value classes. */
    private static String plain(ObjectReference object, String type) {
        switch (type) {
            case "java.util.concurrent.atomic.AtomicInteger":
            case "java.util.concurrent.atomic.AtomicLong":
            case "java.util.concurrent.atomic.AtomicReference":
                return text(field(object, "value"), 1);
            case "java.util.concurrent.atomic.AtomicBoolean":
                return String.valueOf(((IntegerValue) field(object, "value")).value() != 0);
            case "java.util.UUID":
                return new java.util.UUID(number(object, "mostSigBits"), number(object, "leastSigBits")).toString();
            case "java.time.LocalDate":
                return java.time.LocalDate.of((int) number(object, "year"), (int) number(object, "month"), (int) number(object, "day")).toString();
            case "java.time.LocalTime":
                return java.time.LocalTime.of((int) number(object, "hour"), (int) number(object, "minute"),
                    (int) number(object, "second"), (int) number(object, "nano")).toString();
            case "java.time.LocalDateTime":
                return text(field(object, "date"), 1) + "T" + text(field(object, "time"), 1);
            case "java.time.ZoneOffset":
            case "java.time.ZoneRegion":
                return unquoted(object, "id");
            case "java.time.OffsetDateTime":
                return text(field(object, "dateTime"), 1) + text(field(object, "offset"), 1);
            case "java.time.ZonedDateTime":
                String offset = text(field(object, "offset"), 1), zone = text(field(object, "zone"), 1);
                return text(field(object, "dateTime"), 1) + offset + (zone.equals(offset) ? "" : "[" + zone + "]");
            case "java.time.Instant":
                return java.time.Instant.ofEpochSecond(number(object, "seconds"), number(object, "nanos")).toString();
            case "java.time.Duration":
                return java.time.Duration.ofSeconds(number(object, "seconds"), number(object, "nanos")).toString();
            case "java.math.BigInteger":
                return bigInteger(object).toString();
            case "java.math.BigDecimal":
                Value digits = field(object, "intVal");
                java.math.BigInteger unscaled = digits == null
                    ? java.math.BigInteger.valueOf(number(object, "intCompact")) : bigInteger((ObjectReference) digits);
                return new java.math.BigDecimal(unscaled, (int) number(object, "scale")).toString();
            case "java.io.File":
                return quoted(unquoted(object, "path"));
            case "sun.nio.fs.UnixPath":
                return quoted(new String(bytes((ArrayReference) field(object, "path")), java.nio.charset.StandardCharsets.UTF_8));
            case "java.net.URI":
                return field(object, "string") == null ? null : unquoted(object, "string");
            case "java.util.regex.Pattern":
                return unquoted(object, "pattern");
            case "java.util.BitSet":
                return java.util.BitSet.valueOf(longs((ArrayReference) field(object, "words"))).toString();
            case "java.util.KeyValueHolder":
            case "java.util.AbstractMap$SimpleEntry":
            case "java.util.AbstractMap$SimpleImmutableEntry":
            case "java.util.HashMap$Node":
            case "java.util.LinkedHashMap$Entry":
            case "java.util.TreeMap$Entry":
                return text(field(object, "key"), 1) + "=" + text(field(object, "value"), 1);
            case "java.lang.StringBuilder":
            case "java.lang.StringBuffer":
                return builder(object);
            default:
                return null;
        }
    }

    private static String unquoted(ObjectReference object, String name) {
        return ((StringReference) field(object, name)).value();
    }

    private static byte[] bytes(ArrayReference array) {
        List<Value> read = array.length() == 0 ? List.of() : array.getValues(0, Math.min(array.length(), MOST_LETTERS));
        byte[] found = new byte[read.size()];
        for (int i = 0; i < found.length; i++) found[i] = ((PrimitiveValue) read.get(i)).byteValue();
        return found;
    }

    private static long[] longs(ArrayReference array) {
        List<Value> read = array.length() == 0 ? List.of() : array.getValues(0, Math.min(array.length(), MOST_NUMBERS));
        return read.stream().mapToLong(item -> ((PrimitiveValue) item).longValue()).toArray();
    }

    private static java.math.BigInteger bigInteger(ObjectReference object) {
        java.math.BigInteger magnitude = java.math.BigInteger.ZERO;
        for (Value part : ((ArrayReference) field(object, "mag")).getValues()) {
            long digits = ((PrimitiveValue) part).longValue() & 0xffffffffL;
            magnitude = magnitude.shiftLeft(32).or(java.math.BigInteger.valueOf(digits));
        }
        return number(object, "signum") < 0 ? magnitude.negate() : magnitude;
    }

    private static String builder(ObjectReference object) {
        int count = (int) Math.min(number(object, "count"), MOST_LETTERS);
        boolean isWide = number(object, "coder") == 1;
        StringBuilder text = new StringBuilder();
        if (count > 0) {
            List<Value> read = ((ArrayReference) field(object, "value")).getValues(0, isWide ? 2 * count : count);
            for (int i = 0; i < read.size(); i += isWide ? 2 : 1) {
                int low = ((PrimitiveValue) read.get(i)).byteValue() & 255;
                text.append((char) (isWide ? low | (((PrimitiveValue) read.get(i + 1)).byteValue() & 255) << 8 : low));
            }
        }
        return quoted(text.toString());
    }

    private static long number(ObjectReference object, String name) {
        Value value = field(object, name);
        return value instanceof PrimitiveValue ? ((PrimitiveValue) value).longValue() : 0;
    }

    static Value field(ObjectReference object, String name) {
        Field field = object.referenceType().fieldByName(name);
        return field == null ? null : object.getValue(field);
    }

    static boolean isA(ReferenceType type, String name) {
        return Overloads.distance(type, name) < 20 || type.name().equals(name);
    }

    static String typeName(Value value) {
        if (value == null) return "null";
        if (value instanceof VoidValue) return "void";
        return Names.simple(value.type().name());
    }

    /** JSON that represents a value exactly, or null. */
    static String json(Value value) {
        if (value == null) return "null";
        if (value instanceof CharValue) return ascii(Json.write(String.valueOf(((CharValue) value).value())));
        if (value instanceof PrimitiveValue) {
            String text = value.toString();
            return text.equals("NaN") || text.endsWith("Infinity") ? null : text;
        }
        if (value instanceof StringReference) return ascii(Json.write(((StringReference) value).value()));
        List<Value> items;
        if (value instanceof ArrayReference) {
            if (((ArrayReference) value).length() > 1000) return null;
            items = ((ArrayReference) value).length() == 0 ? List.of() : ((ArrayReference) value).getValues();
        } else {
            ObjectReference object = (ObjectReference) value;
            if (Operators.unboxedOf(object.referenceType().name()) != null) return json(field(object, "value"));
            Containers container = Containers.of(object);
            if (container == null || container.isMap || container.isOptional || container.size > 1000) return null;
            items = new ArrayList<>();
            for (Containers.Item item : container.items(0, container.size)) items.add(item.value);
        }
        List<String> texts = new ArrayList<>();
        for (Value item : items) {
            if (item != null && !(item instanceof PrimitiveValue || item instanceof StringReference)
                && Operators.unboxedOf(item.type().name()) == null) return null;
            String text = json(item);
            if (text == null) return null;
            texts.add(text);
        }
        return "[" + String.join(", ", texts) + "]";
    }

    private static String ascii(String text) {
        StringBuilder out = new StringBuilder();
        for (char letter : text.toCharArray()) out.append(letter < 127 ? String.valueOf(letter) : String.format("\\u%04x", (int) letter));
        return out.toString();
    }
}
