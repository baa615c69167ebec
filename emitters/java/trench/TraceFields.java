package trench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32;

/** The header fields that carry a trace. */
public final class TraceFields {
    /** In requests and in responses. */
    public static final String NAME = "Banky-Trace";
    /**
     * Of all trace fields of a response, with names and line ends. Tomcat's heads have at most 8 KB,
     * and other fields need some of them.
     */
    public static final int BYTES_MAX = 7168;
    private static final int LINE = 76;

    private TraceFields() {}

    /** The values of the fields that carry this JSON. */
    public static List<String> values(String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        String text = Base64.getEncoder().encodeToString(bytes);
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, bytes.length);
        int lines = (text.length() + LINE - 1) / LINE;
        List<String> values = new ArrayList<>();
        values.add("base64lines=" + lines + "; base64bytes=" + text.length() + "; jsoncrc32="
                + crc.getValue() + "; jsonbytes=" + bytes.length);
        for (int i = 0; i < lines; ++i) {
            values.add(i + "=" + text.substring(i * LINE, Math.min((i + 1) * LINE, text.length())));
        }
        return values;
    }

    /** Those of a response that is about to be sent: the trace, or its URL if that is too long. */
    public static List<String> responseValues(Trace trace, TraceStore store) {
        return responseValues(trace, store, "");
    }

    /** The same in an application whose paths begin with `contextPath`: "/shop". */
    public static List<String> responseValues(Trace trace, TraceStore store, String contextPath) {
        String json = trace.json();
        if (json.length() < BYTES_MAX) {
            List<String> values = values(json);
            int bytes = 0;
            for (String value : values) bytes += NAME.length() + value.length() + 4;
            if (bytes <= BYTES_MAX) return values;
        }
        return Collections.singletonList("url=" + contextPath + store.keep(json));
    }
}
