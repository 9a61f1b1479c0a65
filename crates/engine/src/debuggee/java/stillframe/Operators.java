package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.BooleanValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.ClassType;
import com.sun.jdi.DoubleValue;
import com.sun.jdi.FloatValue;
import com.sun.jdi.LongValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StringReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.List;
import java.util.Map;

/** Java's operators and conversions. */
final class Operators {
    private static final Map<String, String> BOXES = Map.of("boolean", "java.lang.Boolean", "byte", "java.lang.Byte", "char",
        "java.lang.Character", "short", "java.lang.Short", "int", "java.lang.Integer", "long", "java.lang.Long", "float",
        "java.lang.Float", "double", "java.lang.Double");
    private final VirtualMachine vm;
    private final Calls.Call call;

    Operators(Debuggee debuggee, Calls.Call call) {
        vm = debuggee.vm;
        this.call = call;
    }

    static boolean isPrimitive(String type) {
        return BOXES.containsKey(type);
    }

    static String boxOf(String primitive) {
        return BOXES.get(primitive);
    }

    static String unboxedOf(String type) {
        for (Map.Entry<String, String> box : BOXES.entrySet()) {
            if (box.getValue().equals(type)) return box.getKey();
        }
        return null;
    }

    static boolean isTrue(Value value) throws Failure {
        Value plain = unboxed(value);
        if (plain instanceof BooleanValue) return ((BooleanValue) plain).value();
        throw new Failure("a condition must be `boolean`, not `" + Values.typeName(value) + "`");
    }

    static Value unboxed(Value value) {
        boolean isBox = value instanceof ObjectReference && unboxedOf(value.type().name()) != null;
        return isBox ? Values.field((ObjectReference) value, "value") : value;
    }

    private static PrimitiveValue number(Value value, String operator) throws Failure {
        Value plain = unboxed(value);
        if (plain instanceof PrimitiveValue && !(plain instanceof BooleanValue)) return (PrimitiveValue) plain;
        throw new Failure("bad operand type `" + Values.typeName(value) + "` for `" + operator + "`");
    }

    Value literal(Object value) {
        if (value == Lexer.NULL) return null;
        if (value instanceof String) return call.text((String) value);
        if (value instanceof Boolean) return vm.mirrorOf((boolean) (Boolean) value);
        if (value instanceof Character) return vm.mirrorOf((char) (Character) value);
        if (value instanceof Integer) return vm.mirrorOf((int) (Integer) value);
        if (value instanceof Long) return vm.mirrorOf((long) (Long) value);
        return value instanceof Float ? vm.mirrorOf((float) (Float) value) : vm.mirrorOf((double) (Double) value);
    }

    Value unary(String operator, Value value) throws Failure {
        if (operator.equals("!")) return vm.mirrorOf(!isTrue(value));
        PrimitiveValue number = number(value, operator);
        if (operator.equals("~")) {
            return number instanceof LongValue ? vm.mirrorOf(~number.longValue()) : vm.mirrorOf(~number.intValue());
        }
        return operator.equals("-") ? arithmetic("-", zero(number), number) : arithmetic("+", zero(number), number);
    }

    /** Preserves negative zero: `-x` of a floating-point number is `-0.0 - x`. */
    private PrimitiveValue zero(PrimitiveValue like) {
        if (like instanceof DoubleValue) return vm.mirrorOf(-0.0);
        return like instanceof FloatValue ? vm.mirrorOf(-0.0f) : vm.mirrorOf(0);
    }

    Value binary(String operator, Value left, Value right) throws Failure {
        if (operator.equals("+") && (left instanceof StringReference || right instanceof StringReference)) {
            return call.text(string(left) + string(right));
        }
        if (operator.equals("==") || operator.equals("!=")) {
            return vm.mirrorOf(isSame(left, right) == operator.equals("=="));
        }
        Value one = unboxed(left);
        Value other = unboxed(right);
        if (one instanceof BooleanValue && other instanceof BooleanValue) {
            return logic(operator, ((BooleanValue) one).value(), ((BooleanValue) other).value());
        }
        if (operator.startsWith("<<") || operator.startsWith(">>")) return shift(operator, number(left, operator), number(right, operator));
        return arithmetic(operator, number(left, operator), number(right, operator));
    }

