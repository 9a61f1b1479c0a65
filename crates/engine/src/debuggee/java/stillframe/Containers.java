package stillframe;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.BooleanValue;
import com.sun.jdi.ClassType;
import com.sun.jdi.DoubleValue;
import com.sun.jdi.Field;
import com.sun.jdi.FloatValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;

/** The collections of the JDK, read from their fields, a page at a time. */
final class Containers {
    /** How many nodes of a queue are read that does not know its size. */
    private static final int MOST_NODES = 1000;
    boolean isMap;
    boolean isOptional;
    int size;
    private Reader reader;

    /** An item, or an entry with its key. `array` and `index`, or `node`, locate it for assignment. */
    static final class Item {
        Value key;
        Value value;
        ArrayReference array;
        int index;
        ObjectReference node;
        String nodeField;

        Item(Value key, Value value) {
            this.key = key;
            this.value = value;
        }
    }

    private interface Reader {
        /** The items up to `end`; those before `start` can lack values. */
        List<Item> read(int start, int end);
    }

    List<Item> items(int start, int count) {
        int end = Math.min(size, start + count);
        return start >= end ? List.of() : reader.read(start, end);
    }

    /** Null for an object that is not a known collection. */
    static Containers of(ObjectReference object) {
        ReferenceType type = object.referenceType();
        while (type instanceof ClassType && !type.name().startsWith("java.util.")) type = ((ClassType) type).superclass();
        if (type == null) return null;
        try {
            return known(object, type.name().substring("java.util.".length()));
        } catch (RuntimeException changed) {
            // Another JDK has different fields: show it as an object.
            return null;
        }
    }

    private static Containers known(ObjectReference object, String type) {
        switch (type) {
            case "ArrayList": return array(object, "elementData", number(object, "size"));
            case "Vector":
            case "Stack": return array(object, "elementData", number(object, "elementCount"));
            case "Arrays$ArrayList": return array(object, "a", -1);
            case "ImmutableCollections$ListN": return array(object, "elements", -1);
            case "concurrent.CopyOnWriteArrayList": return array(object, "array", -1);
            case "PriorityQueue":
            case "concurrent.PriorityBlockingQueue": return array(object, "queue", number(object, "size"));
            case "ImmutableCollections$SetN": return list(present(object, "elements"));
            case "ImmutableCollections$List12":
            case "ImmutableCollections$Set12": return list(pair(object));
            case "Collections$SingletonList":
            case "Collections$SingletonSet": return list(List.of(new Item(null, field(object, "element"))));
            case "Collections$CopiesList": return copies(field(object, "element"), number(object, "n"));
            case "Collections$EmptyList":
            case "Collections$EmptySet": return list(List.of());
            case "ArrayDeque": return ring(object, "elements", "head", length(object));
            case "concurrent.ArrayBlockingQueue": return ring(object, "items", "takeIndex", number(object, "count"));
            case "concurrent.LinkedBlockingQueue":
                return queue(object, "head", number((ObjectReference) field(object, "count"), "value"));
            case "concurrent.LinkedBlockingDeque": return queue(object, "first", number(object, "count"));
            case "concurrent.ConcurrentLinkedQueue":
            case "concurrent.ConcurrentLinkedDeque":
            case "concurrent.LinkedTransferQueue": return queue(object, "head", -1);
            case "concurrent.SynchronousQueue": return list(List.of());
            case "LinkedList": return chain(object, "first", "next", "item", number(object, "size"));
            case "HashMap": return table(object, number(object, "size"), "key", "value");
            case "Hashtable": return table(object, number(object, "count"), "key", "value");
            case "WeakHashMap": return table(object, number(object, "size"), "referent", "value");
            case "concurrent.ConcurrentHashMap": return table(object, (int) sum(object, "baseCount", "counterCells"), "key", "val");
            case "concurrent.ConcurrentSkipListMap": return skipList(object);
            case "LinkedHashMap": return chain(object, "head", "after", null, number(object, "size"));
            case "TreeMap": return tree(object);
            case "TreeMap$AscendingSubMap":
            case "TreeMap$DescendingSubMap": return between(object, type.contains("Descending"));
            case "IdentityHashMap":
            case "ImmutableCollections$MapN": return map(alternating(object));
            case "ImmutableCollections$Map1": return map(List.of(new Item(field(object, "k0"), field(object, "v0"))));
            case "Collections$SingletonMap": return map(List.of(new Item(field(object, "k"), field(object, "v"))));
            case "Collections$EmptyMap": return map(List.of());
            case "HashSet":
            case "LinkedHashSet": return keys(field(object, "map"));
            case "TreeSet": return keys(field(object, "m"));
            case "stream.Collectors$Partition": return map(List.of(
                new Item(object.virtualMachine().mirrorOf(false), field(object, "forFalse")),
                new Item(object.virtualMachine().mirrorOf(true), field(object, "forTrue"))));
            case "EnumMap": return map(enumMap(object));
            case "RegularEnumSet":
            case "JumboEnumSet": return list(enumSet(object));
            case "Optional": return optional(field(object, "value"), field(object, "value") != null);
            case "OptionalInt":
            case "OptionalLong":
            case "OptionalDouble": return optional(field(object, "value"), flag(object, "isPresent"));
            // A class of the user's can have the same fields with another meaning.
            default: return object.referenceType().name().equals("java.util." + type) ? view(object, type) : null;
        }
    }

