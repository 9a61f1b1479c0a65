package stillframe;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Frames, scopes and variables of a stop, by the client's references. */
final class Frames {
    private static final long EVALUATE = 5000;
    private final Debuggee debuggee;
    private final List<Frame> frames = new ArrayList<>();
    private final List<Holder> holders = new ArrayList<>();
    private final Set<String> reportedTypes = new HashSet<>();

    Frames(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    private static final class Frame {
        ThreadReference thread;
        int depth;
    }

    /** A container of variables: a frame, the static fields of a class, an object. */
    private static final class Holder {
        Frame frame;
        ReferenceType type;
        ObjectReference object;
        /** An expression that evaluates to the object. */
        String expression;
    }

    synchronized void forget() {
        frames.clear();
        holders.clear();
    }

    synchronized Map<String, Object> list(Map<String, Object> arguments) throws Failure {
        ThreadReference thread = debuggee.threads.byNumber(arguments.get("threadId"));
        try {
            int total = thread.frameCount();
            int start = (int) Json.number(arguments.get("startFrame"), 0);
            int levels = (int) Json.number(arguments.get("levels"), 0);
            int count = Math.max(0, Math.min(total - start, levels > 0 ? levels : total));
            List<Object> rows = new ArrayList<>();
            List<StackFrame> found = count == 0 ? List.of() : thread.frames(start, count);
            for (int i = 0; i < count; i++) rows.add(row(thread, start + i, found.get(i).location()));
            return Json.object("stackFrames", rows, "totalFrames", (long) total);
        } catch (IncompatibleThreadStateException running) {
            throw Debuggee.unreadable(thread, running);
        }
    }

    private Object row(ThreadReference thread, int depth, Location location) {
        Frame frame = new Frame();
        frame.thread = thread;
        frame.depth = depth;
        frames.add(frame);
        String file = debuggee.sources.isUsers(location) ? debuggee.sources.fileOf(location) : null;
        Map<String, Object> source = file != null ? Json.object("name", file.substring(file.lastIndexOf('/') + 1), "path", file)
            : Json.object("name", location.declaringType().name(), "presentationHint", "subtle");
        return Json.object("id", (long) frames.size(), "name", Names.inFrame(location.method()), "source", source,
            "line", (long) Math.max(0, location.lineNumber()), "column", 1L);
    }

    private synchronized Frame frame(Object number) throws Failure {
        int index = (int) Json.number(number, 0) - 1;
        if (index < 0 || index >= frames.size()) throw new Failure("the frame belongs to an earlier stop");
        return frames.get(index);
    }

    private static StackFrame stackFrame(Frame frame) throws Failure {
        try {
            return frame.thread.frame(frame.depth);
        } catch (IncompatibleThreadStateException running) {
            throw Debuggee.unreadable(frame.thread, running);
        }
    }

    private synchronized long hold(Frame frame, ReferenceType type, ObjectReference object, String expression) {
        Holder holder = new Holder();
        holder.frame = frame;
        holder.type = type;
        holder.object = object;
        holder.expression = expression;
        holders.add(holder);
        return holders.size();
    }

    private synchronized Holder held(Map<String, Object> arguments) throws Failure {
        int index = (int) Json.number(arguments.get("variablesReference"), 0) - 1;
        if (index < 0 || index >= holders.size()) throw new Failure("the value belongs to an earlier stop");
        return holders.get(index);
    }

    List<Object> scopes(Map<String, Object> arguments) throws Failure {
        Frame frame = frame(arguments.get("frameId"));
        List<Object> scopes = new ArrayList<>();
        scopes.add(Json.object("name", "Locals", "presentationHint", "locals", "variablesReference", hold(frame, null, null, null)));
        ReferenceType type = stackFrame(frame).location().declaringType();
        boolean hasStatics = type.fields().stream().anyMatch(field -> field.isStatic() && !field.isSynthetic());
        if (hasStatics) {
            scopes.add(Json.object("name", "Static", "presentationHint", "globals", "variablesReference", hold(frame, type, null, type.name())));
        }
        return scopes;
    }

    List<Object> variables(Map<String, Object> arguments) throws Failure {
        Holder holder = held(arguments);
        if (holder.object != null) return children(holder, arguments);
        return holder.type != null ? statics(holder) : locals(holder);
    }

    private List<Object> locals(Holder holder) throws Failure {
        List<Object> rows = new ArrayList<>();
        String from = holder.frame.depth == 0 ? debuggee.steps.returnedFrom() : null;
        if (from != null) rows.add(row(holder.frame, "(return) " + from, debuggee.steps.returned(), null));
        StackFrame frame = stackFrame(holder.frame);
        if (frame.thisObject() != null) rows.add(row(holder.frame, "this", frame.thisObject(), "this"));
        // Its variables are those of machine code.
        if (frame.location().method().isNative()) return rows;
        try {
            List<LocalVariable> visible = frame.visibleVariables();
            Map<LocalVariable, Value> values = frame.getValues(visible);
            for (LocalVariable variable : visible) rows.add(row(holder.frame, variable.name(), values.get(variable), variable.name()));
        } catch (AbsentInformationException absent) {
            int number = 0;
            for (Value value : frame.getArgumentValues()) rows.add(row(holder.frame, "arg" + number++, value, null));
            warnOnce(frame.location().declaringType().name());
        }
        return rows;
    }

    private synchronized void warnOnce(String type) {
        if (Sources.isOfJdk(type) || !reportedTypes.add(type)) return;
        debuggee.wire.event("output", Json.object("category", "console", "output",
            "`" + type + "` was compiled without the names of variables, so only its arguments are shown; compile it with `javac -g`\n"));
    }

    private List<Object> statics(Holder holder) {
        List<Object> rows = new ArrayList<>();
        for (Field field : holder.type.fields()) {
            if (!field.isStatic() || field.isSynthetic()) continue;
            rows.add(row(holder.frame, field.name(), holder.type.getValue(field), holder.expression.replace('$', '.') + "." + field.name()));
        }
        return rows;
    }

    private List<Object> children(Holder holder, Map<String, Object> arguments) {
        List<Object> rows = new ArrayList<>();
        if ("named".equals(arguments.get("filter"))) return rows;
        int start = (int) Json.number(arguments.get("start"), 0);
        int wanted = (int) Json.number(arguments.get("count"), 0);
        int count = wanted > 0 ? wanted : Integer.MAX_VALUE - start;
        if (holder.object instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) holder.object;
            int length = Math.min(count, array.length() - start);
            if (length <= 0) return rows;
            int index = start;
            for (Value value : array.getValues(start, length)) {
                rows.add(row(holder.frame, "[" + index + "]", value, of(holder, "[" + index + "]")));
                index++;
            }
            return rows;
        }
        Containers container = Containers.of(holder.object);
        if (container != null) return entries(holder, container, start, Math.min(count, container.size));
        List<Field> fields = Values.instanceFields(holder.object.referenceType());
        Map<Field, Value> values = holder.object.getValues(fields);
        for (Field field : fields) rows.add(row(holder.frame, field.name(), values.get(field), of(holder, "." + field.name())));
        return rows;
    }

