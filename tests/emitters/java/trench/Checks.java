package trench;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What needs no server: ends with 1 if anything is wrong. */
public final class Checks {
    private static final String KEY = "0123456789abcdef";

    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    private static boolean asks(String setting, String profiles, String asked) {
        Map<String, String> environment = Collections.singletonMap("BANKY_TRACE", setting);
        return new TraceAsking(environment, profiles).traces(asked);
    }

    private static void asking() {
        check(!new TraceAsking(Collections.emptyMap(), "").traces("on"), "off unless set");
        check(!new TraceAsking(Collections.emptyMap(), "").possible(), "impossible unless set");
        check(!asks("off", "", "off"), "off");
        check(asks("on", "", null), "on");
        check(asks("on", "dev", null), "on, in development");
        check(!asks("on", "dev, Production", null), "on, in production");
        check(!asks("ask:short", "", "short"), "a short key");
        check(asks("ask:" + KEY, "prod", KEY), "the key");
        check(!asks("ask:" + KEY, "", KEY + "0"), "another key");
        check(!asks("ask:" + KEY, "", null), "no key");
    }

    private static void store() {
        long[] now = {5};
        TraceStore store = new TraceStore(() -> now[0]);
        String path = store.keep("x");
        check(path.matches("/banky-trace/[0-9a-f]{32}"), "a path");
        now[0] += TraceStore.KEPT_NS - 1;
        check(Arrays.equals(store.find(path), new byte[] {'x'}), "kept for a minute");
        ++now[0];
        check(store.find(path) == null, "dropped after a minute");
        String first = store.keep("first");
        for (int i = 1; i < TraceStore.TRACES_MAX; ++i) store.keep("");
        check(store.find(first) != null, "room for all");
        char[] large = new char[TraceStore.BYTES_MAX];
        Arrays.fill(large, 'x');
        String last = store.keep(new String(large));
        check(store.find(first) == null, "the oldest is dropped");
        check(store.find(last) != null, "the newest stays");
    }

    private static void limits() {
        Trace deep = new Trace(() -> 0);
        Trace.Row row = deep.root();
        for (Trace.Row next = row; next != null; next = deep.enter(row, "a", () -> 1)) row = next;
        check(row.depth == Trace.DEPTH_MAX, "depth");
        Trace wide = new Trace(() -> 0);
        int rows = 0;
        for (int i = 0; i < 300; ++i) {
            Trace.Row outer = wide.enter(wide.root(), "" + i, () -> 1);
            if (outer != null) ++rows;
            for (int j = 0; j < 300 && outer != null; ++j) {
                if (wide.enter(outer, "" + j, () -> 1) != null) ++rows;
            }
        }
        check(rows == Trace.ROWS_MAX, "rows");
        char[] name = new char[1000];
        Arrays.fill(name, '\ud834');
        Trace named = new Trace(() -> 0);
        int points = 0;
        while (named.enter(named.root(), points + "." + new String(name), () -> 1) != null) ++points;
        check(points < 10_000, "names");
        check(named.json().contains("\"\ufffd"), "halves of characters");
        check(named.enter(named.root(), "a", () -> 1) != null, "room for a short name");
        // Refused names do not add up: 2^31 would be reached by so many.
        String tail = "." + new String(name, 0, 400);
        for (int i = 0; i < 5_000_000; ++i) {
            check(named.enter(named.root(), "refused" + i + tail, () -> 1) == null, "no room");
        }
    }

    private static void longNames() {
        char[] letters = new char[1000];
        Arrays.fill(letters, 'x');
        String rest = new String(letters);
        String name = rest.substring(0, 200);
        Trace trace = new Trace(() -> 0);
        Trace.Row row = trace.enter(trace.root(), name + "." + name, () -> 1);
        check(trace.enter(trace.root(), name + rest + "." + name, () -> 1) == row, "a long class");
        check(trace.enter(trace.root(), name + "." + name + rest, () -> 1) == row, "a long method");
        check(row.hits == 3, "one point");
        Trace.Row plain = trace.enter(trace.root(), rest, () -> 1);
        check(plain != row, "without a class");
        check(trace.enter(trace.root(), rest + rest, () -> 1) == plain, "long without a class");
        check(trace.json().contains("[[\"" + name + "\"],[\"\"]]"), "names are cut");
    }

    private static void budget() {
        TraceStore store = new TraceStore();
        Trace trace = new Trace(() -> 0);
        int rows = 0;
        while (true) {
            List<String> values = TraceFields.responseValues(trace, store);
            int bytes = 0;
            for (String value : values) bytes += ("Banky-Trace: " + value + "\r\n").length();
            check(bytes <= TraceFields.BYTES_MAX, "bytes of fields");
            if (values.size() == 1) {
                check(values.get(0).startsWith("url=/banky-trace/"), "a URL");
                check(store.find(values.get(0).substring(4)) != null, "it is there");
                break;
            }
            trace.enter(trace.root(), "shop.Cart.part" + rows++, () -> 1);
        }
        check(rows > 100, "many rows fit");
    }

    private static void threads() throws Exception {
        Trace trace = new Trace(() -> 0);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Trench.within(trace, () -> {
            Callable<Integer> carried = Trench.carry(() -> Trench.trace("carried.call", () -> 1));
            Callable<Integer> left = () -> Trench.trace("left.call", () -> 1);
            return pool.submit(carried).get() + pool.submit(left).get();
        });
        Trench.trace("after.call", () -> {});
        pool.shutdown();
        check(trace.json().contains("\"carried\""), "carried to another thread");
        check(!trace.json().contains("\"left\""), "threads are apart");
        check(!trace.json().contains("\"after\""), "the trace has ended");
    }

    public static void main(String[] arguments) throws Exception {
        asking();
        store();
        limits();
        longNames();
        budget();
        threads();
    }
}
