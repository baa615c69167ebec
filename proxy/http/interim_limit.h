#pragma once

#include <cstddef>

#include "base/http/headers.h"

namespace reprise {

/// Limits the interim responses of one exchange over HTTP/2: no window holds them back, so a peer
/// could send any number, and they wait in memory whatever their receiver takes.
class InterimLimit {
 public:
  static constexpr std::size_t kCountMax = 1024;     ///< as in an archive
  static constexpr std::size_t kBytesMax = 4 << 20;  ///< as RFC 9113 section 6.5.2 counts heads

  /// Counts one. False: it is one too many.
  bool takes(HeaderList fields) {
    bytes_ += kFieldBytes * fields.size();
    for (const HeaderView& field : fields) bytes_ += field.name.size() + field.value.size();
    return ++count_ <= kCountMax && bytes_ <= kBytesMax;
  }

 private:
  static constexpr std::size_t kFieldBytes = 32;

  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace reprise