    private static String of(Holder holder, String rest) {
        return holder.expression == null ? null : holder.expression + rest;
    }

    private List<Object> entries(Holder holder, Containers container, int start, int count) {
        List<Object> rows = new ArrayList<>();
        int index = start;
        for (Containers.Item item : container.items(start, count)) {
            String name = container.isMap ? key(item.key) : container.isOptional ? "value" : "[" + index + "]";
            boolean hasIndex = !container.isMap && !container.isOptional;
            rows.add(row(holder.frame, name, item.value, hasIndex ? of(holder, "[" + index + "]") : null));
            index++;
        }
        return rows;
    }

    private static String key(Value key) {
        return key instanceof StringReference ? Values.string((StringReference) key) : Values.text(key);
    }

    private Map<String, Object> row(Frame frame, String name, Value value, String expression) {
        Map<String, Object> row = described(frame, value, expression, "value");
        row.put("name", name);
        if (expression != null) row.put("evaluateName", expression);
        return row;
    }

    /** A value, with a reference for its children if it has any. */
    private Map<String, Object> described(Frame frame, Value value, String expression, String key) {
        Map<String, Object> row = Json.object(key, Values.text(value), "type", Values.typeName(value), "variablesReference", 0L);
        if (value instanceof StringReference) row.put("textLength", Values.length((StringReference) value));
        if (!(value instanceof ObjectReference) || value instanceof StringReference) return row;
        ObjectReference object = (ObjectReference) value;
        if (Operators.unboxedOf(object.referenceType().name()) != null) return row;
        Containers container = object instanceof ArrayReference ? null : Containers.of(object);
        long length = object instanceof ArrayReference ? ((ArrayReference) object).length() : container != null ? container.size : -1;
        boolean hasChildren = length > 0 || (length < 0 && !Values.instanceFields(object.referenceType()).isEmpty());
        if (!hasChildren) return row;
        row.put("variablesReference", hold(frame, null, object, expression));
        if (length > 0) row.put("indexedVariables", length);
        else row.put("namedVariables", (long) Values.instanceFields(object.referenceType()).size());
        return row;
    }

