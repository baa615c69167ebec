package trench;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** Traces that are too long for header fields, for a minute. Any thread may use it. */
public final class TraceStore {
    public static final long KEPT_NS = 60_000_000_000L;
    public static final int TRACES_MAX = 64;
    public static final int BYTES_MAX = 32 << 20;
    public static final String PATH = "/banky-trace/"; // then 32 hexadecimal digits

    private static final class Kept {
        final byte[] json;
        final long since;

        Kept(byte[] json, long since) {
            this.json = json;
            this.since = since;
        }
    }

    private final SecureRandom random = new SecureRandom();
    private final LongSupplier clock;
    private final Map<String, Kept> kept = new LinkedHashMap<>();
    private long bytes;

    public TraceStore() {
        this(System::nanoTime);
    }

    public TraceStore(LongSupplier clock) {
        this.clock = clock;
    }

    /** Returns the path of its URL. Beyond a limit, the oldest are dropped. */
    public synchronized String keep(String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        String path = PATH + String.format("%016x%016x", random.nextLong(), random.nextLong());
        kept.put(path, new Kept(text, clock.getAsLong()));
        bytes += text.length;
        drop();
        return path;
    }

    /** May be null. */
    public synchronized byte[] find(String path) {
        drop();
        Kept found = kept.get(path);
        return found == null ? null : found.json;
    }

    private void drop() {
        long now = clock.getAsLong();
        for (Iterator<Kept> each = kept.values().iterator(); each.hasNext(); ) {
            Kept oldest = each.next();
            boolean over = now - oldest.since >= KEPT_NS || kept.size() > TRACES_MAX
                    || bytes > BYTES_MAX;
            if (!over) return;
            bytes -= oldest.json.length;
            each.remove();
        }
    }
}
