package stillframe;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Breakpoints. Each is pending until its class is loaded, and set in every class that has code on its line. */
final class Breakpoints {
    private final Debuggee debuggee;
    private final List<Place> places = new ArrayList<>();
    /** The hit count of each rule, kept when breakpoints are set again. */
    private final Map<Long, Long> hits = new HashMap<>();
    private long numbers;

    Breakpoints(Debuggee debuggee) {
        this.debuggee = debuggee;
    }

    /** A location: a line of a file, or a method. */
    private static final class Place {
        long number;
        String file;
        String inRoot;
        int line;
        String method;
        Rules rules;
        /** The bound line. */
        int bound;
        /** The file of that line, for a method. */
        String boundFile;
        String message;
        final List<EventRequest> requests = new ArrayList<>();
        /** The classes that were searched. A class is reported once for each request. */
        final Set<ReferenceType> searched = new HashSet<>();

        boolean isBound() {
            for (EventRequest request : requests) {
                if (request instanceof BreakpointRequest) return true;
            }
            return false;
        }
    }

    synchronized List<Object> setInSource(String file, List<Object> wanted) {
        removeOf(file);
        debuggee.sources.add(file);
        List<Object> answers = new ArrayList<>();
        String inRoot = Sources.inRoot(file);
        for (Object one : wanted) {
            Place place = new Place();
            place.file = file;
            place.inRoot = inRoot;
            place.line = (int) Json.number(Json.map(one).get("line"), 0);
            answers.add(add(place, Json.map(one)));
        }
        return answers;
    }

    synchronized List<Object> setOnMethods(List<Object> wanted) {
        removeOf(null);
        List<Object> answers = new ArrayList<>();
        for (Object one : wanted) {
            Place place = new Place();
            place.method = Json.string(Json.map(one).get("name"));
            answers.add(add(place, Json.map(one)));
        }
        return answers;
    }

    private void removeOf(String file) {
        places.removeIf(place -> {
            boolean isOfFile = file == null ? place.file == null : file.equals(place.file);
            if (isOfFile) debuggee.vm.eventRequestManager().deleteEventRequests(place.requests);
            return isOfFile;
        });
    }

    private Object add(Place place, Map<String, Object> wanted) {
        place.number = ++numbers;
        place.rules = new Rules(debuggee, Json.string(wanted.get("condition")));
        places.add(place);
        // First, because the program may be loading the class at this moment.
        watch(place);
        for (ReferenceType type : debuggee.vm.allClasses()) {
            if (isFor(place, type)) bind(place, type);
        }
        return answer(place);
    }

    /** Requests events for classes that may contain the location. */
    private void watch(Place place) {
        if (place.file != null) {
            watch(place, request -> request.addSourceNameFilter(place.inRoot.substring(place.inRoot.lastIndexOf('/') + 1)));
            return;
        }
        if (place.method.contains(".")) {
            String owner = place.method.substring(0, place.method.lastIndexOf('.'));
            watch(place, request -> request.addClassFilter("*" + owner.substring(owner.lastIndexOf('.') + 1)));
        }
        // No filter selects the bodies of an enum's constants.
        watch(place, request -> Steps.LIBRARIES.forEach(request::addClassExclusionFilter));
    }

    private void watch(Place place, Consumer<ClassPrepareRequest> filters) {
        ClassPrepareRequest request = debuggee.vm.eventRequestManager().createClassPrepareRequest();
        filters.accept(request);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        place.requests.add(request);
    }

    private boolean isFor(Place place, ReferenceType type) {
        if (place.method != null) {
            int dot = place.method.lastIndexOf('.');
            if (dot < 0) return debuggee.sources.fileOf(type) != null && !Sources.isOfJdk(type.name());
            String owner = place.method.substring(0, dot).replace('$', '.');
            return isNamed(type, owner) || isNamed(enumOfBody(type), owner);
        }
        try {
            return type.sourcePaths(null).contains(place.inRoot);
        } catch (AbsentInformationException unknown) {
            return false;
        }
    }

    private static boolean isNamed(ReferenceType type, String owner) {
        String name = type == null ? "" : type.name().replace('$', '.');
        return name.equals(owner) || name.endsWith("." + owner);
    }

    /** The enum of a constant that has a body; null for any other class. */
    private static ReferenceType enumOfBody(ReferenceType type) {
        ClassType around = type.isPrepared() && type instanceof ClassType ? ((ClassType) type).superclass() : null;
        return around != null && around.isEnum() ? around : null;
    }

    private void bind(Place place, ReferenceType type) {
        if (!type.isPrepared() || !place.searched.add(type)) return;
        try {
            boolean wasBound = place.isBound();
            List<Location> locations = place.method != null ? entries(place, type) : onLine(place, type);
            // A class within a method is loaded later than the one around it, and may have code nearer to the line.
            boolean isNearer = place.method == null && !locations.isEmpty() && locations.get(0).lineNumber() < place.bound;
            if (isNearer) removeLocations(place);
            for (Location location : locations) {
                BreakpointRequest request = debuggee.vm.eventRequestManager().createBreakpointRequest(location);
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                request.putProperty("place", place);
                // A method that a class inherits is called on other classes, too.
                if (!location.declaringType().equals(type)) request.putProperty("receiver", type.name());
                place.requests.add(request);
                request.enable();
            }
            if (locations.isEmpty()) return;
            if (place.method == null) {
                place.bound = locations.get(0).lineNumber();
                return;
            }
            // Report the location of a method only if it is unique.
            boolean isOne = locations.size() == 1 && !wasBound;
            place.bound = isOne ? locations.get(0).lineNumber() : 0;
            place.boundFile = isOne ? debuggee.sources.fileOf(locations.get(0).declaringType()) : null;
        } catch (AbsentInformationException unknown) {
            place.message = "`" + type.name() + "` was compiled without line numbers; compile it with `javac -g`";
        }
    }

