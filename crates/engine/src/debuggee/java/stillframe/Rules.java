package stillframe;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rules of one breakpoint: conditions, hit counts, log messages and recorded expressions. A client sends them as
 * JSON in place of a condition, a list with one rule for each of its breakpoints there; a plain condition is one rule.
 */
final class Rules {
    private static final long WITHIN = 1000;
    private static final long BETWEEN_COUNTS = 100;
    private final Debuggee debuggee;
    private final List<Rule> rules = new ArrayList<>();

    private static final class Rule {
        Long id;
        String condition;
        String operator;
        long count;
        String log;
        Map<String, Object> record;
        /** The number of hits with a true condition. */
        long own;
        long written;
        long counted;
        final Map<String, Object> last = new HashMap<>();
    }

    Rules(Debuggee debuggee, String text) {
        this.debuggee = debuggee;
        List<Object> all = text != null && text.startsWith("[{") ? Json.list(Json.parse(text)) : List.of(Json.object("condition", text));
        for (Object one : all) {
            Map<String, Object> values = Json.map(one);
            Rule rule = new Rule();
            rule.id = values.get("id") == null ? null : Json.number(values.get("id"), 0);
            rule.condition = Json.string(values.get("condition"));
            rule.operator = Json.string(values.get("operator"));
            rule.count = Json.number(values.get("count"), 0);
            rule.log = Json.string(values.get("log"));
            rule.record = values.get("record") == null ? null : Json.map(values.get("record"));
            rules.add(rule);
        }
    }

    boolean stop(ThreadReference thread) {
        boolean stops = false;
        List<Object> hit = new ArrayList<>();
        for (Rule rule : rules) {
            try {
                if (!isMet(rule, thread)) continue;
                if (rule.record != null) record(rule, thread);
                else if (rule.log != null) send("logged", rule, "text", filled(rule.log, thread));
                else {
                    stops = true;
                    if (rule.id != null) hit.add(rule.id);
                }
            } catch (Failure failure) {
                if (!isOfOuter(failure.getMessage(), thread)) send("failed", rule, "message", failure.getMessage());
            }
        }
        if (stops) {
            debuggee.wire.event("stillframe", Json.object("kind", "hit", "ids", hit, "thread", debuggee.threads.number(thread)));
        }
        return stops;
    }

    private void send(String kind, Rule rule, String key, String text) {
        if (rule.id == null) debuggee.wire.event("output", Json.object("category", "console", "output", text + "\n"));
        else debuggee.wire.event("stillframe", Json.object("kind", kind, "id", rule.id, key, text, "times", 1L));
    }

    private boolean isMet(Rule rule, ThreadReference thread) throws Failure {
        if (rule.condition != null && !Operators.isTrue(evaluate(rule.condition, thread))) return false;
        long hits = debuggee.breakpoints.count(rule.id, rule.own, 1);
        rule.own = hits;
        if (rule.operator == null) return true;
        switch (rule.operator) {
            case "==": return hits == rule.count;
            case ">": return hits > rule.count;
            case ">=": return hits >= rule.count;
            case "<": return hits < rule.count;
            case "<=": return hits <= rule.count;
            default: return hits % rule.count == 0;
        }
    }

    private Value evaluate(String expression, ThreadReference thread) throws Failure {
        return debuggee.calls.within(WITHIN, thread, false, call -> new Evaluator(debuggee, thread, 0, call).value(expression));
    }

