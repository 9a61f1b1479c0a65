package stillframe;

import com.sun.jdi.ObjectReference;

/** An error for the client. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;
    /** The exception of the program that is reported; null if it is none. */
    final transient ObjectReference exception;

    Failure(String message) {
        this(message, null);
    }

    Failure(String message, ObjectReference exception) {
        super(message, null, false, false);
        this.exception = exception;
    }
}
