package stillframe;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Evaluates expressions in a frame. The frame is fetched each time, because a call invalidates it. */
final class Evaluator {
    private final Debuggee debuggee;
    private final ThreadReference thread;
    private final int depth;
    private final Calls.Call call;
    private final Operators operators;
    private final Types types;
    private final StaticTypes statics;
    /** Parameters of lambdas, and variables of patterns. */
    private final Map<String, Value> names = new HashMap<>();

    Evaluator(Debuggee debuggee, ThreadReference thread, int depth, Calls.Call call) throws Failure {
        this.debuggee = debuggee;
        this.thread = thread;
        this.depth = depth;
        this.call = call;
        operators = new Operators(debuggee, call);
        types = new Types(debuggee, call, frame().location());
        statics = new StaticTypes(this, types);
    }

    /** The beginning of a qualified name that is neither a variable nor a type. */
    private static final class Package {
        final String name;

        Package(String name) {
            this.name = name;
        }
    }

    Value value(String expression) throws Failure {
        return value(Syntax.parse(expression));
    }

    /** The evaluator of a lambda in the expression. */
    Evaluator inside(Calls.Call inner) throws Failure {
        Evaluator evaluator = new Evaluator(debuggee, thread, depth, inner);
        evaluator.names.putAll(names);
        return evaluator;
    }

    private StackFrame frame() throws Failure {
        try {
            return thread.frame(depth);
        } catch (IncompatibleThreadStateException running) {
            throw Debuggee.unreadable(thread, running);
        } catch (IndexOutOfBoundsException gone) {
            throw new Failure("the frame is gone");
        }
    }

    Value value(Syntax.Node node) throws Failure {
        Object operand = operand(node);
        if (operand instanceof Package) throw unknown(((Package) operand).name);
        if (operand instanceof ReferenceType) throw new Failure("`" + ((ReferenceType) operand).name() + "` is a class, not a value");
        return (Value) operand;
    }

    private Failure unknown(String name) throws Failure {
        String first = name.split("\\.")[0];
        ReferenceType type = frame().location().declaringType();
        try {
            frame().visibleVariables();
        } catch (AbsentInformationException absent) {
            return new Failure("cannot find symbol `" + first + "`: `" + type.name() + "` was compiled without the names of variables; compile it with `javac -g`");
        }
        return new Failure("cannot find symbol `" + first + "`");
    }

    /** A value, a type, or the beginning of a name. */
    private Object operand(Syntax.Node node) throws Failure {
        switch (node.kind) {
            case "literal": return operators.literal(node.literal);
            case "name": return name(node.text);
            case "field": return field(operand(node.part(0)), node);
            case "call": return called(node);
            case "index": return item(value(node.part(0)), value(node.part(1)));
            case "unary": return unary(node);
            case "binary": return binary(node);
            case "ternary": return conditional(node);
            case "instanceof": return instance(node);
            case "cast": return isLambda(node.part(0)) ? lambda(node.part(0)).proxy(types.named(node.text).name()) : cast(value(node.part(0)), node.text);
            case "lambda":
            case "reference": throw new Failure("a lambda or method reference needs a parameter or a cast that says its type");
            case "class": return types.classObject(node.text);
            case "outer": return outer(node.text);
            case "new": return call.construct(types.constructible(node.text), values(node.parts));
            case "array": return array(node.text, null, ((PrimitiveValue) operators.converted(value(node.part(0)), "int")).intValue());
            case "items": return array(node.text, values(node.parts), node.parts.size());
            case "assign": return assign(node);
            default: return increment(node);
        }
    }

    private List<Value> values(List<Syntax.Node> nodes) throws Failure {
        List<Value> values = new ArrayList<>();
        for (Syntax.Node node : nodes) values.add(isLambda(node) ? lambda(node) : typed(node));
        return values;
    }

    private Value typed(Syntax.Node node) throws Failure {
        boolean isTyped = node.kind.equals("cast") && !Operators.isPrimitive(node.text);
        return isTyped ? new Typed(value(node), types.named(node.text)) : value(node);
    }

    private static boolean isLambda(Syntax.Node node) {
        return node.kind.equals("lambda") || node.kind.equals("reference");
    }

    private Lambda lambda(Syntax.Node node) {
        return new Lambda(debuggee, this, call, node);
    }

    ReferenceType loaded(String name) throws Failure {
        return types.named(name);
    }

    /** The value of a lambda for these arguments. */
    Value applied(Syntax.Node lambda, List<Value> arguments) throws Failure {
        List<String> parameters = Syntax.parameters(lambda);
        for (int i = 0; i < parameters.size(); i++) names.put(parameters.get(i), arguments.get(i));
        return value(lambda.part(0));
    }

