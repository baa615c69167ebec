#pragma once

// Debian builds ngtcp2 and nghttp3 with assertions, which end the process. A bug in them that a
// client's packet reaches must end that client's connection alone, so __assert_fail(3) is replaced:
// inside survives_assertions() it throws, and anywhere else it ends the process as usual.

#include <cstdint>

namespace reprise {

/// A failed assertion on its way out of the library, through its frames of C.
struct FailedAssertion {};

/// The calls of this thread into the libraries that are under way.
class LibraryCall {
 public:
  LibraryCall() { ++depth; }
  ~LibraryCall() { --depth; }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  /// Whether it is made from a callback of another.
  bool is_nested() const { return depth > 1; }
  static bool under_way() { return depth > 0; }

 private:
  static constinit thread_local int depth;
};

/// Runs `work`, which calls ngtcp2 or nghttp3. False: an assertion inside them failed, which has
/// been printed. The state of their objects is then undefined: never use or free them again. If it
/// is called by `work` of another call, that one returns false, and this one does not return.
template <class Work>
[[nodiscard]] bool survives_assertions(const Work& work) {
  LibraryCall const call;
  if (call.is_nested()) {
    work();
    return true;
  }
  try {
    work();
  } catch (const FailedAssertion&) {
    return false;
  }
  return true;
}

/// Keeps an object that is never freed from being reported as leaked.
void keep_forever(void* object);

/// How many assertions have failed and were survived, in the whole process.
std::uint64_t survived_assertions();

}  // namespace reprise
