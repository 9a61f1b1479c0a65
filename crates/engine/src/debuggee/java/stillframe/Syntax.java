package stillframe;

import java.util.ArrayList;
import java.util.List;

/** Parses a Java expression into a tree. */
final class Syntax {
    /** A node of an expression: its kind, name or operator, and children. */
    static final class Node {
        final String kind;
        final String text;
        final List<Node> parts;
        Object literal;

        Node(String kind, String text, Node... parts) {
            this.kind = kind;
            this.text = text;
            this.parts = new ArrayList<>(List.of(parts));
        }

        Node part(int index) {
            return parts.get(index);
        }
    }

    private static final String[][] LEVELS = {
        {"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">=", "instanceof"},
        {"<<", ">>", ">>>"}, {"+", "-"}, {"*", "/", "%"},
    };
    private static final List<String> ASSIGNMENTS =
        List.of("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=");
    private final List<Lexer.Token> tokens;
    private int at;

    private Syntax(List<Lexer.Token> tokens) {
        this.tokens = tokens;
    }

    static Node parse(String text) throws Failure {
        Syntax syntax = new Syntax(Lexer.tokens(text));
        Node node = syntax.expression();
        if (syntax.is(";")) syntax.at++;
        if (!syntax.peek().kind.equals("end")) throw syntax.unexpected();
        return node;
    }

    private Lexer.Token peek() {
        return tokens.get(Math.min(at, tokens.size() - 1));
    }

    private Lexer.Token ahead(int count) {
        return tokens.get(Math.min(at + count, tokens.size() - 1));
    }

    private boolean is(String text) {
        return peek().is(text);
    }

    private boolean accept(String text) {
        if (!is(text)) return false;
        at++;
        return true;
    }

    private void expect(String text) throws Failure {
        if (!accept(text)) throw new Failure("syntax error: `" + text + "` expected, but found " + peek());
    }

    private Failure unexpected() {
        return new Failure("syntax error: unexpected " + peek());
    }

    private Node expression() throws Failure {
        if (isLambda()) return lambda();
        Node target = ternary();
        if (!ASSIGNMENTS.contains(peek().text) || !peek().kind.equals("sign")) return target;
        String operator = tokens.get(at++).text;
        return new Node("assign", operator, target, expression());
    }

    private Node ternary() throws Failure {
        Node condition = binary(0);
        if (!accept("?")) return condition;
        Node yes = expression();
        expect(":");
        return new Node("ternary", "?", condition, yes, ternary());
    }

    private Node binary(int level) throws Failure {
        if (level == LEVELS.length) return unary();
        Node left = binary(level + 1);
        while (true) {
            String operator = null;
            for (String one : LEVELS[level]) if (is(one)) operator = one;
            if (operator == null) return left;
            at++;
            left = operator.equals("instanceof") ? instance(left) : new Node("binary", operator, left, binary(level + 1));
        }
    }

    /** `x instanceof Name`, or `x instanceof Name variable`. */
    private Node instance(Node value) throws Failure {
        accept("final");
        Node node = new Node("instanceof", type(), value);
        if (peek().kind.equals("name")) node.literal = name();
        else if (is("(")) throw new Failure("patterns of records cannot be evaluated; name the record, and call its methods");
        return node;
    }

    /** Whether the parameters of a lambda follow. */
    private boolean isLambda() {
        if (peek().kind.equals("name")) return ahead(1).is("->");
        if (!is("(")) return false;
        int end = 1;
        for (int depth = 1; depth > 0; end++) {
            if (ahead(end).kind.equals("end")) return false;
            depth += ahead(end).is("(") ? 1 : ahead(end).is(")") ? -1 : 0;
        }
        return ahead(end).is("->");
    }

    /** A lambda: its text is the names of its parameters. */
    private Node lambda() throws Failure {
        List<String> names = new ArrayList<>();
        if (!accept("(")) {
            names.add(name());
        } else {
            while (!accept(")")) {
                if (!names.isEmpty()) expect(",");
                accept("final");
                String first = peek().text;
                type();
                names.add(peek().kind.equals("name") ? name() : first);
            }
        }
        expect("->");
        if (!accept("{")) return new Node("lambda", String.join(",", names), expression());
        accept("return");
        Node body = expression();
        accept(";");
        if (!accept("}")) throw new Failure("only a lambda of one expression can be evaluated; call a method of the program instead");
        return new Node("lambda", String.join(",", names), body);
    }

    static List<String> parameters(Node lambda) {
        return lambda.text.isEmpty() ? List.of() : List.of(lambda.text.split(","));
    }

    private Node unary() throws Failure {
        for (String operator : new String[] {"++", "--"}) {
            if (accept(operator)) return new Node("prefix", operator, unary());
        }
        for (String operator : new String[] {"+", "-", "!", "~"}) {
            if (accept(operator)) return new Node("unary", operator, unary());
        }
        if (isCast()) {
            expect("(");
            String type = type();
            expect(")");
            return new Node("cast", type, isLambda() ? lambda() : unary());
        }
        return postfix();
    }

    /** `(int) x`, `(Name) x`, but not `(a) + b`. */
    private boolean isCast() throws Failure {
        if (!is("(") || !ahead(1).kind.equals("name")) return false;
        int begin = at++;
        boolean isPrimitive = Operators.isPrimitive(peek().text);
        boolean isType = true;
        try {
            type();
        } catch (Failure none) {
            isType = false;
        }
        boolean isClosed = isType && is(")");
        Lexer.Token next = ahead(1);
        at = begin;
        boolean isOperand = next.kind.equals("name") && !next.is("instanceof") || next.kind.equals("literal")
            || next.is("(") || next.is("!") || next.is("~");
        return isClosed && (isPrimitive || isOperand);
    }

    /** The name of a type, with `[]`, without type arguments. */
    private String type() throws Failure {
        StringBuilder name = new StringBuilder(name());
        typeArguments();
        while (is(".") && ahead(1).kind.equals("name") && !ahead(1).is("class")) {
            at++;
            name.append('.').append(name());
            typeArguments();
        }
        while (is("[") && ahead(1).is("]")) {
            at += 2;
            name.append("[]");
        }
        return name.toString();
    }

    private void typeArguments() {
        if (!is("<")) return;
        int begin = at;
        int depth = 0;
        do {
            String text = peek().text;
            if (text.equals("<")) depth++;
            else if (text.startsWith(">")) depth -= text.length();
            else if (!peek().kind.equals("name") && !is(",") && !is(".") && !is("?") && !is("[") && !is("]")) break;
            at++;
        } while (depth > 0);
        if (depth != 0) at = begin;
    }

    private String name() throws Failure {
        if (!peek().kind.equals("name")) throw unexpected();
        return tokens.get(at++).text;
    }

    private Node postfix() throws Failure {
        Node node = primary();
        while (true) {
            if (accept("::")) {
                node = new Node("reference", accept("new") ? "new" : name(), node);
            } else if (accept(".")) {
                typeArguments();
                if (accept("new")) throw new Failure("inner classes cannot be created; call a method of the program instead");
                String name = name();
                if (name.equals("class") && typeName(node) != null) node = new Node("class", typeName(node));
                else if (name.equals("this") && typeName(node) != null) node = new Node("outer", typeName(node));
                else node = is("(") ? call(node, name) : new Node("field", name, node);
            } else if (is("[") && ahead(1).is("]")) {
                String type = typeName(node);
                while (accept("[")) {
                    expect("]");
                    type += "[]";
                }
                boolean isReference = accept("::");
                if (!isReference) expect(".");
                expect(isReference ? "new" : "class");
                node = new Node("class", type);
                if (isReference) node = new Node("reference", "new", node);
            } else if (accept("[")) {
                node = new Node("index", "[]", node, expression());
                expect("]");
            } else if (is("++") || is("--")) {
                node = new Node("postfix", tokens.get(at++).text, node);
            } else {
                return node;
            }
        }
    }

    /** The name that a node is; null for others. */
    static String typeName(Node node) {
        if (node.kind.equals("name")) return node.text;
        if (!node.kind.equals("field") || typeName(node.part(0)) == null) return null;
        return typeName(node.part(0)) + "." + node.text;
    }

    private Node call(Node object, String name) throws Failure {
        Node call = new Node("call", name);
        call.literal = object;
        call.parts.addAll(list("(", ")"));
        return call;
    }

    private List<Node> list(String open, String close) throws Failure {
        List<Node> items = new ArrayList<>();
        expect(open);
        while (!accept(close)) {
            if (!items.isEmpty()) expect(",");
            items.add(expression());
        }
        return items;
    }

    private Node primary() throws Failure {
        Lexer.Token token = peek();
        if (accept("(")) {
            Node node = expression();
            expect(")");
            return node;
        }
        if (token.kind.equals("literal")) {
            at++;
            Node node = new Node("literal", token.text);
            node.literal = token.value;
            return node;
        }
        if (accept("new")) return creation();
        if (!token.kind.equals("name")) throw unexpected();
        if (is("switch")) throw new Failure("`switch` cannot be evaluated; use `condition ? one : other`");
        at++;
        return is("(") ? call(null, token.text) : new Node("name", token.text);
    }

    private Node creation() throws Failure {
        String type = type();
        if (is("{")) {
            Node array = new Node("items", type.substring(0, Math.max(0, type.length() - 2)));
            array.parts.addAll(list("{", "}"));
            return array;
        }
        if (accept("[")) {
            Node array = new Node("array", type, expression());
            expect("]");
            if (is("[")) throw new Failure("only arrays of one dimension can be created");
            return array;
        }
        Node object = new Node("new", type);
        object.parts.addAll(list("(", ")"));
        if (is("{")) throw new Failure("anonymous classes cannot be created");
        return object;
    }
}