    private Value logic(String operator, boolean left, boolean right) throws Failure {
        if (operator.equals("&")) return vm.mirrorOf(left & right);
        if (operator.equals("|")) return vm.mirrorOf(left | right);
        if (operator.equals("^")) return vm.mirrorOf(left ^ right);
        throw new Failure("bad operand type `boolean` for `" + operator + "`");
    }

    /** The text that the program has for a literal, which is compared with another. */
    Value interned(Value text, Value other) throws Failure {
        ObjectReference object = (ObjectReference) text;
        // Different texts are not the same object.
        if (!((StringReference) text).value().equals(((StringReference) other).value())) return text;
        if (call.isPure) {
            throw new Failure("whether this is the same object as a literal cannot be known without side effects; compare the text with `equals`");
        }
        return call.method(object, object.referenceType(), "intern", List.of());
    }

    /** Numbers are compared by value if one of them is not boxed. */
    private boolean isSame(Value left, Value right) throws Failure {
        if (left instanceof PrimitiveValue || right instanceof PrimitiveValue) {
            Value one = unboxed(left);
            Value other = unboxed(right);
            if (one instanceof BooleanValue && other instanceof BooleanValue) return one.equals(other);
            return isTrue(arithmetic("==", number(left, "=="), number(right, "==")));
        }
        return left == null ? right == null : left.equals(right);
    }

    private Value shift(String operator, PrimitiveValue left, PrimitiveValue right) {
        int by = (int) right.longValue();
        if (left instanceof LongValue) {
            long value = left.longValue();
            return vm.mirrorOf(operator.equals("<<") ? value << by : operator.equals(">>") ? value >> by : value >>> by);
        }
        int value = left.intValue();
        return vm.mirrorOf(operator.equals("<<") ? value << by : operator.equals(">>") ? value >> by : value >>> by);
    }

    private Value arithmetic(String operator, PrimitiveValue left, PrimitiveValue right) throws Failure {
        if (left instanceof DoubleValue || right instanceof DoubleValue) return floating(operator, left.doubleValue(), right.doubleValue(), false);
        if (left instanceof FloatValue || right instanceof FloatValue) return floating(operator, left.floatValue(), right.floatValue(), true);
        boolean isLong = left instanceof LongValue || right instanceof LongValue;
        return integral(operator, left.longValue(), right.longValue(), isLong);
    }

    private Value floating(String operator, double left, double right, boolean isFloat) throws Failure {
        double result;
        switch (operator) {
            case "+": result = left + right; break;
            case "-": result = left - right; break;
            case "*": result = left * right; break;
            case "/": result = left / right; break;
            case "%": result = left % right; break;
            default: return compared(operator, left < right, left > right, left == right);
        }
        return isFloat ? vm.mirrorOf((float) result) : vm.mirrorOf(result);
    }

    private Value integral(String operator, long left, long right, boolean isLong) throws Failure {
        long result;
        switch (operator) {
            case "+": result = left + right; break;
            case "-": result = left - right; break;
            case "*": result = left * right; break;
            case "&": result = left & right; break;
            case "|": result = left | right; break;
            case "^": result = left ^ right; break;
            case "/":
            case "%":
                if (right == 0) throw new Failure("java.lang.ArithmeticException: / by zero");
                result = operator.equals("/") ? left / right : left % right;
                break;
            default: return compared(operator, left < right, left > right, left == right);
        }
        return isLong ? vm.mirrorOf(result) : vm.mirrorOf((int) result);
    }

    private Value compared(String operator, boolean isLess, boolean isMore, boolean isEqual) throws Failure {
        switch (operator) {
            case "<": return vm.mirrorOf(isLess);
            case ">": return vm.mirrorOf(isMore);
            case "<=": return vm.mirrorOf(isLess || isEqual);
            case ">=": return vm.mirrorOf(isMore || isEqual);
            case "==": return vm.mirrorOf(isEqual);
            default: throw new Failure("bad operand types for `" + operator + "`");
        }
    }

