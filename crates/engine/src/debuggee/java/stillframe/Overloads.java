package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Type;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/** Selects among overloaded methods, and converts their arguments. */
final class Overloads {
    private static final int NO = 1_000_000;
    private static final int BOXED = 50;
    private static final int VARIABLE = 200;
    private static final String ORDER = "BSIJFD";

    private Overloads() {
    }

    static final class Choice {
        Method method;
        List<Value> arguments;
    }

    static Choice choose(Debuggee debuggee, Calls.Call call, ReferenceType type, String name, List<Value> arguments, boolean isStatic)
        throws Failure {
        Method best = null;
        int least = NO;
        boolean isKnown = false;
        for (Method method : candidates(type, name)) {
            if (isStatic && !method.isStatic() && !method.isConstructor()) continue;
            isKnown = true;
            int cost = cost(method, arguments);
            boolean overrides = best != null && cost == least && best.isAbstract() && !method.isAbstract();
            if (cost < least || overrides) {
                best = method;
                least = cost;
            }
        }
        if (best == null) throw none(type, name, arguments, isKnown);
        Choice choice = new Choice();
        choice.method = best;
        choice.arguments = fit(debuggee, call, best, arguments, fixedCost(best, arguments) >= NO);
        return choice;
    }

    private static List<Method> candidates(ReferenceType type, String name) {
        if (name.equals("<init>") || !(type instanceof InterfaceType || type instanceof ArrayType)) return type.methodsByName(name);
        List<Method> methods = new ArrayList<>(type.methodsByName(name));
        // Every object inherits the methods of `Object`.
        for (ReferenceType object : type.virtualMachine().classesByName("java.lang.Object")) methods.addAll(object.methodsByName(name));
        return methods;
    }

    private static Failure none(ReferenceType type, String name, List<Value> arguments, boolean isKnown) {
        String simple = Names.simple(type.name());
        String called = name.equals("<init>") ? "constructor of `" + simple + "`" : "method `" + name + "` of `" + simple + "`";
        if (!isKnown) return new Failure("cannot find the " + called);
        List<String> types = new ArrayList<>();
        for (Value argument : arguments) types.add(argument == null ? "null" : Values.typeName(argument));
        return new Failure("no " + called + " takes (" + String.join(", ", types) + ")");
    }

    private static int cost(Method method, List<Value> arguments) {
        List<String> types = method.argumentTypeNames();
        int sum = fixedCost(method, arguments);
        if (sum < NO) return sum;
        if (!method.isVarArgs() || arguments.size() < types.size() - 1) return NO;
        sum = VARIABLE;
        int last = types.size() - 1;
        String item = types.get(last).substring(0, types.get(last).length() - 2);
        for (int i = 0; i < arguments.size(); i++) {
            Type type = i < last ? parameter(method, i) : null;
            sum += cost(type, i < last ? types.get(i) : item, arguments.get(i));
        }
        return sum < NO ? sum : NO;
    }

    /** The cost without an array of the last arguments. */
    private static int fixedCost(Method method, List<Value> arguments) {
        List<String> types = method.argumentTypeNames();
        if (types.size() != arguments.size()) return NO;
        int sum = 0;
        for (int i = 0; i < types.size(); i++) sum += cost(parameter(method, i), types.get(i), arguments.get(i));
        return Math.min(sum, NO);
    }

    /** The type of a parameter, if it is loaded. */
    private static Type parameter(Method method, int index) {
        try {
            return method.argumentTypes().get(index);
        } catch (ClassNotLoadedException unloaded) {
            return null;
        }
    }

