package trench;

import java.io.IOException;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/**
 * Traces requests, and answers those for stored traces. The fields are added when all is done, if the
 * head has not been sent by then: a response that is longer than the buffer needs TraceAdvice, or
 * addFields() before its first byte.
 */
public final class TraceFilter implements Filter {
    private static final String TRACE = "trench.trace"; // attribute of requests
    private static final String STORE = "trench.store";

    private final TraceAsking asking;
    private final TraceStore store = new TraceStore();

    public TraceFilter() {
        this(new TraceAsking());
    }

    public TraceFilter(TraceAsking asking) {
        this.asking = asking;
    }

    @Override
    public void init(FilterConfig config) {}

    @Override
    public void destroy() {}

    @Override
    public void doFilter(ServletRequest anyRequest, ServletResponse anyResponse, FilterChain chain)
            throws IOException, ServletException {
        if (!asking.possible() || !(anyRequest instanceof HttpServletRequest)) {
            chain.doFilter(anyRequest, anyResponse);
            return;
        }
        HttpServletRequest request = (HttpServletRequest) anyRequest;
        HttpServletResponse response = (HttpServletResponse) anyResponse;
        String path = pathInContext(request);
        if (request.getMethod().equals("GET") && path.startsWith(TraceStore.PATH)) {
            sendStored(path, response);
            return;
        }
        Trace trace = (Trace) request.getAttribute(TRACE); // of a dispatch before this one
        if (trace == null) {
            if (!asking.traces(request.getHeader(TraceFields.NAME))) {
                chain.doFilter(request, response);
                return;
            }
            trace = new Trace();
            request.setAttribute(TRACE, trace);
            request.setAttribute(STORE, store);
        }
        try {
            Trench.within(trace, (Trench.Call<Void, Exception>) () -> {
                chain.doFilter(request, response);
                return null;
            });
        } catch (IOException | ServletException | RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new ServletException(error);
        } finally {
            if (!request.isAsyncStarted()) addFields(request, response);
        }
    }

    /** Adds the trace up to now, once; nothing if the request has none or the head has been sent. */
    public static void addFields(HttpServletRequest request, HttpServletResponse response) {
        Object trace = request.getAttribute(TRACE);
        Object store = request.getAttribute(STORE);
        if (trace == null || store == null || response.isCommitted()) return;
        request.removeAttribute(STORE);
        for (String value : TraceFields.responseValues(
                (Trace) trace, (TraceStore) store, request.getContextPath())) {
            response.addHeader(TraceFields.NAME, value);
        }
    }

    private static String pathInContext(HttpServletRequest request) {
        String path = request.getRequestURI();
        String context = request.getContextPath();
        return path.startsWith(context) ? path.substring(context.length()) : path;
    }

    private void sendStored(String path, HttpServletResponse response) throws IOException {
        byte[] json = store.find(path);
        response.setStatus(json == null ? 404 : 200);
        response.setContentType("application/json");
        response.setHeader("Cache-Control", "no-store");
        response.getOutputStream().write(json == null ? new byte[] {'{', '}'} : json);
    }
}