    /** A log message with the values of the expressions in braces. Doubled braces are literal. */
    private String filled(String message, ThreadReference thread) throws Failure {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < message.length(); i++) {
            char letter = message.charAt(i);
            boolean isDoubled = i + 1 < message.length() && message.charAt(i + 1) == letter;
            int end = letter == '{' && !isDoubled ? closing(message, i) : -1;
            if ((letter == '{' || letter == '}') && isDoubled) {
                text.append(letter);
                i++;
            } else if (end > 0) {
                Value value = evaluate(message.substring(i + 1, end), thread);
                text.append(Values.text(value));
                i = end;
            } else {
                text.append(letter);
            }
        }
        return text.toString();
    }

    private static int closing(String message, int open) {
        int depth = 0;
        for (int i = open; i < message.length(); i++) {
            if (message.charAt(i) == '{') depth++;
            if (message.charAt(i) == '}' && --depth == 0) return i;
        }
        return -1;
    }

    /** Writes a row to the recorder's pipe: id, hit, time, process, thread, and one cell per expression. */
    private void record(Rule rule, ThreadReference thread) {
        if ((rule.own - 1) % Json.number(rule.record.get("every"), 1) != 0) return;
        List<Object> cells = new ArrayList<>();
        for (Object expression : Json.list(rule.record.get("expressions"))) {
            cells.add(cell(rule, (String) expression, thread));
        }
        // A condition that is met has the names of the lambda.
        if (rule.condition == null && isOfOuter(cells, thread)) {
            rule.own = debuggee.breakpoints.count(rule.id, rule.own, -1);
            return;
        }
        boolean isSame = cells.equals(rule.last.put(Threads.name(thread), cells));
        if (isSame && Json.flag(rule.record.get("changes"))) return;
        if (rule.written >= Json.number(rule.record.get("most"), Long.MAX_VALUE)) {
            count(rule, false);
            return;
        }
        rule.written++;
        List<Object> row = new ArrayList<>(List.of(rule.id, rule.own, (double) System.currentTimeMillis(), process(rule), Threads.name(thread)));
        row.add(cells);
        write(rule, row);
    }

    private static boolean isOfOuter(List<Object> cells, ThreadReference thread) {
        for (Object cell : cells) {
            boolean hasValue = Json.list(cell).get(0) != null;
            if (hasValue || !isOfOuter((String) Json.list(cell).get(1), thread)) return false;
        }
        return true;
    }

    /** Whether a name is unknown because the thread is in a lambda, which the code around it on the same line may know. */
    private static boolean isOfOuter(String problem, ThreadReference thread) {
        if (!problem.startsWith("cannot find symbol `")) return false;
        try {
            Location here = thread.frame(0).location();
            boolean isShared = false;
            for (Location other : here.declaringType().locationsOfLine(here.lineNumber())) {
                isShared |= !other.method().equals(here.method());
            }
            return isShared && here.method().name().startsWith("lambda$");
        } catch (IncompatibleThreadStateException | AbsentInformationException unreadable) {
            return false;
        }
    }

    private static long process(Rule rule) {
        return Json.number(rule.record.get("process"), 0);
    }

    private List<Object> cell(Rule rule, String expression, ThreadReference thread) {
        List<Object> cell = new ArrayList<>();
        try {
            Value value = evaluate(expression, thread);
            int most = (int) Json.number(rule.record.get("text"), 1000);
            String json = Json.flag(rule.record.get("json")) ? Values.json(value) : null;
            String text = json != null ? json : Values.text(value);
            boolean isCut = text.length() > most;
            cell.add(Values.typeName(value));
            cell.add(isCut ? text.substring(0, most) : text);
            if (isCut && json != null) cell.set(1, cut(Values.text(value), most));
            cell.add(isCut ? 1L : json != null ? 2L : 0L);
        } catch (Failure failure) {
            cell.add(null);
            cell.add(failure.getMessage());
        }
        return cell;
    }

    private static String cut(String text, int most) {
        return text.length() > most ? text.substring(0, most) : text;
    }

    private static void write(Rule rule, Object line) {
        try (FileOutputStream pipe = new FileOutputStream((String) rule.record.get("pipe"), true)) {
            pipe.write((Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException gone) {
            // The recorder has ended.
        }
    }

    /** Reports hits without a row in time, because the program can be killed at any moment. */
    private static void count(Rule rule, boolean isEnd) {
        long now = System.currentTimeMillis();
        if (!isEnd && now - rule.counted < BETWEEN_COUNTS) return;
        rule.counted = now;
        write(rule, Json.object("id", rule.id, "writer", process(rule) + "/0", "hits", rule.own));
    }

    /** Reports the hit count of each location: beyond the limit, rows are omitted. */
    void ended() {
        for (Rule rule : rules) {
            if (rule.record != null && rule.own > 0) count(rule, true);
        }
    }
}