    /** Calls what a method reference refers to. */
    Value referred(Syntax.Node node, List<Value> arguments) throws Failure {
        Syntax.Node part = node.part(0);
        if (part.kind.equals("class")) {
            int length = ((PrimitiveValue) operators.converted(arguments.get(0), "int")).intValue();
            return array(part.text.substring(0, part.text.length() - 2), null, length);
        }
        Object of = operand(part);
        if (of instanceof Package) throw unknown(((Package) of).name);
        if (!(of instanceof ReferenceType)) return method(of, node.text, arguments);
        ReferenceType type = (ReferenceType) of;
        if (node.text.equals("new")) return call.construct(types.constructible(type.name()), arguments);
        boolean isOfObject = false;
        for (Method method : type.methodsByName(node.text)) {
            isOfObject |= !method.isStatic() && (method.isVarArgs() || method.argumentTypeNames().size() == arguments.size() - 1);
        }
        if (!isOfObject || !types.isInstance(arguments.get(0), type.name())) return call.method(null, type, node.text, arguments);
        return method(arguments.get(0), node.text, arguments.subList(1, arguments.size()));
    }

    private Value instance(Syntax.Node node) throws Failure {
        Value value = value(node.part(0));
        boolean isOne = types.isInstance(value, node.text);
        if (isOne && node.literal != null) names.put((String) node.literal, value);
        return debuggee.vm.mirrorOf(isOne);
    }

    private Value unary(Syntax.Node node) throws Failure {
        return operators.unary(node.text, value(node.part(0)));
    }

    private Value binary(Syntax.Node node) throws Failure {
        Value left = value(node.part(0));
        if (node.text.equals("&&")) return debuggee.vm.mirrorOf(Operators.isTrue(left) && Operators.isTrue(value(node.part(1))));
        if (node.text.equals("||")) return debuggee.vm.mirrorOf(Operators.isTrue(left) || Operators.isTrue(value(node.part(1))));
        Value right = value(node.part(1));
        if (node.text.equals("==") || node.text.equals("!=")) {
            if (isText(node.part(0)) && right instanceof StringReference) left = operators.interned(left, right);
            if (isText(node.part(1)) && left instanceof StringReference) right = operators.interned(right, left);
        }
        return operators.binary(node.text, left, right);
    }

    /** Whether it is a text that the compiler knows. */
    private static boolean isText(Syntax.Node node) {
        if (node.kind.equals("cast")) return isText(node.part(0));
        return node.kind.equals("literal") && node.literal instanceof String;
    }

    private Value conditional(Syntax.Node node) throws Failure {
        boolean isFirst = Operators.isTrue(value(node.part(0)));
        Value value = value(node.part(isFirst ? 1 : 2));
        String type = statics.common(node.part(1), node.part(2), isFirst, value);
        if (type == null) return value;
        if (value == null) throw new Failure("java.lang.NullPointerException: null cannot be converted to `" + type + "`");
        return cast(value, type);
    }

    /** The type that a variable or field is declared with; null if it is neither. */
    String declared(String name) throws Failure {
        if (names.containsKey(name)) return names.get(name) == null ? null : names.get(name).type().name();
        StackFrame frame = frame();
        ReferenceType here = frame.location().declaringType();
        if (name.equals("super") && here instanceof ClassType) return ((ClassType) here).superclass().name();
        if (name.equals("this")) return here.name();
        LocalVariable variable = local(frame, name);
        if (variable != null) return variable.typeName();
        Place place = Place.find(frame, name);
        return place == null ? null : place.type();
    }

    /** Whether a name is a field whose value the compiler may know. */
    boolean isConstant(String name) throws Failure {
        StackFrame frame = frame();
        if (names.containsKey(name) || local(frame, name) != null) return false;
        Place place = Place.find(frame, name);
        return place != null && place.isConstant();
    }

    /** The class around the frame whose method a call without an object means; null if it is imported. */
    ReferenceType owner(String method) throws Failure {
        ReferenceType type = frame().location().declaringType();
        while (type != null && type.methodsByName(method).isEmpty()) type = types.outer(type);
        return type;
    }

    /** A variable, a field of the object or of an enclosing one, or a type. */
    private Object name(String name) throws Failure {
        if (names.containsKey(name)) return names.get(name);
        StackFrame frame = frame();
        if (name.equals("this") || name.equals("super")) {
            if (frame.thisObject() == null) throw new Failure("there is no `" + name + "` in a static method");
            return frame.thisObject();
        }
        LocalVariable variable = local(frame, name);
        if (variable != null) return frame.getValue(variable);
        Place place = Place.find(frame, name);
        if (place != null) return place.get();
        // Conditions on exceptions refer to the exception by this name.
        if (name.equals("error") && debuggee.exceptions.current() != null) return debuggee.exceptions.current();
        ReferenceType type = types.find(name);
        if (type != null) return type;
        for (ReferenceType owner : types.imported(name)) {
            Place constant = Place.of(null, owner, name);
            if (constant != null) return constant.get();
        }
        return new Package(name);
    }