    /** Wrappers and views, such as `unmodifiableList` or `subList`, show what they contain of another collection. */
    private static Containers view(ObjectReference object, String type) {
        boolean isMap = Values.isA(object.referenceType(), "java.util.Map");
        // Where a part of a skip list ends, its nodes do not tell.
        if (type.endsWith("SubMap") || !isMap && !Values.isA(object.referenceType(), "java.util.Collection")) return null;
        ObjectReference inner = null;
        for (String name : new String[] {"root", "this$0", "map", "m", "c", "list", "al", "q"}) {
            if (inner == null && field(object, name) instanceof ObjectReference) inner = (ObjectReference) field(object, name);
        }
        if (inner == null) return null;
        if (field(object, "offset") != null) return slice(inner, number(object, "offset"), number(object, "size"));
        if (type.matches(".*(Values|ValuesView|ValueCollection)") || type.equals("AbstractMap$2")) return values(inner);
        if (type.matches(".*EntrySet(View)?|ImmutableCollections\\$MapN\\$1")) return of(inner);
        boolean isOfKeys = !isMap && Values.isA(inner.referenceType(), "java.util.Map");
        // The name of an anonymous class does not say what it shows of a map.
        if (isOfKeys && type.matches(".*\\$\\d+") && !type.equals("AbstractMap$1")) return null;
        return isOfKeys ? keys(inner) : of(inner);
    }

    private static Containers slice(ObjectReference list, int offset, int size) {
        Containers whole = of(list);
        if (whole == null) return null;
        Containers container = new Containers();
        container.size = size;
        container.reader = (start, end) -> whole.items(offset + start, end - start);
        return container;
    }

    private static Containers list(List<Item> items) {
        Containers container = new Containers();
        container.size = items.size();
        container.reader = items::subList;
        return container;
    }

    private static Containers copies(Value value, int size) {
        Containers container = new Containers();
        container.size = size;
        container.reader = (start, end) -> Collections.nCopies(end - start, new Item(null, value));
        return container;
    }

    private static Containers map(List<Item> items) {
        Containers container = list(items);
        container.isMap = true;
        return container;
    }

    private static Containers optional(Value value, boolean isPresent) {
        Containers container = list(isPresent ? List.of(new Item(null, value)) : List.of());
        container.isOptional = true;
        return container;
    }

    private static Containers array(ObjectReference object, String name, int size) {
        ArrayReference array = (ArrayReference) field(object, name);
        return ring(array, 0, size < 0 ? array.length() : size);
    }

