package shop;

import java.io.IOException;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Repository;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import trench.NoTrace;
import trench.TraceAdvice;
import trench.TraceAspect;
import trench.TraceFilter;
import trench.Trench;

/** A shop of three layers, in an embedded Tomcat: its port is the first line that it prints. */
public final class Shop {
    // Interfaces, since the code generator of Debian's Spring does not fit its ASM: only proxies of
    // the JDK work.
    interface Database {
        int query(String text) throws InterruptedException;

        int rates() throws InterruptedException;

        int known(int item);
    }

    @Repository
    public static class SlowDatabase implements Database {
        @Override
        public int query(String text) throws InterruptedException {
            Thread.sleep(text.equals("slow") ? 20 : 1);
            return text.length();
        }

        /** Planted: what the whole page waits for. */
        @Override
        public int rates() throws InterruptedException {
            Thread.sleep(600);
            return 1;
        }

        @Override
        public int known(int item) {
            return item * 2;
        }
    }

    interface Cart {
        int sum(int items) throws InterruptedException;

        int taxed(int items) throws InterruptedException;

        int known() throws InterruptedException;

        int secret() throws InterruptedException;
    }

    @Service
    public static class DatabaseCart implements Cart {
        private final Database database;

        DatabaseCart(Database database) {
            this.database = database;
        }

        @Override
        public int sum(int items) throws InterruptedException {
            int sum = 0;
            for (int i = 0; i < items; ++i) sum += database.query("item");
            return sum + Trench.trace("shop.Tax.of", () -> database.query("slow"));
        }

        @Override
        public int taxed(int items) throws InterruptedException {
            int sum = 0;
            for (int i = 0; i < items; ++i) sum += database.query("item");
            return sum * database.rates();
        }

        @Override
        public int known() throws InterruptedException {
            Thread.sleep(1);
            int sum = 0;
            for (int item = 0; item < 18; ++item) sum += database.known(item);
            return sum;
        }

        @Override
        @NoTrace
        public int secret() throws InterruptedException {
            return database.query("x");
        }
    }

    @RestController
    interface Page {
        @RequestMapping("/cart")
        String show(@RequestParam(name = "items", defaultValue = "3") int items,
                @RequestParam(name = "pages", defaultValue = "1") int pages)
                throws InterruptedException;

        @RequestMapping(value = "/taxed", produces = "text/html")
        String taxed() throws InterruptedException;

        /** Takes 1 ms and 20 calls. */
        @RequestMapping("/brief")
        String brief() throws InterruptedException;

        @RequestMapping("/many")
        String many();

        @RequestMapping("/broken")
        String broken();

        @RequestMapping("/plain")
        void plain(HttpServletResponse response) throws IOException;
    }

    /** Traced for its package. */
    public static class CartPage implements Page {
        private final Cart cart;

        CartPage(Cart cart) {
            this.cart = cart;
        }

        @Override
        public String show(int items, int pages) throws InterruptedException {
            StringBuilder body = new StringBuilder();
            int sum = cart.sum(items) + cart.secret();
            for (int i = 0; i < pages; ++i) body.append("sum ").append(sum).append('\n');
            return body.toString();
        }

        @Override
        public String taxed() throws InterruptedException {
            return "<!doctype html><title>shop</title><link rel=icon href=data:,><p>"
                    + cart.taxed(3);
        }

        @Override
        public String brief() throws InterruptedException {
            return "sum " + cart.known() + "\n";
        }

        @Override
        public String many() {
            for (int i = 0; i < 400; ++i) Trench.trace("shop.Part.number" + i, () -> {});
            return "many";
        }

        @Override
        public String broken() {
            throw new IllegalStateException("planned");
        }

        @Override
        public void plain(HttpServletResponse response) throws IOException {
            Trench.trace("shop.Plain.write", () -> response.getWriter().write("plain"));
        }
    }

    static final class Tracing {
        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            return new DefaultAdvisorAutoProxyCreator();
        }

        @Bean
        static TraceAspect aspect() {
            return new TraceAspect("shop.Shop$CartPage");
        }

        @Bean
        TraceAdvice advice() {
            return new TraceAdvice();
        }
    }

    static final class Beans {
        @Bean
        Database database() {
            return new SlowDatabase();
        }

        @Bean
        Cart cart(Database database) {
            return new DatabaseCart(database);
        }

        @Bean
        Page page(Cart cart) {
            return new CartPage(cart);
        }

        @Bean
        RequestMappingHandlerMapping handlers() {
            return new RequestMappingHandlerMapping();
        }

        @Bean
        RequestMappingHandlerAdapter adapter() {
            return new RequestMappingHandlerAdapter();
        }
    }

    private Shop() {}

    private static void addFilter(Context context) {
        FilterDef filter = new FilterDef();
        filter.setFilterName("trace");
        filter.setFilter(new TraceFilter());
        context.addFilterDef(filter);
        FilterMap map = new FilterMap();
        map.setFilterName("trace");
        map.addURLPattern("/*");
        context.addFilterMap(map);
    }

    /** Usage: shop.Shop FOLDER [bare]: without the emitter. $SHOP_CONTEXT begins its paths. */
    public static void main(String[] arguments) throws Exception {
        boolean bare = arguments.length > 1;
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[0]);
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        String path = System.getenv().getOrDefault("SHOP_CONTEXT", "");
        Context context = tomcat.addContext(path, arguments[0]);
        AnnotationConfigWebApplicationContext beans = new AnnotationConfigWebApplicationContext();
        beans.register(Beans.class);
        if (!bare) beans.register(Tracing.class);
        Tomcat.addServlet(context, "spring", new DispatcherServlet(beans)).setLoadOnStartup(1);
        context.addServletMappingDecoded("/", "spring");
        if (!bare) addFilter(context);
        tomcat.start();
        System.out.println(tomcat.getConnector().getLocalPort());
        System.in.read(); // until whoever started this has ended
        System.exit(0);
    }
}
