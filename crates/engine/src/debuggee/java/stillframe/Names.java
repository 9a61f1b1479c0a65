package stillframe;

import com.sun.jdi.Method;

/** Formats names of types and methods as programmers write them. */
final class Names {
    private Names() {
    }

    /** `shop.Basket$Item[]` as `Basket.Item[]`. */
    static String simple(String type) {
        int hidden = type.indexOf("$$Lambda");
        String visible = hidden < 0 ? type : type.substring(0, hidden);
        String name = visible.substring(visible.lastIndexOf('.') + 1);
        return nested(name) + (hidden < 0 ? "" : " lambda");
    }

    /** Replaces the `$` before the name of a nested class with a dot. The name of an anonymous class is a number, and one
     * that is made at run time has several: `Shop$$SpringCGLIB$$0`. */
    private static String nested(String name) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            boolean isNested = name.charAt(i) == '$' && i > 0 && i + 1 < name.length() && name.charAt(i - 1) != '$'
                && name.charAt(i + 1) != '$' && !Character.isDigit(name.charAt(i + 1));
            out.append(isNested ? '.' : name.charAt(i));
        }
        return out.toString();
    }

    /** The name of a frame, shown next to its file: `total`, or `Basket` for a constructor. */
    static String inFrame(Method method) {
        String type = simple(method.declaringType().name());
        return method.isConstructor() ? type.substring(type.lastIndexOf('.') + 1) : method.name();
    }

    /** `Basket.total`. */
    static String of(Method method) {
        return simple(method.declaringType().name()) + "." + method.name();
    }
}