    /** Items of an array, from one on; behind its end comes its begin. */
    private static Containers ring(ArrayReference array, int first, int size) {
        Containers container = new Containers();
        container.size = size;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            while (items.size() < end - start) {
                int from = (first + start + items.size()) % array.length();
                int count = Math.min(end - start - items.size(), array.length() - from);
                for (Value value : array.getValues(from, count)) {
                    Item item = new Item(null, value);
                    item.array = array;
                    item.index = from++;
                    items.add(item);
                }
            }
            return items;
        };
        return container;
    }

    /** Linked nodes. Without a field for an item they have `key` and `value`. */
    private static Containers chain(ObjectReference object, String first, String next, String item, int size) {
        Containers container = new Containers();
        container.size = size;
        container.isMap = item == null;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            Value node = field(object, first);
            for (int i = 0; i < end && node != null; i++) {
                ObjectReference at = (ObjectReference) node;
                if (i >= start) items.add(item != null ? inNode(at, null, item) : inNode(at, field(at, "key"), "value"));
                node = field(at, next);
            }
            return items;
        };
        return container;
    }

    private static Item inNode(ObjectReference node, Value key, String name) {
        Item item = new Item(key, field(node, name));
        item.node = node;
        item.nodeField = name;
        return item;
    }

    private static Containers table(ObjectReference object, int size, String keyField, String valueField) {
        Containers container = new Containers();
        container.size = size;
        container.isMap = true;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            int seen = 0;
            for (Value bucket : ((ArrayReference) field(object, "table")).getValues()) {
                for (Value node = nodes(bucket); node != null && seen < end; node = field((ObjectReference) node, "next")) {
                    ObjectReference at = (ObjectReference) node;
                    if (seen++ >= start) items.add(inNode(at, field(at, keyField), valueField));
                }
                if (seen >= end) break;
            }
            return items;
        };
        return container;
    }

    /** A bucket of a ConcurrentHashMap can be a tree, whose nodes are also linked. */
    private static Value nodes(Value bucket) {
        boolean isTree = bucket != null && bucket.type().name().endsWith("ConcurrentHashMap$TreeBin");
        return isTree ? field((ObjectReference) bucket, "first") : bucket;
    }

    /** A number that each thread counts in another cell, as in a `LongAdder`. */
    static long sum(ObjectReference object, String base, String cells) {
        long sum = ((PrimitiveValue) field(object, base)).longValue();
        if (field(object, cells) == null) return sum;
        for (Value cell : ((ArrayReference) field(object, cells)).getValues()) {
            if (cell != null) sum += ((PrimitiveValue) field((ObjectReference) cell, "value")).longValue();
        }
        return sum;
    }

    /** Linked nodes, of which some have no item: the first of a queue, or one that was removed. A size below 0 is unknown. */
    private static Containers queue(ObjectReference object, String first, int size) {
        if (size < 0) {
            List<Item> items = inNodes(field(object, first), MOST_NODES + 1);
            return items.size() > MOST_NODES ? null : list(items);
        }
        Containers container = new Containers();
        container.size = size;
        container.reader = (start, end) -> {
            List<Item> items = inNodes(field(object, first), end);
            return items.subList(Math.min(start, items.size()), items.size());
        };
        return container;
    }

    private static List<Item> inNodes(Value first, int most) {
        List<Item> items = new ArrayList<>();
        for (Value node = first; node != null && items.size() < most; ) {
            ObjectReference at = (ObjectReference) node;
            Item item = inNode(at, null, "item");
            if (item.value != null && !item.value.equals(at)) items.add(item);
            node = field(at, "next");
            if (at.equals(node)) break;
        }
        return items;
    }

    /** The nodes at its bottom are linked; one whose value is null was removed. */
    private static Containers skipList(ObjectReference object) {
        Containers container = new Containers();
        ObjectReference adder = (ObjectReference) field(object, "adder");
        container.size = adder == null ? 0 : (int) sum(adder, "base", "cells");
        container.isMap = true;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            ObjectReference index = (ObjectReference) field(object, "head");
            while (field(index, "down") != null) index = (ObjectReference) field(index, "down");
            int seen = 0;
            for (Value node = field((ObjectReference) field(index, "node"), "next"); node != null && seen < end; ) {
                ObjectReference at = (ObjectReference) node;
                boolean isThere = field(at, "key") != null && field(at, "val") != null;
                if (isThere && seen++ >= start) items.add(inNode(at, field(at, "key"), "val"));
                node = field(at, "next");
            }
            return items;
        };
        return container;
    }

    private static Containers tree(ObjectReference object) {
        Containers container = new Containers();
        container.size = number(object, "size");
        container.isMap = true;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            Deque<ObjectReference> above = new ArrayDeque<>();
            ObjectReference node = (ObjectReference) field(object, "root");
            for (int seen = 0; seen < end && (node != null || !above.isEmpty()); seen++) {
                for (; node != null; node = (ObjectReference) field(node, "left")) above.push(node);
                ObjectReference at = above.pop();
                if (seen >= start) items.add(inNode(at, field(at, "key"), "value"));
                node = (ObjectReference) field(at, "right");
            }
            return items;
        };
        return container;
    }

    /** A part of a sorted map. Null if only the program's code can tell where it ends. */
    private static Containers between(ObjectReference part, boolean isDescending) {
        ObjectReference map = (ObjectReference) field(part, "m");
        boolean isFromStart = flag(part, "fromStart");
        boolean isToEnd = flag(part, "toEnd");
        boolean hasOwnOrder = field(map, "comparator") != null;
        if (number(map, "size") > MOST_NODES || hasOwnOrder && !(isFromStart && isToEnd)) return null;
        Containers whole = tree(map);
        List<Item> items = new ArrayList<>();
        for (Item item : whole.items(0, whole.size)) {
            int low = isFromStart ? 1 : order(item.key).compareTo(order(field(part, "lo")));
            int high = isToEnd ? -1 : order(item.key).compareTo(order(field(part, "hi")));
            boolean isIn = (low > 0 || low == 0 && flag(part, "loInclusive")) && (high < 0 || high == 0 && flag(part, "hiInclusive"));
            if (isIn) items.add(isDescending ? 0 : items.size(), item);
        }
        return map(items);
    }

    /** What compares as a key does in its natural order. */
    @SuppressWarnings("unchecked")
    private static Comparable<Object> order(Value key) {
        Object order = null;
        Value plain = Operators.unboxed(key);
        if (plain instanceof StringReference) order = ((StringReference) plain).value();
        else if (plain instanceof FloatValue || plain instanceof DoubleValue) order = ((PrimitiveValue) plain).doubleValue();
        else if (plain instanceof PrimitiveValue && !(plain instanceof BooleanValue)) order = ((PrimitiveValue) plain).longValue();
        else if (Values.isA((ReferenceType) key.type(), "java.lang.Enum")) order = number((ObjectReference) key, "ordinal");
        if (order == null) throw new IllegalArgumentException("only the class of a key knows its order");
        return (Comparable<Object>) order;
    }

    private static Containers keys(Value map) {
        return part(map, entry -> entry.key);
    }

    private static Containers values(Value map) {
        return part(map, entry -> entry.value);
    }

    private static Containers part(Value map, Function<Item, Value> of) {
        Containers whole = map instanceof ObjectReference ? of((ObjectReference) map) : null;
        if (whole == null) return null;
        Containers container = new Containers();
        container.size = whole.size;
        container.reader = (start, end) -> {
            List<Item> items = new ArrayList<>();
            for (Item entry : whole.items(start, end - start)) items.add(new Item(null, of.apply(entry)));
            return items;
        };
        return container;
    }

    private static List<Item> present(ObjectReference object, String name) {
        List<Item> items = new ArrayList<>();
        for (Value value : ((ArrayReference) field(object, name)).getValues()) {
            if (value != null) items.add(new Item(null, value));
        }
        return items;
    }

    /** One or two items; a special object marks the absence of the second. */
    private static List<Item> pair(ObjectReference object) {
        List<Item> items = new ArrayList<>(List.of(new Item(null, field(object, "e0"))));
        Value second = field(object, "e1");
        ReferenceType owner = object.virtualMachine().classesByName("java.util.ImmutableCollections").get(0);
        Field empty = owner.fieldByName("EMPTY");
        if (second != null && !(empty != null && second.equals(owner.getValue(empty)))) items.add(new Item(null, second));
        return items;
    }

    private static int length(ObjectReference deque) {
        int slots = ((ArrayReference) field(deque, "elements")).length();
        return Math.floorMod(number(deque, "tail") - number(deque, "head"), slots);
    }

    private static Containers ring(ObjectReference object, String name, String head, int size) {
        return ring((ArrayReference) field(object, name), number(object, head), size);
    }

    private static List<Item> alternating(ObjectReference object) {
        List<Item> items = new ArrayList<>();
        List<Value> table = ((ArrayReference) field(object, "table")).getValues();
        for (int i = 0; i + 1 < table.size(); i += 2) {
            if (table.get(i) != null) items.add(new Item(table.get(i), table.get(i + 1)));
        }
        return items;
    }

    private static List<Item> enumMap(ObjectReference object) {
        List<Item> items = new ArrayList<>();
        List<Value> keys = ((ArrayReference) field(object, "keyUniverse")).getValues();
        List<Value> values = ((ArrayReference) field(object, "vals")).getValues();
        for (int i = 0; i < values.size(); i++) {
            if (values.get(i) != null) items.add(new Item(keys.get(i), values.get(i)));
        }
        return items;
    }

    private static List<Item> enumSet(ObjectReference object) {
        List<Item> items = new ArrayList<>();
        Value elements = field(object, "elements");
        List<Value> words = elements instanceof ArrayReference ? ((ArrayReference) elements).getValues() : List.of(elements);
        List<Value> universe = ((ArrayReference) field(object, "universe")).getValues();
        for (int i = 0; i < universe.size(); i++) {
            if ((((PrimitiveValue) words.get(i >>> 6)).longValue() >>> i & 1) == 1) items.add(new Item(null, universe.get(i)));
        }
        return items;
    }

    private static boolean flag(ObjectReference object, String name) {
        return ((BooleanValue) field(object, name)).value();
    }

    private static int number(ObjectReference object, String name) {
        return ((PrimitiveValue) field(object, name)).intValue();
    }

    private static Value field(ObjectReference object, String name) {
        return Values.field(object, name);
    }
}
