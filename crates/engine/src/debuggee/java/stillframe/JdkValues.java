package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.BooleanValue;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.List;

/** Instances of JDK classes that are shown as one text, read from their fields. */
final class JdkValues {
    private JdkValues() {
    }

    /** Null for an instance of another class, or of one that has other fields in this JDK. */
    static String text(ObjectReference object, String type, int depth) {
        try {
            return known(object, type, depth);
        } catch (RuntimeException changed) {
            return null;
        }
    }

    private static String known(ObjectReference object, String type, int depth) {
        switch (type) {
            case "java.util.concurrent.atomic.AtomicInteger":
            case "java.util.concurrent.atomic.AtomicLong":
            case "java.util.concurrent.atomic.AtomicReference":
                return inner(field(object, "value"), depth);
            case "java.util.concurrent.atomic.AtomicBoolean":
                return String.valueOf(((IntegerValue) field(object, "value")).value() != 0);
            case "java.util.concurrent.atomic.LongAdder":
                return String.valueOf(Containers.sum(object, "base", "cells"));
            case "java.util.concurrent.atomic.AtomicIntegerArray":
            case "java.util.concurrent.atomic.AtomicLongArray":
            case "java.util.concurrent.atomic.AtomicReferenceArray":
                return inner(field(object, "array"), depth);
            case "java.util.concurrent.CompletableFuture":
                return Names.simple(type) + "[" + result(object, depth) + "]";
            case "java.util.concurrent.FutureTask":
                return Names.simple(type) + "[" + outcome(object, (int) number(object, "state"), depth) + "]";
            case "java.util.concurrent.locks.ReentrantLock":
                Value owner = field((ObjectReference) field(object, "sync"), "exclusiveOwnerThread");
                return Names.simple(type) + (owner == null ? "[unlocked]" : "[locked by " + Threads.name((ThreadReference) owner) + "]");
            case "java.util.concurrent.CountDownLatch":
                return Names.simple(type) + "[count=" + number((ObjectReference) field(object, "sync"), "state") + "]";
            case "java.util.concurrent.Semaphore":
                return Names.simple(type) + "[permits=" + number((ObjectReference) field(object, "sync"), "state") + "]";
            case "java.util.Date":
                // A setter leaves the time to be computed.
                return field(object, "cdate") == null ? java.time.Instant.ofEpochMilli(number(object, "fastTime")).toString() : null;
            case "java.sql.Timestamp":
                if (field(object, "cdate") != null) return null;
                return java.time.Instant.ofEpochMilli(number(object, "fastTime")).plusNanos(number(object, "nanos")).toString();
            case "java.util.GregorianCalendar":
                boolean isKnown = ((BooleanValue) field(object, "isTimeSet")).value();
                return isKnown ? java.time.Instant.ofEpochMilli(number(object, "time")).toString() : null;
            case "java.util.Locale":
                ObjectReference base = (ObjectReference) field(object, "baseLocale");
                return new java.util.Locale.Builder().setLanguage(unquoted(base, "language")).setScript(unquoted(base, "script"))
                    .setRegion(unquoted(base, "region")).setVariant(unquoted(base, "variant")).build().toString();
            case "java.util.UUID":
                return new java.util.UUID(number(object, "mostSigBits"), number(object, "leastSigBits")).toString();
            case "java.time.LocalDate":
                return java.time.LocalDate.of((int) number(object, "year"), (int) number(object, "month"), (int) number(object, "day")).toString();
            case "java.time.LocalTime":
                return java.time.LocalTime.of((int) number(object, "hour"), (int) number(object, "minute"),
                    (int) number(object, "second"), (int) number(object, "nano")).toString();
            case "java.time.LocalDateTime":
                return Values.text(field(object, "date"), 1) + "T" + Values.text(field(object, "time"), 1);
            case "java.time.ZoneOffset":
            case "java.time.ZoneRegion":
                return unquoted(object, "id");
            case "java.time.OffsetDateTime":
                return Values.text(field(object, "dateTime"), 1) + Values.text(field(object, "offset"), 1);
            case "java.time.ZonedDateTime":
                String offset = Values.text(field(object, "offset"), 1), zone = Values.text(field(object, "zone"), 1);
                return Values.text(field(object, "dateTime"), 1) + offset + (zone.equals(offset) ? "" : "[" + zone + "]");
            case "java.time.Instant":
                return java.time.Instant.ofEpochSecond(number(object, "seconds"), number(object, "nanos")).toString();
            case "java.time.Duration":
                return java.time.Duration.ofSeconds(number(object, "seconds"), number(object, "nanos")).toString();
            case "java.time.Period":
                return java.time.Period.of((int) number(object, "years"), (int) number(object, "months"), (int) number(object, "days")).toString();
            case "java.time.Year":
                return String.valueOf(number(object, "year"));
            case "java.time.YearMonth":
                return java.time.YearMonth.of((int) number(object, "year"), (int) number(object, "month")).toString();
            case "java.math.BigInteger":
                return bigInteger(object).toString();
            case "java.math.BigDecimal":
                Value digits = field(object, "intVal");
                java.math.BigInteger unscaled = digits == null
                    ? java.math.BigInteger.valueOf(number(object, "intCompact")) : bigInteger((ObjectReference) digits);
                return new java.math.BigDecimal(unscaled, (int) number(object, "scale")).toString();
            case "java.io.File":
                return Escapes.quoted(unquoted(object, "path"), '"');
            case "sun.nio.fs.UnixPath":
                return Escapes.quoted(new String(bytes((ArrayReference) field(object, "path")), java.nio.charset.StandardCharsets.UTF_8), '"');
            case "java.net.URI":
                return field(object, "string") == null ? null : unquoted(object, "string");
            case "java.util.regex.Pattern":
                return unquoted(object, "pattern");
            case "java.util.BitSet":
                return java.util.BitSet.valueOf(longs((ArrayReference) field(object, "words"))).toString();
            case "java.util.KeyValueHolder":
            case "java.util.AbstractMap$SimpleEntry":
            case "java.util.AbstractMap$SimpleImmutableEntry":
            case "java.util.HashMap$Node":
            case "java.util.LinkedHashMap$Entry":
            case "java.util.TreeMap$Entry":
                return inner(field(object, "key"), depth) + "=" + inner(field(object, "value"), depth);
            case "java.lang.StringBuilder":
            case "java.lang.StringBuffer":
                return builder(object);
            default:
                return null;
        }
    }

