#pragma once

namespace reprise {

/// How often a long test repeats: a quarter of `all` under the sanitizers, which take several
/// times as long.
template <class Rounds>
constexpr Rounds rounds_of(Rounds all) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return (all + 3) / 4;
#else
  return all;
#endif
}

}  // namespace reprise
