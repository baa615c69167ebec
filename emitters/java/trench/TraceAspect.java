package trench;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.stereotype.Component;

/**
 * Traces the methods of Spring's beans: of components (controllers, services, repositories) and of
 * all other beans in the packages of the application. Needs a DefaultAdvisorAutoProxyCreator, and
 * nothing of AspectJ. Calls inside one bean pass no proxy, so they are not seen; Trench.trace sees
 * them.
 */
public final class TraceAspect extends DefaultPointcutAdvisor {
    /** `packages`: prefixes of their names ("shop."). */
    public TraceAspect(String... packages) {
        super(new Pointcut(packages), new Interceptor());
    }

    private static final class Interceptor implements MethodInterceptor {
        @Override
        public Object invoke(MethodInvocation invocation) throws Throwable {
            Class<?> type = AopUtils.getTargetClass(invocation.getThis());
            String name = type.getName() + "." + invocation.getMethod().getName();
            return Trench.trace(name, Trench.UNKNOWN_LINE,
                    (Trench.Call<Object, Throwable>) invocation::proceed);
        }
    }

    private static final class Pointcut extends StaticMethodMatcherPointcut {
        private final String[] packages;

        Pointcut(String[] packages) {
            this.packages = packages;
            setClassFilter(new ClassFilter() {
                @Override
                public boolean matches(Class<?> type) {
                    return traces(type);
                }
            });
        }

        private boolean traces(Class<?> type) {
            if (type.getName().startsWith("trench.")
                    || type.getName().startsWith("org.springframework.")
                    || AnnotationUtils.findAnnotation(type, NoTrace.class) != null) return false;
            for (String name : packages) {
                if (type.getName().startsWith(name)) return true;
            }
            return AnnotationUtils.findAnnotation(type, Component.class) != null;
        }

        @Override
        public boolean matches(Method method, Class<?> type) {
            Method called = AopUtils.getMostSpecificMethod(method, type);
            return method.getDeclaringClass() != Object.class
                    && AnnotationUtils.findAnnotation(called, NoTrace.class) == null;
        }
    }
}
