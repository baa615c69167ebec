#include "proxy/quic/library_assertion.h"

#include <errno.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace reprise {
namespace {

std::atomic<std::uint64_t> survived = 0;

}  // namespace

constinit thread_local int LibraryCall::depth = 0;

void keep_forever(void* object) {
  static std::mutex mutex;
  static std::vector<void*> kept;
  std::lock_guard const lock(mutex);
  kept.push_back(object);
}

std::uint64_t survived_assertions() {
  return survived.load();
}

/// The name in C has no room for an exception: assert.h declares that it throws nothing.
extern "C" [[noreturn]] void fail_assertion(const char* assertion, const char* file, unsigned line,
                                            const char* function) asm("__assert_fail");

void fail_assertion(const char* assertion, const char* file, unsigned line, const char* function) {
  std::fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", ::program_invocation_short_name,
               file, line, function, assertion);
  if (!LibraryCall::under_way()) std::abort();
  survived.fetch_add(1);
  throw FailedAssertion();
}

}  // namespace reprise
