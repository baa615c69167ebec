package trench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * What one request did: a tree of code points with their calls and times
 * (analysis/trench/TRENCH.md). Calls beyond a limit count as their caller's own time. Any thread may
 * use it.
 */
public final class Trace {
    public static final int ROWS_MAX = 50_000;
    public static final int DEPTH_MAX = 400;
    public static final int NAME_MAX = 200;
    private static final int NAMES_MAX = 2 << 20; // characters of all points together

    /** All calls of one point by one caller. */
    static final class Row {
        final int point;
        final int depth;
        final Map<Integer, Row> called = new LinkedHashMap<>();
        long hits;
        long ns; // of calls that have ended, less the starts of those that have not
        long running;
        int place;

        Row(int point, int depth) {
            this.point = point;
            this.depth = depth;
        }
    }

    private static final class Point {
        final int place;
        final String className;
        final String method;
        final int line;

        /** `name` is cut. */
        Point(int place, String name, int line) {
            int dot = name.lastIndexOf('.');
            this.place = place;
            this.className = name.substring(0, Math.max(dot, 0));
            this.method = name.substring(dot + 1);
            this.line = line;
        }
    }

    private final LongSupplier clock;
    private final long begun;
    private final Row root = new Row(-1, 0);
    private final Map<String, Point> points = new LinkedHashMap<>(); // by name, cut
    private int rows;
    private int names;

    public Trace() {
        this(System::nanoTime);
    }

    /** The clock returns ns that never go back. */
    public Trace(LongSupplier clock) {
        this.clock = clock;
        this.begun = clock.getAsLong();
    }

    Row root() {
        return root;
    }

    /**
     * A call begins of a method "shop.Cart.tax". Returns its row, or null if there is no room for
     * it. `line` is asked for new points only; -1 is unknown.
     */
    synchronized Row enter(Row caller, String name, IntSupplier line) {
        String key = cut(name);
        Point point = points.get(key);
        if (point == null) {
            int length = key.length() + 40;
            if (length > NAMES_MAX - names) return null;
            names += length;
            point = new Point(points.size(), key, line.getAsInt());
            points.put(key, point);
        }
        Row row = caller.called.get(point.place);
        if (row == null) {
            if (rows == ROWS_MAX || caller.depth == DEPTH_MAX) return null;
            ++rows;
            row = new Row(point.place, caller.depth + 1);
            caller.called.put(point.place, row);
        }
        ++row.hits;
        ++row.running;
        row.ns -= clock.getAsLong() - begun;
        return row;
    }

    synchronized void leave(Row row) {
        --row.running;
        row.ns += clock.getAsLong() - begun;
    }

    /** All that happened up to now. Calls that have not ended count as if they ended now. */
    public synchronized String json() {
        List<Row> order = new ArrayList<>();
        addTo(order, root);
        long now = clock.getAsLong() - begun;
        StringBuilder out = new StringBuilder(
                "{\"version\":1,\"stackColumns\":[\"point\",\"hits\",\"ms\",\"children\"],\"stack\":[");
        for (Row row : order) {
            separate(out).append('[').append(row.point).append(',').append(row.hits).append(',')
                    .append(ms(row.ns + row.running * now)).append(",[");
            for (Row called : row.called.values()) separate(out).append(called.place);
            out.append("]]");
        }
        out.append("],\"classesColumns\":[\"name\"],\"classes\":[");
        Map<String, Integer> classes = new LinkedHashMap<>();
        for (Point point : points.values()) classes.putIfAbsent(point.className, classes.size());
        for (String name : classes.keySet()) separate(out).append('[').append(text(name)).append(']');
        out.append("],\"pointsColumns\":[\"class\",\"method\",\"line\"],\"points\":[");
        for (Point point : points.values()) {
            separate(out).append('[').append(classes.get(point.className)).append(',')
                    .append(text(point.method)).append(',').append(point.line).append(']');
        }
        return out.append("]}").toString();
    }

    private static void addTo(List<Row> order, Row row) {
        for (Row called : row.called.values()) {
            called.place = order.size();
            order.add(called);
            addTo(order, called);
        }
    }

    private static StringBuilder separate(StringBuilder out) {
        return out.charAt(out.length() - 1) == '[' ? out : out.append(',');
    }

    private static String ms(long ns) {
        long us = (ns + 500) / 1000;
        if (us % 1000 == 0) return Long.toString(us / 1000);
        return String.format(Locale.ROOT, "%d.%03d", us / 1000, us % 1000);
    }

    /** Class and method are at most so long: names that differ beyond it are of one point. */
    private static String cut(String name) {
        if (name.length() <= NAME_MAX) return name;
        int dot = name.lastIndexOf('.');
        String method = name.substring(dot + 1, Math.min(name.length(), dot + 1 + NAME_MAX));
        return dot < 0 ? method : name.substring(0, Math.min(dot, NAME_MAX)) + "." + method;
    }

    /** In quotes. Halves of characters become U+FFFD. */
    private static String text(String name) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < name.length(); ) {
            int character = name.codePointAt(i);
            i += Character.charCount(character);
            if (character < 0x20) {
                out.append(String.format("\\u%04x", character));
            } else if (character >= 0xd800 && character < 0xe000) {
                out.append('\ufffd');
            } else {
                if (character == '"' || character == '\\') out.append('\\');
                out.appendCodePoint(character);
            }
        }
        return out.append('"').toString();
    }
}