    private static LocalVariable local(StackFrame frame, String name) {
        try {
            return frame.visibleVariableByName(name);
        } catch (AbsentInformationException absent) {
            return null;
        }
    }

    private Object field(Object of, Syntax.Node node) throws Failure {
        String name = node.text;
        if (of instanceof Package) {
            String whole = ((Package) of).name + "." + name;
            ReferenceType type = types.find(whole);
            return type != null ? type : new Package(whole);
        }
        if (of instanceof ReferenceType) {
            Place place = Place.of(null, (ReferenceType) of, name);
            if (place != null) return place.get();
            ReferenceType nested = types.find(((ReferenceType) of).name() + "$" + name);
            if (nested != null) return nested;
            throw new Failure("cannot find symbol `" + name + "` in class `" + ((ReferenceType) of).name() + "`");
        }
        return place((Value) of, node).get();
    }

    private Place place(Value of, Syntax.Node node) throws Failure {
        String name = node.text;
        if (of == null) throw new Failure("java.lang.NullPointerException: `" + name + "` of null");
        if (of instanceof ArrayReference && name.equals("length")) return Place.constant(debuggee.vm.mirrorOf(((ArrayReference) of).length()));
        if (!(of instanceof ObjectReference)) throw new Failure("a `" + Values.typeName(of) + "` has no field `" + name + "`");
        ObjectReference object = (ObjectReference) of;
        ReferenceType type = object.referenceType();
        // Where classes have fields of the same name, the type that the source knows decides.
        boolean isSuper = isSuper(node.part(0));
        ReferenceType known = isSuper || Place.isHiding(type, name) ? statics.owner(node.part(0)) : null;
        if (known != null && (isSuper || (known.fieldByName(name) != null && Values.isA(type, known.name())))) type = known;
        Place place = Place.of(object, type, name);
        if (place == null) throw new Failure("cannot find symbol `" + name + "` in class `" + type.name() + "`");
        return place;
    }

    private static boolean isSuper(Syntax.Node node) {
        return node.kind.equals("name") && node.text.equals("super");
    }

    private Value called(Syntax.Node node) throws Failure {
        Syntax.Node object = (Syntax.Node) node.literal;
        if (object == null) return calledHere(node);
        if (isSuper(object)) throw new Failure("`super` cannot be called; call a method of `this`");
        Object of = operand(object);
        if (of instanceof Package) throw unknown(((Package) of).name);
        List<Value> arguments = values(node.parts);
        if (of instanceof ReferenceType) return call.method(null, (ReferenceType) of, node.text, arguments);
        return method(of, node.text, arguments);
    }

    private Value method(Object of, String name, List<Value> arguments) throws Failure {
        if (of == null) throw new Failure("java.lang.NullPointerException: `" + name + "()` of null");
        if (!(of instanceof ObjectReference)) throw new Failure("a `" + Values.typeName((Value) of) + "` has no methods");
        // It needs no call, which may not be allowed.
        if (of instanceof StringReference && name.equals("equals") && arguments.size() == 1 && arguments.get(0) instanceof StringReference) {
            return debuggee.vm.mirrorOf(((StringReference) arguments.get(0)).value().equals(((StringReference) of).value()));
        }
        return call.method((ObjectReference) of, ((ObjectReference) of).referenceType(), name, arguments);
    }

    /** A method of the object, of an enclosing one, or of the class. */
    private Value calledHere(Syntax.Node node) throws Failure {
        List<Value> arguments = values(node.parts);
        ObjectReference self = frame().thisObject();
        ReferenceType type = frame().location().declaringType();
        while (type != null) {
            if (!type.methodsByName(node.text).isEmpty()) return call.method(self, type, node.text, arguments);
            ObjectReference around = self == null ? null : Place.around(self);
            self = around;
            type = around != null ? around.referenceType() : types.outer(type);
        }
        for (ReferenceType owner : types.imported(node.text)) {
            if (!owner.methodsByName(node.text).isEmpty()) return call.method(null, owner, node.text, arguments);
        }
        throw new Failure("cannot find symbol `" + node.text + "()`");
    }

    private Value item(Value of, Value index) throws Failure {
        return itemPlace(of, index).get();
    }