    private static String unquoted(ObjectReference object, String name) {
        return ((StringReference) field(object, name)).value();
    }

    private static byte[] bytes(ArrayReference array) {
        List<Value> read = array.length() == 0 ? List.of() : array.getValues(0, Math.min(array.length(), Values.MOST_LETTERS));
        byte[] found = new byte[read.size()];
        for (int i = 0; i < found.length; i++) found[i] = ((PrimitiveValue) read.get(i)).byteValue();
        return found;
    }

    private static long[] longs(ArrayReference array) {
        List<Value> read = array.length() == 0 ? List.of() : array.getValues(0, Math.min(array.length(), Values.MOST_NUMBERS));
        return read.stream().mapToLong(item -> ((PrimitiveValue) item).longValue()).toArray();
    }

    private static java.math.BigInteger bigInteger(ObjectReference object) {
        java.math.BigInteger magnitude = java.math.BigInteger.ZERO;
        for (Value part : ((ArrayReference) field(object, "mag")).getValues()) {
            long digits = ((PrimitiveValue) part).longValue() & 0xffffffffL;
            magnitude = magnitude.shiftLeft(32).or(java.math.BigInteger.valueOf(digits));
        }
        return number(object, "signum") < 0 ? magnitude.negate() : magnitude;
    }

    private static String builder(ObjectReference object) {
        int count = (int) Math.min(number(object, "count"), Values.MOST_LETTERS);
        boolean isWide = number(object, "coder") == 1;
        StringBuilder text = new StringBuilder();
        if (count > 0) {
            List<Value> read = ((ArrayReference) field(object, "value")).getValues(0, isWide ? 2 * count : count);
            for (int i = 0; i < read.size(); i += isWide ? 2 : 1) {
                int low = ((PrimitiveValue) read.get(i)).byteValue() & 255;
                text.append((char) (isWide ? low | (((PrimitiveValue) read.get(i + 1)).byteValue() & 255) << 8 : low));
            }
        }
        return Escapes.quoted(text.toString(), '"');
    }

    /** What an object holds, which can be the object itself. */
    private static String inner(Value value, int depth) {
        boolean isObject = value instanceof ObjectReference && !(value instanceof StringReference)
            && Operators.unboxedOf(value.type().name()) == null;
        return depth == 0 && isObject ? "..." : Values.text(value, Math.max(0, depth - 1));
    }

    private static String result(ObjectReference future, int depth) {
        Value result = field(future, "result");
        if (result == null) return "not completed";
        if (!result.type().name().equals("java.util.concurrent.CompletableFuture$AltResult")) return "completed: " + inner(result, depth);
        Value thrown = field((ObjectReference) result, "ex");
        return thrown == null ? "completed: null" : "failed: " + inner(thrown, depth);
    }

    /** `FutureTask` numbers its states from NEW to INTERRUPTED. */
    private static String outcome(ObjectReference task, int state, int depth) {
        if (state < 2) return "not completed";
        if (state > 3) return "cancelled";
        return (state == 2 ? "completed: " : "failed: ") + inner(field(task, "outcome"), depth);
    }

    private static long number(ObjectReference object, String name) {
        Value value = field(object, name);
        return value instanceof PrimitiveValue ? ((PrimitiveValue) value).longValue() : 0;
    }

    private static Value field(ObjectReference object, String name) {
        return Values.field(object, name);
    }
}
