package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.Value;

/** An assignable location: a variable, a field, an array item. */
abstract class Place {
    abstract Value get() throws Failure;

    abstract String type();

    abstract void put(Value value) throws InvalidTypeException, ClassNotLoadedException, Failure;

    /** Whether the compiler may know the value. */
    boolean isConstant() {
        return false;
    }

    /** Whether the compiler may know the value of a field; false without one. */
    static boolean isConstant(Field field) {
        return field != null && field.isStatic() && field.isFinal() && Operators.isPrimitive(field.typeName());
    }

    /** The same location in a frame that was fetched again. */
    Place refresh(StackFrame frame) {
        return this;
    }

    void set(Value value) throws Failure {
        try {
            put(value);
        } catch (InvalidTypeException | ClassNotLoadedException | IllegalArgumentException wrong) {
            throw new Failure("it cannot be assigned to: " + wrong.getMessage());
        }
    }

    static Place variable(StackFrame frame, LocalVariable variable) {
        return new Place() {
            @Override
            Value get() {
                return frame.getValue(variable);
            }

            @Override
            String type() {
                return variable.typeName();
            }

            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                frame.setValue(variable, value);
            }

            @Override
            Place refresh(StackFrame again) {
                return variable(again, variable);
            }
        };
    }

    /** A field of the object of a frame, of an enclosing one, or of the class. */
    static Place find(StackFrame frame, String name) {
        ReferenceType type = frame.location().declaringType();
        ObjectReference self = frame.thisObject();
        while (type != null) {
            Place place = of(self, type, name);
            if (place == null) place = of(self, type, "val$" + name);
            if (place != null) return place;
            ObjectReference around = self == null ? null : around(self);
            self = around;
            type = around != null ? around.referenceType() : outer(type);
        }
        return null;
    }

    private static ReferenceType outer(ReferenceType type) {
        int dollar = type.name().lastIndexOf('$');
        if (dollar < 0) return null;
        for (ReferenceType found : type.virtualMachine().classesByName(type.name().substring(0, dollar))) return found;
        return null;
    }

    /** The enclosing object of an inner class's instance. */
    static ObjectReference around(ObjectReference self) {
        for (Field field : self.referenceType().fields()) {
            if (field.name().startsWith("this$")) return (ObjectReference) self.getValue(field);
        }
        return null;
    }

    /** A field by name, static without an object; null if it does not exist. */
    static Place of(ObjectReference object, ReferenceType type, String name) {
        Field field = type.fieldByName(name);
        if (field == null || (object == null && !field.isStatic())) return null;
        return field(object, field);
    }

    /** Whether a class has a field of the same name as one that it extends. */
    static boolean isHiding(ReferenceType type, String name) {
        Field field = type.fieldByName(name);
        ClassType above = field != null && field.declaringType() instanceof ClassType ? ((ClassType) field.declaringType()).superclass() : null;
        return above != null && above.fieldByName(name) != null;
    }

    static Place field(ObjectReference object, Field field) {
        return new Place() {
            @Override
            Value get() {
                return field.isStatic() ? field.declaringType().getValue(field) : object.getValue(field);
            }

            @Override
            String type() {
                return field.typeName();
            }

            @Override
            boolean isConstant() {
                return isConstant(field);
            }

            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException, Failure {
                if (field.isFinal()) throw new Failure("`" + field.name() + "` is final");
                if (!field.isStatic()) object.setValue(field, value);
                else if (field.declaringType() instanceof ClassType) ((ClassType) field.declaringType()).setValue(field, value);
                else throw new Failure("a field of an interface cannot be assigned");
            }
        };
    }

    static Place item(ArrayReference array, int index) {
        return new Place() {
            @Override
            Value get() {
                return array.getValue(index);
            }

            @Override
            String type() {
                return ((ArrayType) array.type()).componentTypeName();
            }

            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                array.setValue(index, value);
            }
        };
    }

    /** An item of a collection, assignable unless the order depends on it. */
    static Place entry(Containers.Item item) {
        if (item.array != null) return item(item.array, item.index);
        if (item.node != null) return field(item.node, item.node.referenceType().fieldByName(item.nodeField));
        return constant(item.value);
    }

    static Place constant(Value value) {
        return new Place() {
            @Override
            Value get() {
                return value;
            }

            @Override
            String type() {
                return value == null ? "java.lang.Object" : value.type().name();
            }

            @Override
            void put(Value ignored) throws Failure {
                throw new Failure("it cannot be assigned to");
            }
        };
    }
}