    /** Converts a value as string concatenation does. */
    String string(Value value) throws Failure {
        Value plain = unboxed(value);
        if (plain == null) return "null";
        if (plain instanceof StringReference) return Values.string((StringReference) plain);
        if (plain instanceof CharValue) return String.valueOf(((CharValue) plain).value());
        if (plain instanceof PrimitiveValue) return plain.toString();
        if (plain instanceof ArrayReference || call.isPure) return Values.text(plain);
        ObjectReference object = (ObjectReference) plain;
        Value text = call.method(object, object.referenceType(), "toString", List.of());
        return text instanceof StringReference ? Values.string((StringReference) text) : "null";
    }

    /** Converts a value for a variable or parameter: widens, boxes or unboxes it. */
    Value converted(Value value, String type) throws Failure {
        if (value instanceof Lambda) return ((Lambda) value).proxy(type);
        if (value instanceof Typed) return converted(((Typed) value).value, type);
        if (isPrimitive(type)) {
            Value plain = unboxed(value);
            if (type.equals("boolean") && plain instanceof BooleanValue) return plain;
            if (!(plain instanceof PrimitiveValue) || plain instanceof BooleanValue || type.equals("boolean")) throw mismatch(value, type);
            Value cast = cast((PrimitiveValue) plain, type);
            boolean isWhole = !(plain instanceof DoubleValue || plain instanceof FloatValue);
            boolean isKept = isWhole ? ((PrimitiveValue) cast).longValue() == ((PrimitiveValue) plain).longValue()
                : type.equals("double") || (type.equals("float") && plain instanceof FloatValue);
            if (!isKept) throw mismatch(value, type);
            return cast;
        }
        return value instanceof PrimitiveValue ? boxed((PrimitiveValue) value, type) : value;
    }

    private static Failure mismatch(Value value, String type) {
        return new Failure("incompatible types: `" + Values.typeName(value) + "` " + Values.text(value) + " cannot be converted to `" + Names.simple(type) + "`");
    }

    /** Converts a value like a cast: it may lose digits. */
    Value cast(PrimitiveValue value, String type) {
        switch (type) {
            case "byte": return vm.mirrorOf((byte) whole(value));
            case "short": return vm.mirrorOf((short) whole(value));
            case "char": return vm.mirrorOf((char) whole(value));
            case "int": return vm.mirrorOf(isFloating(value) ? (int) value.doubleValue() : (int) value.longValue());
            case "long": return vm.mirrorOf(isFloating(value) ? (long) value.doubleValue() : value.longValue());
            case "float": return vm.mirrorOf(isFloating(value) ? (float) value.doubleValue() : (float) value.longValue());
            default: return vm.mirrorOf(value instanceof LongValue ? (double) value.longValue() : value.doubleValue());
        }
    }

    private static long whole(PrimitiveValue value) {
        return isFloating(value) ? (int) value.doubleValue() : value.longValue();
    }

    private static boolean isFloating(PrimitiveValue value) {
        return value instanceof DoubleValue || value instanceof FloatValue;
    }

    private Value boxed(PrimitiveValue value, String type) throws Failure {
        String primitive = unboxedOf(type) == null ? value.type().name() : unboxedOf(type);
        String box = boxOf(primitive);
        boolean fits = type.equals(box) || type.equals("java.lang.Object") || type.equals("java.lang.Number")
            || type.equals("java.lang.Comparable") || type.equals("java.io.Serializable");
        if (!fits) throw mismatch(value, type);
        ClassType owner = (ClassType) vm.classesByName(box).get(0);
        return call.invoke(null, owner, owner.concreteMethodByName("valueOf", signature(primitive) + box.replace('.', '/') + ";"),
            List.of(converted(value, primitive)));
    }

    private static String signature(String primitive) {
        String letter = primitive.equals("long") ? "J" : primitive.equals("boolean") ? "Z" : primitive.substring(0, 1).toUpperCase();
        return "(" + letter + ")L";
    }
}
