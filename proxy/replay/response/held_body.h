#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "archive/match/request.h"
#include "proxy/http/handler.h"

namespace reprise {

/// The content of a request: its digest and length, and all of it if it is short enough to be split
/// and there is room among all held ones.
class HeldBody {
 public:
  static constexpr std::size_t kHeldBytesMax = 64 << 20;  ///< by all that share a count

  /// `held_bytes`: the total of all held ones, must outlive this. `may_hold`: whether the content
  /// is needed.
  HeldBody(std::atomic<std::size_t>& held_bytes, bool may_hold)
      : held_bytes_(held_bytes), holds_(may_hold) {}
  ~HeldBody() { drop(); }
  HeldBody(const HeldBody&) = delete;
  HeldBody& operator=(const HeldBody&) = delete;

  /// Reads to the end. Errors: those of BodyReader.
  Task<void> read(BodyReader& body);
  /// Adds the content to `asked`, which borrows from this.
  void describe(AskedRequest& asked) const;

 private:
  void hold(Bytes piece);
  void drop();

  std::atomic<std::size_t>& held_bytes_;
  bool holds_;
  std::vector<std::byte> bytes_;
  std::uint64_t size_bytes_ = 0;
  Sha256 digest_{};
};

}  // namespace reprise
