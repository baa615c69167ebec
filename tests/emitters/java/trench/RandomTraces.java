package trench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Prints, for each of some random trees, its fields, and what should be read from them. */
public final class RandomTraces {
    private static final String[] NAMES = {"a.b", "a.c", "plain", "shop.Cart.tax", "x\"\\\n.\u00e9",
        "\ud834\udd1e.\ud834\udd1e", ".", "z..z"};

    private static final class Row {
        final Map<String, Row> rows = new LinkedHashMap<>();
        long hits;
        long us;
    }

    private final Random random;
    private final Row root = new Row();
    private final List<String> names = new ArrayList<>();
    private long now; // in us
    private int left;

    private RandomTraces(long seed) {
        random = new Random(seed);
        left = 1 + random.nextInt(60);
    }

    private void call(Row caller, int depth) {
        --left;
        String name = NAMES[random.nextInt(NAMES.length)];
        if (!names.contains(name)) names.add(name);
        Row row = caller.rows.computeIfAbsent(name, unused -> new Row());
        long began = now;
        boolean throwing = random.nextInt(4) == 0;
        try {
            int result = Trench.trace(name, () -> {
                now += random.nextInt(3000);
                while (left > 0 && depth < 30 && random.nextInt(3) > 0) call(row, depth + 1);
                if (throwing) throw new IllegalStateException("planned");
                return depth;
            });
            if (result != depth || throwing) throw new AssertionError("a wrong result");
        } catch (IllegalStateException error) {
            if (!throwing) throw error;
        }
        ++row.hits;
        row.us += now - began;
    }

    private int add(List<String> stack, String name, Row row) {
        int place = stack.size();
        stack.add(null);
        List<Integer> called = new ArrayList<>();
        row.rows.forEach((each, inner) -> called.add(add(stack, each, inner)));
        stack.set(place, "[" + names.indexOf(name) + "," + row.hits + "," + row.us / 1000.0 + ","
                + called + "]");
        return place;
    }

    private void print() {
        Trace trace = new Trace(() -> now * 1000);
        Trench.within(trace, () -> {
            while (left > 0) call(root, 0);
            return null;
        });
        List<String> values = new ArrayList<>();
        for (String value : TraceFields.values(trace.json())) values.add('"' + value + '"');
        List<String> stack = new ArrayList<>();
        root.rows.forEach((name, row) -> add(stack, name, row));
        System.out.println(values);
        System.out.println(stack);
    }

    public static void main(String[] arguments) {
        long seed = Long.parseLong(arguments[0]);
        for (int round = 0; round < 500; ++round) new RandomTraces(seed + round).print();
    }
}
