package trench;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;

/** Which requests are traced, by the variable BANKY_TRACE (emitters/README.md). */
public final class TraceAsking {
    private final boolean all;
    private final byte[] key; // may be null

    public TraceAsking() {
        this(System.getenv(), System.getProperty("spring.profiles.active", ""));
    }

    /** `profiles`: those of Spring that are active, separated by commas. */
    public TraceAsking(Map<String, String> environment, String profiles) {
        String setting = environment.getOrDefault("BANKY_TRACE", "");
        String names = profiles + "," + environment.getOrDefault("SPRING_PROFILES_ACTIVE", "");
        boolean production = false;
        for (String name : names.split(",")) production |= name.trim().matches("(?i)prod(uction)?");
        all = setting.equals("on") && !production;
        boolean hasKey = setting.startsWith("ask:") && setting.length() >= 4 + 16;
        key = hasKey ? setting.substring(4).getBytes(StandardCharsets.UTF_8) : null;
    }

    /** Whether any request can be traced. */
    public boolean possible() {
        return all || key != null;
    }

    /** `asked` is the request's Banky-Trace field, null if it has none. */
    public boolean traces(String asked) {
        if (all) return true;
        if (key == null || asked == null) return false;
        return MessageDigest.isEqual(key, asked.getBytes(StandardCharsets.UTF_8));
    }
}
