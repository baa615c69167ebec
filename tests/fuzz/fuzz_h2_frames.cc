// Any bytes behind a client's preface. Besides memory errors, it looks for refusals that depend on
// how the bytes were cut into reads: the first byte of the input says how.

#include <cstdlib>
#include <vector>

#include "proxy/http/h2_frame_check.h"

namespace reprise {
namespace {

struct Outcome {
  std::size_t at = 0;  ///< where the refused frame begins, as far as it is not in an earlier piece
  std::uint32_t error = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(Bytes stream, std::size_t piece_bytes) {
  H2FrameCheck check;
  for (std::size_t done = 0; done < stream.size();) {
    auto const piece = stream.subspan(done, std::min(piece_bytes, stream.size() - done));
    if (auto const refusal = check.next(piece)) {
      if (refusal->before_bytes > piece.size()) std::abort();
      return {.at = done + refusal->before_bytes, .error = refusal->error};
    }
    (void)check.head_under_way();
    done += piece.size();
  }
  return {};
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace reprise;
  if (size == 0) return 0;
  std::vector<std::byte> stream(NGHTTP2_CLIENT_MAGIC_LEN);
  auto const bytes = std::as_bytes(std::span(data + 1, size - 1));
  stream.insert(stream.end(), bytes.begin(), bytes.end());
  auto const whole = outcome_of(stream, stream.size());
  auto const cut = outcome_of(stream, std::size_t{data[0]} + 1);
  // A frame's head that came in two pieces is refused in the second: that is where it ends.
  if (whole.error != cut.error || cut.at < whole.at || cut.at > whole.at + 9) std::abort();
  return 0;
}
