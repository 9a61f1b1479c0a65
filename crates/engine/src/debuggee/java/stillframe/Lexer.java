package stillframe;

import java.util.ArrayList;
import java.util.List;

/** Splits a Java expression into names, literals and operators. */
final class Lexer {
    private static final String[] SIGNS = {
        ">>>=", "<<=", ">>=", ">>>", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=",
        "&=", "|=", "^=", "<<", ">>",
    };

    static final class Token {
        final String kind;
        final String text;
        final Object value;

        Token(String kind, String text, Object value) {
            this.kind = kind;
            this.text = text;
            this.value = value;
        }

        boolean is(String text) {
            return (kind.equals("sign") || kind.equals("name")) && this.text.equals(text);
        }

        @Override
        public String toString() {
            return kind.equals("end") ? "the end" : "`" + text + "`";
        }
    }

    /** The value of the literal `null`, as opposed to a token without a value. */
    static final Object NULL = new Object();

    private final String text;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    private Lexer(String text) {
        this.text = text;
    }

    static List<Token> tokens(String text) throws Failure {
        Lexer lexer = new Lexer(text);
        while (lexer.next()) {
            // Each call adds one.
        }
        lexer.tokens.add(new Token("end", "", null));
        return lexer.tokens;
    }

    private boolean next() throws Failure {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
        if (at == text.length()) return false;
        char letter = text.charAt(at);
        if (Character.isJavaIdentifierStart(letter)) word();
        else if (Character.isDigit(letter) || (letter == '.' && at + 1 < text.length() && Character.isDigit(text.charAt(at + 1)))) number();
        else if (letter == '"' || letter == '\'') quoted(letter);
        else sign();
        return true;
    }

    private void word() {
        int begin = at;
        while (at < text.length() && Character.isJavaIdentifierPart(text.charAt(at))) at++;
        String word = text.substring(begin, at);
        boolean isFlag = word.equals("true") || word.equals("false");
        if (isFlag || word.equals("null")) tokens.add(new Token("literal", word, isFlag ? Boolean.valueOf(word) : NULL));
        else tokens.add(new Token("name", word, null));
    }

    private void sign() {
        for (String sign : SIGNS) {
            if (text.startsWith(sign, at)) {
                tokens.add(new Token("sign", sign, null));
                at += sign.length();
                return;
            }
        }
        tokens.add(new Token("sign", text.substring(at, ++at), null));
    }

    private void number() throws Failure {
        int begin = at;
        boolean isHexadecimal = text.startsWith("0x", at) || text.startsWith("0X", at);
        while (at < text.length()) {
            char letter = text.charAt(at);
            boolean isExponent = (letter == '+' || letter == '-') && !isHexadecimal && "eE".indexOf(text.charAt(at - 1)) >= 0;
            if (!Character.isLetterOrDigit(letter) && letter != '_' && letter != '.' && !isExponent) break;
            at++;
        }
        String word = text.substring(begin, at);
        try {
            tokens.add(new Token("literal", word, number(word.replace("_", "").toLowerCase(), isHexadecimal)));
        } catch (NumberFormatException wrong) {
            throw new Failure("syntax error: `" + word + "` is not a number that Java has");
        }
    }

    private static Object number(String word, boolean isHexadecimal) {
        boolean isLong = word.endsWith("l");
        String digits = isLong ? word.substring(0, word.length() - 1) : word;
        int radix = isHexadecimal ? 16 : digits.startsWith("0b") ? 2 : digits.matches("0[0-7]+") ? 8 : 10;
        if (radix == 10 && (digits.contains(".") || digits.contains("e") || digits.endsWith("f") || digits.endsWith("d"))) {
            return digits.endsWith("f") ? (Object) Float.valueOf(digits) : (Object) Double.valueOf(digits);
        }
        if (radix == 16 || radix == 2) digits = digits.substring(2);
        if (radix != 10) return isLong ? (Object) Long.parseUnsignedLong(digits, radix) : (Object) Integer.parseUnsignedInt(digits, radix);
        if (isLong) return Long.parseUnsignedLong(digits);
        long value = Long.parseLong(digits);
        if (value > 1L << 31) throw new NumberFormatException();
        return (int) value;
    }

    private void quoted(char quote) throws Failure {
        int begin = at++;
        StringBuilder out = new StringBuilder();
        while (true) {
            if (at >= text.length()) throw new Failure("syntax error: the quote at `" + text.substring(begin) + "` is not closed");
            char letter = text.charAt(at++);
            if (letter == quote) break;
            out.append(letter == '\\' && at < text.length() ? escaped() : letter);
        }
        if (quote == '\'' && out.length() != 1) throw new Failure("syntax error: a `char` has one character; use double quotes for a string");
        tokens.add(new Token("literal", text.substring(begin, at), quote == '"' ? (Object) out.toString() : (Object) out.charAt(0)));
    }

    private char escaped() throws Failure {
        char letter = text.charAt(at++);
        int plain = "nrtbfs0".indexOf(letter);
        if (plain >= 0) return "\n\r\t\b\f \0".charAt(plain);
        if (letter != 'u') return letter;
        while (at < text.length() && text.charAt(at) == 'u') at++;
        if (at + 4 > text.length()) throw new Failure("syntax error: `\\u` needs four digits");
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }
}
