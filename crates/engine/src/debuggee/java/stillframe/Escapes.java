package stillframe;

/** Text as it is written in source code. */
final class Escapes {
    private static final String PLAIN = "\n\r\t\b\f";

    private Escapes() {
    }

    /** A literal of a string or a char, by the quote around it. */
    static String quoted(String text, char quote) {
        return quote + escaped(text, "\\" + quote) + quote;
    }

    /** A text without quotes, in one line. */
    static String controls(String text) {
        return escaped(text, "");
    }

    private static String escaped(String text, String marked) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            int plain = PLAIN.indexOf(letter);
            if (plain >= 0) out.append('\\').append("nrtbf".charAt(plain));
            else if (marked.indexOf(letter) >= 0) out.append('\\').append(letter);
            else if (Character.isISOControl(letter) || isUnpaired(text, i)) out.append(String.format("\\u%04x", (int) letter));
            else out.append(letter);
        }
        return out.toString();
    }

    /** Half of a letter that takes two chars. */
    private static boolean isUnpaired(String text, int at) {
        char letter = text.charAt(at);
        if (Character.isHighSurrogate(letter)) return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        return Character.isLowSurrogate(letter) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }
}
