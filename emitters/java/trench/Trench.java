package trench;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * Counts calls of this thread in the trace of the request that it works for. While no request is
 * traced, each call costs a branch.
 */
public final class Trench {
    /** Where calls are counted: inside a row of a trace. */
    static final class Place {
        final Trace trace;
        final Trace.Row row;

        Place(Trace trace, Trace.Row row) {
            this.trace = trace;
            this.row = row;
        }
    }

    /** A call with a result; it may throw E. */
    public interface Call<T, E extends Throwable> {
        T call() throws E;
    }

    /** A call without one. */
    public interface Run<E extends Throwable> {
        void run() throws E;
    }

    private static final ThreadLocal<Place> CURRENT = new ThreadLocal<>();
    private static final AtomicInteger LIVE = new AtomicInteger(); // traces that have not ended
    private static final IntSupplier LINE_OF_CALLER = () -> {
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            String name = frame.getClassName();
            if (!name.startsWith("trench.Tr")) return Math.max(frame.getLineNumber(), -1);
        }
        return -1;
    };
    static final IntSupplier UNKNOWN_LINE = () -> -1;

    private Trench() {}

    /** Calls `call` as the code point `name` ("shop.Cart.tax") and returns its result. */
    public static <T, E extends Throwable> T trace(String name, Call<T, E> call) throws E {
        return trace(name, LINE_OF_CALLER, call);
    }

    /** The same without a result. */
    public static <E extends Throwable> void trace(String name, Run<E> run) throws E {
        trace(name, LINE_OF_CALLER, () -> {
            run.run();
            return null;
        });
    }

    static <T, E extends Throwable> T trace(String name, IntSupplier line, Call<T, E> call)
            throws E {
        if (LIVE.get() == 0) return call.call();
        Place caller = CURRENT.get();
        if (caller == null) return call.call();
        Trace.Row row = caller.trace.enter(caller.row, name, line);
        if (row == null) return call.call();
        CURRENT.set(new Place(caller.trace, row));
        try {
            return call.call();
        } finally {
            caller.trace.leave(row);
            CURRENT.set(caller);
        }
    }

    /** `call` for another thread: there, it works for the trace that this thread works for now. */
    public static <T> Callable<T> carry(Callable<T> call) {
        Place place = CURRENT.get();
        return place == null ? call : () -> at(place, call::call);
    }

    /** Calls `call`, which works for `trace`. */
    public static <T, E extends Throwable> T within(Trace trace, Call<T, E> call) throws E {
        return at(new Place(trace, trace.root()), call);
    }

    private static <T, E extends Throwable> T at(Place place, Call<T, E> call) throws E {
        Place before = CURRENT.get();
        CURRENT.set(place);
        LIVE.incrementAndGet();
        try {
            return call.call();
        } finally {
            LIVE.decrementAndGet();
            if (before == null) CURRENT.remove();
            else CURRENT.set(before);
        }
    }
}