    private Place itemPlace(Value of, Value index) throws Failure {
        if (of == null) throw new Failure("java.lang.NullPointerException: an item of null");
        int at = ((PrimitiveValue) operators.converted(index, "int")).intValue();
        if (of instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) of;
            if (at < 0 || at >= array.length()) {
                throw new Failure("java.lang.ArrayIndexOutOfBoundsException: Index " + at + " out of bounds for length " + array.length());
            }
            return Place.item(array, at);
        }
        Containers container = of instanceof ObjectReference ? Containers.of((ObjectReference) of) : null;
        if (container == null || container.isMap) throw new Failure("`" + Values.typeName(of) + "` is not an array or list");
        if (at < 0 || at >= container.size) throw new Failure("java.lang.IndexOutOfBoundsException: Index " + at + " out of bounds for length " + container.size);
        return Place.entry(container.items(at, 1).get(0));
    }

    private Value cast(Value value, String type) throws Failure {
        if (Operators.isPrimitive(type)) {
            Value plain = Operators.unboxed(value);
            boolean isFlag = plain instanceof com.sun.jdi.BooleanValue;
            if (!(plain instanceof PrimitiveValue) || isFlag != type.equals("boolean")) {
                throw new Failure("incompatible types: `" + Values.typeName(value) + "` cannot be converted to `" + type + "`");
            }
            return isFlag ? plain : operators.cast((PrimitiveValue) plain, type);
        }
        if (value == null) return null;
        if (value instanceof PrimitiveValue) return operators.converted(value, types.named(type).name());
        if (types.isInstance(value, type)) return value;
        throw new Failure("java.lang.ClassCastException: class " + value.type().name() + " cannot be cast to class " + types.named(type).name());
    }

    private Value outer(String type) throws Failure {
        ReferenceType wanted = types.named(type);
        for (ObjectReference self = frame().thisObject(); self != null; self = Place.around(self)) {
            if (Overloads.distance(self.referenceType(), wanted.name()) < 20) return self;
        }
        throw new Failure("no `" + type + ".this` here");
    }

    private Value array(String item, List<Value> items, int length) throws Failure {
        call.mayChange("`new`");
        ArrayType type = types.array(item);
        ArrayReference array = call.keep(type.newInstance(length));
        for (int i = 0; items != null && i < length; i++) Place.item(array, i).set(operators.converted(items.get(i), type.componentTypeName()));
        return array;
    }

    private Value assign(Syntax.Node node) throws Failure {
        call.mayChange("an assignment");
        Place place = target(node.part(0));
        Value value = value(node.part(1));
        if (!node.text.equals("=")) {
            Value result = operators.binary(node.text.substring(0, node.text.length() - 1), place.get(), value);
            value = result instanceof PrimitiveValue && Operators.isPrimitive(place.type()) ? cast(result, place.type()) : result;
        }
        return store(place, value);
    }

    private Value store(Place place, Value value) throws Failure {
        Value converted = operators.converted(value, place.type());
        if (converted instanceof ObjectReference && Overloads.distance(((ObjectReference) converted).referenceType(), place.type()) >= 1000
            && !place.type().equals("java.lang.Object")) {
            throw new Failure("incompatible types: `" + Values.typeName(value) + "` cannot be converted to `" + Names.simple(place.type()) + "`");
        }
        // A call may have made the frame invalid.
        place.refresh(frame()).set(converted);
        return converted;
    }

    /** Assigns the value of an expression, for the client's `setVariable`. */
    Value assign(Place place, String expression) throws Failure {
        call.mayChange("an assignment");
        return store(place, value(expression));
    }

    private Value increment(Syntax.Node node) throws Failure {
        call.mayChange("`" + node.text + "`");
        Place place = target(node.part(0));
        Value before = place.get();
        Value after = operators.binary(node.text.substring(1), before, debuggee.vm.mirrorOf(1));
        Value stored = store(place, Operators.isPrimitive(place.type()) ? cast(after, place.type()) : after);
        return node.kind.equals("prefix") ? stored : before;
    }

    private Place target(Syntax.Node node) throws Failure {
        switch (node.kind) {
            case "name":
                LocalVariable variable = local(frame(), node.text);
                Place place = variable != null ? Place.variable(frame(), variable) : Place.find(frame(), node.text);
                if (place == null) throw unknown(node.text);
                return place;
            case "field":
                Object of = operand(node.part(0));
                if (of instanceof Package) throw unknown(((Package) of).name);
                if (!(of instanceof ReferenceType)) return place((Value) of, node);
                Place ofClass = Place.of(null, (ReferenceType) of, node.text);
                if (ofClass == null) throw new Failure("cannot find symbol `" + node.text + "`");
                return ofClass;
            case "index":
                return itemPlace(value(node.part(0)), value(node.part(1)));
            default:
                throw new Failure("only variables, fields and items can be assigned");
        }
    }
}