    private static int cost(Type type, String name, Value argument) {
        if (argument instanceof Lambda) return cost(((Lambda) argument).implemented(name));
        boolean isPrimitive = Operators.isPrimitive(name);
        if (argument == null) return isPrimitive ? NO : 1;
        if (argument instanceof PrimitiveValue) {
            String from = argument.type().name();
            if (isPrimitive) return widening(from, name);
            if (name.equals(Operators.boxOf(from))) return BOXED;
            boolean isSuper = name.equals("java.lang.Object") || name.equals("java.io.Serializable") || name.equals("java.lang.Comparable")
                || (name.equals("java.lang.Number") && !from.equals("char") && !from.equals("boolean"));
            return isSuper ? BOXED + 10 : NO;
        }
        ReferenceType of = argument instanceof Typed ? ((Typed) argument).type() : ((ObjectReference) argument).referenceType();
        if (isPrimitive) {
            String unboxed = Operators.unboxedOf(of.name());
            return unboxed == null ? NO : widening(unboxed, name) + BOXED;
        }
        if (of.name().equals(name)) return 0;
        return distance(of, name);
    }

    /** A lambda is rather a `Callable` than a `Runnable`. */
    private static int cost(Method implemented) {
        if (implemented == null) return NO;
        return implemented.returnTypeName().equals("void") ? 1 : 0;
    }

    private static int widening(String from, String to) {
        if (from.equals(to)) return 0;
        if (from.equals("boolean") || to.equals("boolean") || to.equals("char")) return NO;
        int begin = from.equals("char") ? 1 : ORDER.indexOf(letter(from));
        int end = ORDER.indexOf(letter(to));
        return end > begin ? end - begin : NO;
    }

    private static char letter(String primitive) {
        return primitive.equals("long") ? 'J' : Character.toUpperCase(primitive.charAt(0));
    }

    /** The distance from a type to a supertype, by name; it may belong to another class loader. */
    static int distance(ReferenceType type, String name) {
        if (type.name().equals(name)) return 0;
        if (name.equals("java.lang.Object")) return 20;
        int least = NO;
        if (type instanceof ArrayType) return itemDistance((ArrayType) type, name);
        if (type instanceof ClassType) {
            ClassType above = ((ClassType) type).superclass();
            if (above != null) least = distance(above, name) + 1;
            for (InterfaceType one : ((ClassType) type).interfaces()) least = Math.min(least, distance(one, name) + 1);
        } else if (type instanceof InterfaceType) {
            for (InterfaceType one : ((InterfaceType) type).superinterfaces()) least = Math.min(least, distance(one, name) + 1);
        }
        return Math.min(least, NO);
    }

    /** An array is one of its items' supertypes, too, and rather that than an `Object`. */
    private static int itemDistance(ArrayType type, String name) {
        try {
            Type item = type.componentType();
            if (!name.endsWith("[]") || !(item instanceof ReferenceType)) return NO;
            int distance = distance((ReferenceType) item, name.substring(0, name.length() - 2));
            return distance < NO ? Math.max(0, distance - 1) : NO;
        } catch (ClassNotLoadedException unloaded) {
            return NO;
        }
    }

    private static List<Value> fit(Debuggee debuggee, Calls.Call call, Method method, List<Value> arguments, boolean isVariable)
        throws Failure {
        List<String> types = method.argumentTypeNames();
        Operators operators = new Operators(debuggee, call);
        List<Value> fitted = new ArrayList<>();
        int fixed = isVariable ? types.size() - 1 : types.size();
        for (int i = 0; i < fixed; i++) fitted.add(operators.converted(arguments.get(i), types.get(i)));
        if (!isVariable) return fitted;
        String item = types.get(fixed).substring(0, types.get(fixed).length() - 2);
        List<Value> rest = new ArrayList<>();
        for (Value value : arguments.subList(fixed, arguments.size())) rest.add(operators.converted(value, item));
        try {
            ArrayType array = (ArrayType) method.argumentTypes().get(fixed);
            ArrayReference packed = call.keep(array.newInstance(rest.size()));
            if (!rest.isEmpty()) packed.setValues(rest);
            fitted.add(packed);
        } catch (ClassNotLoadedException | InvalidTypeException unable) {
            throw new Failure("the arguments of `" + method.name() + "` cannot be put into an array: " + unable.getMessage());
        }
        return fitted;
    }
}
