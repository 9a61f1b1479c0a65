package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Type;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.VoidValue;
import com.sun.jdi.event.EventSet;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * A lambda or method reference in an expression. The program gets a proxy for it. When the program calls that, the
 * debugger evaluates the body in the frame of the expression.
 */
final class Lambda implements Value {
    private static final List<String> OF_OBJECT = List.of("equals", "hashCode", "toString");
    private final Debuggee debuggee;
    private final Evaluator evaluator;
    private final Calls.Call call;
    private final Syntax.Node node;
    /** For the methods that the interface implements. */
    private final Deque<Calls.Call> free = new ConcurrentLinkedDeque<>();
    private InterfaceType type;
    private Method method;

    Lambda(Debuggee debuggee, Evaluator evaluator, Calls.Call call, Syntax.Node node) {
        this.debuggee = debuggee;
        this.evaluator = evaluator;
        this.call = call;
        this.node = node;
    }

    /** It has no type of its own. */
    @Override
    public Type type() {
        return null;
    }

    @Override
    public VirtualMachine virtualMachine() {
        return debuggee.vm;
    }

    /** The method that it implements for a parameter of this type; null if that does not take it. */
    Method implemented(String name) {
        try {
            Method method = Operators.isPrimitive(name) || name.endsWith("[]") ? null : method(evaluator.loaded(name));
            boolean fits = node.kind.equals("reference") || method != null && method.argumentTypeNames().size() == Syntax.parameters(node).size();
            return fits ? method : null;
        } catch (Failure unknown) {
            return null;
        }
    }

    /** The only abstract method of an interface; null if it is not a functional one. */
    private static Method method(ReferenceType type) {
        if (!(type instanceof InterfaceType)) return null;
        Method found = null;
        for (Method one : type.visibleMethods()) {
            if (!one.isAbstract() || OF_OBJECT.contains(one.name())) continue;
            if (found != null && !found.name().equals(one.name())) return null;
            found = one;
        }
        return found;
    }

    /** The object that the program gets for it. */
    ObjectReference proxy(String name) throws Failure {
        ReferenceType wanted = evaluator.loaded(name);
        method = method(wanted);
        if (method == null) throw new Failure("`" + Names.simple(name) + "` is not a functional interface");
        type = (InterfaceType) wanted;
        Proxies proxies = new Proxies(debuggee, evaluator, call);
        proxies.begin();
        // The thread that reads the events must not wait for the code that the body calls.
        return proxies.create(type, (thread, set) -> Session.daemon(() -> answer(thread, set)).start());
    }

    private void answer(ThreadReference thread, EventSet set) {
        Proxies.answer(call, thread, set, () -> {
            if (thread.equals(call.thread)) throw new Failure("a method that a lambda calls cannot call the lambda again here");
            List<Value> handed = thread.frame(0).getArgumentValues();
            return result(handed.get(0), (ObjectReference) handed.get(1), (ArrayReference) handed.get(2));
        });
    }

    private Value result(Value proxy, ObjectReference called, ArrayReference handed) throws Failure {
        String name = Values.string((StringReference) Values.field(called, "name"));
        List<Value> arguments = handed == null ? List.of() : new ArrayList<>(handed.getValues());
        Method asked = name.equals(method.name()) ? method : null;
        for (Method one : type.visibleMethods()) {
            if (asked == null && one.name().equals(name) && one.argumentTypeNames().size() == arguments.size()) asked = one;
        }
        if (asked == null || (asked != method && asked.isAbstract())) throw new Failure("`" + name + "` of a lambda cannot be called");
        if (asked != method) return inherited((ObjectReference) proxy, asked, arguments);
        // Threads of a parallel stream may call it at the same time, but one thread evaluates it.
        synchronized (evaluator) {
            Calls.Call inner = call.inner();
            return returned(inner, asked, body(inner, arguments));
        }
    }

    /** What a method returns that the interface implements, and that may call the lambda: it has a thread of its own. */
    private Value inherited(ObjectReference proxy, Method asked, List<Value> arguments) throws Failure {
        Calls.Call inner = free.poll();
        if (inner == null) {
            inner = call.inner();
            synchronized (evaluator) {
                new Proxies(debuggee, evaluator, inner).begin();
            }
        }
        try {
            return returned(inner, asked, inner.inherited(proxy, asked, arguments));
        } finally {
            free.push(inner);
        }
    }

    private Value returned(Calls.Call inner, Method asked, Value value) throws Failure {
        String type = asked.returnTypeName();
        if (type.equals("void")) return null;
        if (value instanceof VoidValue) throw new Failure("the lambda returns no value, but `" + Names.simple(this.type.name()) + "` needs one");
        Operators operators = new Operators(debuggee, inner);
        return operators.converted(operators.converted(value, type), Operators.isPrimitive(type) ? Operators.boxOf(type) : "java.lang.Object");
    }

    private Value body(Calls.Call inner, List<Value> arguments) throws Failure {
        Evaluator body = evaluator.inside(inner);
        return node.kind.equals("lambda") ? body.applied(node, arguments) : body.referred(node, arguments);
    }
}