    Map<String, Object> evaluate(Map<String, Object> arguments) throws Failure {
        Frame frame = frame(arguments.get("frameId"));
        String expression = String.valueOf(arguments.get("expression"));
        boolean isPure = "hover".equals(arguments.get("context"));
        long within = Json.number(arguments.get("timeout"), EVALUATE);
        Value value = debuggee.calls.within(within, frame.thread, isPure,
            call -> new Evaluator(debuggee, frame.thread, frame.depth, call).value(expression));
        return described(frame, value, "(" + expression + ")", "result");
    }

    Map<String, Object> assign(Map<String, Object> arguments) throws Failure {
        Holder holder = held(arguments);
        String name = String.valueOf(arguments.get("name"));
        String text = String.valueOf(arguments.get("value"));
        Frame frame = holder.frame;
        Place place = place(holder, name);
        if (place == null) throw new Failure("no assignable variable `" + name + "` here");
        Value value = debuggee.calls.within(EVALUATE, frame.thread, false,
            call -> new Evaluator(debuggee, frame.thread, frame.depth, call).assign(place, text));
        return described(frame, value, null, "value");
    }

    private Place place(Holder holder, String name) throws Failure {
        if (holder.object == null && holder.type == null) {
            StackFrame frame = stackFrame(holder.frame);
            try {
                LocalVariable variable = frame.visibleVariableByName(name);
                return variable == null ? null : Place.variable(frame, variable);
            } catch (AbsentInformationException absent) {
                return null;
            }
        }
        if (holder.object == null) return Place.of(null, holder.type, name);
        int index = name.matches("\\[\\d{1,9}\\]") ? Integer.parseInt(name.substring(1, name.length() - 1)) : -1;
        if (holder.object instanceof ArrayReference) {
            boolean isThere = index >= 0 && index < ((ArrayReference) holder.object).length();
            return isThere ? Place.item((ArrayReference) holder.object, index) : null;
        }
        Containers container = Containers.of(holder.object);
        if (container == null) return Place.of(holder.object, holder.object.referenceType(), name);
        if (container.isMap) {
            for (Containers.Item item : container.items(0, container.size)) {
                if (key(item.key).equals(name)) return Place.entry(item);
            }
            return null;
        }
        return index >= 0 && index < container.size ? Place.entry(container.items(index, 1).get(0)) : null;
    }

    /** The index of the identical object among several values. */
    synchronized Map<String, Object> same(Map<String, Object> arguments) throws Failure {
        ObjectReference object = object(arguments.get("value"));
        List<Object> among = Json.list(arguments.get("among"));
        for (int i = 0; i < among.size(); i++) {
            if (object != null && object.equals(object(among.get(i)))) return Json.object("index", (long) i);
        }
        return Json.object();
    }

    private ObjectReference object(Object number) {
        int index = (int) Json.number(number, 0) - 1;
        return index < 0 || index >= holders.size() ? null : holders.get(index).object;
    }
}