    private void removeLocations(Place place) {
        List<EventRequest> moved = new ArrayList<>(place.requests);
        moved.removeIf(request -> !(request instanceof BreakpointRequest));
        debuggee.vm.eventRequestManager().deleteEventRequests(moved);
        place.requests.removeAll(moved);
    }

    private List<Location> entries(Place place, ReferenceType type) {
        List<Location> found = new ArrayList<>();
        String wanted = place.method.substring(place.method.lastIndexOf('.') + 1);
        String simple = Names.simple(type.name());
        String constructor = simple.substring(simple.lastIndexOf('.') + 1);
        for (Method method : type.methods()) {
            boolean isIt = method.name().equals(wanted) || (method.isConstructor() && (wanted.equals("new") || wanted.equals(constructor)));
            if (isIt && !method.isBridge() && method.location() != null) found.add(method.location());
        }
        // The enum has what a constant's body inherits.
        boolean mayInherit = found.isEmpty() && place.method.contains(".") && enumOfBody(type) == null;
        return mayInherit ? inherited(type, wanted) : found;
    }

    /** The methods of a name that a class has from the user's other classes. */
    private List<Location> inherited(ReferenceType type, String name) {
        List<Location> found = new ArrayList<>();
        for (Method method : type.methodsByName(name)) {
            if (method.isBridge() || method.isAbstract() || method.isNative() || !method.declaringType().isPrepared()) continue;
            if (debuggee.sources.isUsers(method.location())) found.add(method.location());
        }
        return found;
    }

    /** The code of a line, or of the next line with code in the same method if it is nearer than what was found before. */
    private static List<Location> onLine(Place place, ReferenceType type) throws AbsentInformationException {
        List<Location> all = type.locationsOfLine(place.line);
        if (all.isEmpty()) {
            int known = place.isBound() ? place.bound : Integer.MAX_VALUE;
            int next = known;
            for (Method method : type.methods()) next = Math.min(next, nextLine(place, method));
            if (next < known) all = type.locationsOfLine(next);
        }
        return firstOfEachMethod(all);
    }

    /** The next line with code in a method, if the method contains the line. */
    private static int nextLine(Place place, Method method) throws AbsentInformationException {
        if (method.isAbstract() || method.isNative()) return Integer.MAX_VALUE;
        TreeSet<Integer> lines = new TreeSet<>();
        for (Location location : method.allLineLocations()) lines.add(location.lineNumber());
        Integer next = lines.ceiling(place.line);
        if (next == null) return Integer.MAX_VALUE;
        // The code of fields is in constructors and in the class's initializer, with anything between them.
        boolean isSpread = method.isConstructor() || method.isStaticInitializer();
        boolean isAround = lines.first() <= place.line && (!isSpread || Sources.isInBlock(place.file, place.line, next));
        boolean holds = isAround || Sources.isOneBlock(place.file, place.line, next);
        return holds ? next : Integer.MAX_VALUE;
    }

    /** The code of a line can be split, as in a `for`: it is hit once each time that it begins. */
    private static List<Location> firstOfEachMethod(List<Location> all) {
        List<Location> found = new ArrayList<>();
        for (Location location : all) {
            boolean isFirst = true;
            for (Location other : all) {
                isFirst &= !other.method().equals(location.method()) || other.codeIndex() >= location.codeIndex();
            }
            if (isFirst) found.add(location);
        }
        return found;
    }

    private static Object answer(Place place) {
        boolean isBound = place.isBound();
        String message = place.message;
        if (!isBound && message == null && place.method != null) {
            message = "no loaded class has a method `" + place.method + "`";
        }
        return Json.object("id", place.number, "verified", isBound, "message", isBound ? null : message,
            "line", place.bound > 0 ? (long) place.bound : null,
            "source", place.boundFile != null ? Json.object("path", place.boundFile) : null);
    }

    /** Binds breakpoints in a class that was loaded. */
    synchronized void loaded(ReferenceType type) {
        for (Place place : places) {
            if (!isFor(place, type)) continue;
            boolean wasBound = place.isBound();
            int boundBefore = place.bound;
            String before = place.message;
            bind(place, type);
            boolean hasMoved = place.method == null && place.bound != boundBefore;
            boolean isNews = wasBound != place.isBound() || hasMoved || (place.message != null && !place.message.equals(before));
            if (isNews) {
                debuggee.wire.event("breakpoint", Json.object("reason", "changed", "breakpoint", answer(place)));
            }
        }
    }

    /** Reports breakpoints that never bound when the program ends. */
    synchronized void ended() {
        for (Place place : places) {
            place.rules.ended();
        }
    }

    /** Counts a hit of a rule, or takes one back. Without an ID the count is not kept. */
    synchronized long count(Long rule, long before, long hit) {
        return rule == null ? before + hit : hits.merge(rule, hit, Long::sum);
    }

    /** Whether a breakpoint stops the program. Adds its ID. */
    boolean hit(BreakpointEvent event, List<Object> numbers) {
        Place place = (Place) event.request().getProperty("place");
        if (!isOnReceiver(event)) return false;
        boolean stops = place.rules.stop(event.thread());
        if (stops) numbers.add(place.number);
        return stops;
    }

    /** Whether an inherited method is called on the class that the breakpoint names. */
    private static boolean isOnReceiver(BreakpointEvent event) {
        String receiver = (String) event.request().getProperty("receiver");
        if (receiver == null) return true;
        try {
            ObjectReference self = event.thread().frame(0).thisObject();
            return self == null || Values.isA(self.referenceType(), receiver);
        } catch (IncompatibleThreadStateException running) {
            return true;
        }
    }
}
