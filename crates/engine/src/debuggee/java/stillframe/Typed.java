package stillframe;

import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;

/** An argument with a cast, whose type selects among overloaded methods. */
final class Typed implements Value {
    final Value value;
    private final ReferenceType type;

    Typed(Value value, ReferenceType type) {
        this.value = value;
        this.type = type;
    }

    @Override
    public ReferenceType type() {
        return type;
    }

    @Override
    public VirtualMachine virtualMachine() {
        return type.virtualMachine();
    }
}
