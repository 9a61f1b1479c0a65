package stillframe;

import com.sun.jdi.Field;
import com.sun.jdi.Method;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.List;

/** The types that the compiler gives to expressions, which are known without evaluating them. */
final class StaticTypes {
    private static final List<String> NUMBERS = List.of("byte", "short", "char", "int", "long", "float", "double");
    private static final List<String> COMPARISONS = List.of("==", "!=", "<", ">", "<=", ">=", "&&", "||");
    private final Evaluator evaluator;
    private final Types types;

    StaticTypes(Evaluator evaluator, Types types) {
        this.evaluator = evaluator;
        this.types = types;
    }

    /** The primitive type that the value of `condition ? one : other` is converted to; null if it stays as it is. */
    String common(Syntax.Node one, Syntax.Node other, boolean isFirst, Value value) throws Failure {
        String first = of(one);
        String second = of(other);
        // A type argument decides over that of the branch. Its value shows which one it is.
        if (isFirst && first == null && value != null) first = value.type().name();
        if (!isFirst && second == null && value != null) second = value.type().name();
        String left = plain(first);
        String right = plain(second);
        if (left == null || right == null || first.equals(second)) return null;
        if (left.equals(right)) return left;
        if (left.equals("boolean") || right.equals("boolean")) return null;
        if (List.of("byte", "short").containsAll(List.of(left, right))) return "short";
        if (fits(one, first, right)) return right;
        if (fits(other, second, left)) return left;
        return promoted(left, right);
    }

    /** Whether an expression is a constant `int` that a smaller type can hold. */
    private boolean fits(Syntax.Node node, String type, String into) throws Failure {
        if (NUMBERS.indexOf(into) >= NUMBERS.indexOf("int") || !type.equals("int") || !isConstant(node)) return false;
        int value;
        try {
            value = ((PrimitiveValue) evaluator.value(node)).intValue();
        } catch (Failure failed) {
            // As `1 / 0`, which is not a constant.
            return false;
        }
        return value == (into.equals("byte") ? (byte) value : into.equals("short") ? (short) value : (char) value);
    }

    private boolean isConstant(Syntax.Node node) throws Failure {
        switch (node.kind) {
            case "literal": return true;
            case "name": return evaluator.isConstant(node.text);
            case "field":
                ReferenceType owner = owner(node.part(0));
                return owner != null && Place.isConstant(owner.fieldByName(node.text));
            case "unary":
            case "binary":
            case "cast":
                for (Syntax.Node part : node.parts) if (!isConstant(part)) return false;
                return true;
            default: return false;
        }
    }

    private static String promoted(String left, String right) {
        int larger = Math.max(NUMBERS.indexOf(left), NUMBERS.indexOf(right));
        return NUMBERS.get(Math.max(larger, NUMBERS.indexOf("int")));
    }

    /** The primitive type of a primitive or boxed one; null for others. */
    private static String plain(String type) {
        return type == null || Operators.isPrimitive(type) ? type : Operators.unboxedOf(type);
    }

    /** Null if unknown, as what a type argument decides. */
    private String of(Syntax.Node node) throws Failure {
        switch (node.kind) {
            case "literal": return literal(node.literal);
            case "name": return evaluator.declared(node.text);
            case "field": return field(node);
            case "call": return called(node);
            case "index": return item(of(node.part(0)));
            case "unary": return node.text.equals("!") ? "boolean" : arithmetic(of(node.part(0)), "int");
            case "binary": return binary(node.text, of(node.part(0)), of(node.part(1)));
            case "ternary": return conditional(node);
            case "instanceof": return "boolean";
            case "cast":
            case "new": return named(node.text);
            case "assign":
            case "prefix":
            case "postfix": return of(node.part(0));
            default: return null;
        }
    }

    private String named(String type) {
        if (Operators.isPrimitive(type)) return type;
        ReferenceType known = types.known(type);
        return known == null ? null : known.name();
    }

    private static String literal(Object value) {
        if (value == Lexer.NULL) return null;
        String unboxed = Operators.unboxedOf(value.getClass().getName());
        return unboxed != null ? unboxed : value.getClass().getName();
    }

    private String conditional(Syntax.Node node) throws Failure {
        String common = common(node.part(1), node.part(2), true, null);
        return common != null ? common : of(node.part(1));
    }

    private static String item(String type) {
        return type != null && type.endsWith("[]") ? type.substring(0, type.length() - 2) : null;
    }

    private static String arithmetic(String left, String right) {
        String one = plain(left);
        String other = plain(right);
        return one == null || other == null ? null : promoted(one, other);
    }

    private static String binary(String operator, String left, String right) {
        if (COMPARISONS.contains(operator)) return "boolean";
        if (operator.equals("+") && ("java.lang.String".equals(left) || "java.lang.String".equals(right))) return "java.lang.String";
        if (operator.startsWith("<<") || operator.startsWith(">>")) return arithmetic(left, "int");
        return "boolean".equals(plain(left)) ? "boolean" : arithmetic(left, right);
    }

    private String field(Syntax.Node node) throws Failure {
        if (node.text.equals("length") && item(of(node.part(0))) != null) return "int";
        ReferenceType owner = owner(node.part(0));
        Field field = owner == null ? null : owner.fieldByName(node.text);
        boolean isKnown = field != null && (field.genericSignature() == null || !field.genericSignature().startsWith("T"));
        return isKnown ? field.typeName() : null;
    }

    private String called(Syntax.Node node) throws Failure {
        Syntax.Node object = (Syntax.Node) node.literal;
        ReferenceType owner = object == null ? evaluator.owner(node.text) : owner(object);
        if (owner == null) return null;
        String common = null;
        for (Method method : owner.methodsByName(node.text)) {
            if (method.isBridge()) continue;
            if (method.argumentTypeNames().size() != node.parts.size() && !method.isVarArgs()) continue;
            boolean isGeneric = method.genericSignature() != null && method.genericSignature().contains(")T");
            boolean isOther = common != null && !common.equals(method.returnTypeName());
            if (isGeneric || isOther) return null;
            common = method.returnTypeName();
        }
        return common;
    }

    /** The type of an object, or the type that is named. */
    ReferenceType owner(Syntax.Node node) throws Failure {
        String type = of(node);
        if (type == null) type = Syntax.typeName(node);
        return type == null ? null : types.known(type);
    }
}
