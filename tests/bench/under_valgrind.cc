/// Preloaded into a replay that runs under valgrind, which does not know seccomp(2) and fails it,
/// as a replay would with it. Here it is said to have succeeded. Nothing else that the replay runs
/// changes; only its guarantee is gone, which costs nothing a request.
#include <dlfcn.h>
#include <sys/syscall.h>

#include <cstdarg>

extern "C" long syscall(long number, ...) {
  if (number == SYS_seccomp) return 0;
  static auto* const next = reinterpret_cast<decltype(&syscall)>(::dlsym(RTLD_NEXT, "syscall"));
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (long& value : values) value = va_arg(arguments, long);
  va_end(arguments);
  return next(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
