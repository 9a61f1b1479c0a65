package stillframe;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, strings, numbers (Long or Double), booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        return new Json(text).value();
    }

    /** A map of the given keys and values, without null values. */
    static Map<String, Object> object(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i + 1] != null) map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : new LinkedHashMap<>();
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return value instanceof List ? (List<Object>) value : new ArrayList<>();
    }

    static String string(Object value) {
        return value instanceof String ? (String) value : null;
    }

    static long number(Object value, long otherwise) {
        return value instanceof Number ? ((Number) value).longValue() : otherwise;
    }

    static boolean flag(Object value) {
        return Boolean.TRUE.equals(value);
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof String) {
            quote((String) value, out);
        } else if (value instanceof Map) {
            String comma = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(comma);
                quote((String) entry.getKey(), out);
                out.append(':');
                write(entry.getValue(), out);
                comma = ",";
            }
            out.append(comma.equals("{") ? "{}" : "}");
        } else if (value instanceof List) {
            String comma = "[";
            for (Object item : (List<?>) value) {
                out.append(comma);
                write(item, out);
                comma = ",";
            }
            out.append(comma.equals("[") ? "[]" : "]");
        } else {
            out.append(value);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter == '\n') {
                out.append("\\n");
            } else if (letter < ' ' || isLoneSurrogate(text, i)) {
                // A lone surrogate has no encoding in UTF-8.
                out.append(String.format("\\u%04x", letter < ' ' ? (int) letter : 0xfffd));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }

    private static boolean isLoneSurrogate(String text, int at) {
        char letter = text.charAt(at);
        if (Character.isHighSurrogate(letter)) {
            return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        return Character.isLowSurrogate(letter) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }

    private Object value() {
        skipSpace();
        char letter = text.charAt(at);
        if (letter == '{') return object();
        if (letter == '[') return list();
        if (letter == '"') return string();
        int begin = at;
        while (at < text.length() && "{}[],:\" \n\r\t".indexOf(text.charAt(at)) < 0) at++;
        String word = text.substring(begin, at);
        if (word.equals("null")) return null;
        if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
        if (word.matches("-?\\d{1,18}")) return Long.valueOf(word);
        return Double.valueOf(word);
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        while (!ends('}')) {
            String key = string();
            ends(':');
            map.put(key, value());
        }
        return map;
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        at++;
        while (!ends(']')) items.add(value());
        return items;
    }

    /** Skips a comma or the end of the list or map. */
    private boolean ends(char end) {
        skipSpace();
        if (text.charAt(at) == ',') {
            at++;
            skipSpace();
        }
        if (text.charAt(at) != end) return false;
        at++;
        return true;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        at++;
        for (char letter; (letter = text.charAt(at++)) != '"'; ) {
            if (letter != '\\') {
                out.append(letter);
                continue;
            }
            char escaped = text.charAt(at++);
            int plain = "nrtbf".indexOf(escaped);
            if (escaped == 'u') {
                out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                out.append(plain < 0 ? escaped : "\n\r\t\b\f".charAt(plain));
            }
        }
        return out.toString();
    }

    private void skipSpace() {
        while (at < text.length() && text.charAt(at) <= ' ') at++;
    }
}
