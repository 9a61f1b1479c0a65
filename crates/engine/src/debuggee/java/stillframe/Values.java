package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ByteValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
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
    static final int MOST_NUMBERS = 100;
    private static final int MOST_OBJECTS = 10;
    static final int MOST_LETTERS = 1 << 20;
    private static final int DEPTH = 2;

    private Values() {
    }

    static String text(Value value) {
        return text(value, DEPTH);
    }

    static String text(Value value, int depth) {
        if (value == null) return "null";
        if (value instanceof VoidValue) return "void";
        if (value instanceof CharValue) return Escapes.quoted(String.valueOf(((CharValue) value).value()), '\'');
        if (value instanceof PrimitiveValue) return value.toString();
        if (value instanceof StringReference) return Escapes.quoted(string((StringReference) value), '"');
        if (value instanceof ArrayReference) return array((ArrayReference) value, depth);
        return object((ObjectReference) value, depth);
    }

    /** A very long string is read in part. */
    static String string(StringReference string) {
        Value bytes = field(string, "value");
        if (!(bytes instanceof ArrayReference)) return string.value();
        int length = ((ArrayReference) bytes).length();
        if (length <= MOST_LETTERS) return string.value();
        boolean isWide = isWide(string);
        List<Value> read = ((ArrayReference) bytes).getValues(0, MOST_LETTERS);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < read.size(); i += isWide ? 2 : 1) {
            int low = ((PrimitiveValue) read.get(i)).byteValue() & 255;
            text.append((char) (isWide ? low | (((PrimitiveValue) read.get(i + 1)).byteValue() & 255) << 8 : low));
        }
        return text + "...";
    }

    /** The length of the string itself, not of its literal. */
    static long length(StringReference string) {
        Value bytes = field(string, "value");
        if (!(bytes instanceof ArrayReference) || ((ArrayReference) bytes).length() <= MOST_LETTERS) return string.value().length();
        return ((ArrayReference) bytes).length() >> (isWide(string) ? 1 : 0);
    }

    /** Whether its letters take two bytes each. */
    private static boolean isWide(StringReference string) {
        Value coder = field(string, "coder");
        return coder instanceof ByteValue && ((ByteValue) coder).value() == 1;
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
        if (object instanceof ThreadReference) return name + "[" + Threads.shortName((ThreadReference) object) + "]";
        if (isA(type, "java.lang.Throwable")) {
            return throwable(object) + (Exceptions.cause(object) == null ? "" : " (caused by " + throwable(Exceptions.cause(object)) + ")");
        }
        String plain = JdkValues.text(object, type.name(), depth);
        if (plain != null) return plain;
        Containers container = Containers.of(object);
        if (container != null) return container(container, name, depth);
        if (type.name().contains("$$Lambda")) return name;
        boolean isRecord = isA(type, "java.lang.Record");
        return name + (isRecord ? "[" : "{") + fields(object, type, depth) + (isRecord ? "]" : "}");
    }

    private static String throwable(ObjectReference thrown) {
        String message = Exceptions.message(thrown);
        return Names.simple(thrown.referenceType().name()) + (message == null ? "" : ": " + Escapes.controls(message));
    }

    private static String container(Containers container, String name, int depth) {
        if (container.isOptional) {
            return name + (container.size == 0 ? ".empty" : "[" + text(container.items(0, 1).get(0).value, depth - 1) + "]");
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

    /** Fields of an object, those of superclasses first, without synthetic ones and those of classes that are made at run
     * time, such as the proxies of Spring. */
    static List<Field> instanceFields(ReferenceType type) {
        List<Field> fields = new ArrayList<>();
        if (type instanceof ClassType && ((ClassType) type).superclass() != null) {
            fields.addAll(instanceFields(((ClassType) type).superclass()));
        }
        if (type.name().contains("$$") && !type.name().contains("$$Lambda")) return fields;
        for (Field field : type.fields()) {
            if (!field.isStatic() && !field.name().startsWith("this$")) fields.add(field);
        }
        return fields;
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
        if (value instanceof Lambda) return "lambda";
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
