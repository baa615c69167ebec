// Coded bodies of any form, whole and in pieces: decoding stays within its limits and tells the
// same either way, and what it gave comes back whole from the encoder.

#include <algorithm>
#include <cstdlib>

#include "base/coding/coding.h"

using namespace reprise::coding;

namespace {

constexpr DecodeLimits kLimits{.bytes_max = 1 << 20, .ratio_max = 100, .ratio_free = 64 << 10};

void check(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  bool whole = false;
  Buffer plain;
};

Outcome decode(std::span<const Coding> codings, std::span<const std::byte> coded,
               std::size_t piece_bytes) {
  Outcome outcome;
  Decoder decoder(codings, kLimits);
  while (!coded.empty()) {
    auto const piece = coded.first(std::min(piece_bytes, coded.size()));
    coded = coded.subspan(piece.size());
    auto const done = decoder.write(piece, outcome.plain);
    check(outcome.plain.size() <= kLimits.bytes_max + 32 * 1024);
    if (!done) return outcome;
  }
  outcome.whole = decoder.finish().has_value();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::vector<Coding> codings{static_cast<Coding>(data[0] % 5)};
  if ((data[0] & 0x80) != 0) codings.push_back(static_cast<Coding>(data[0] / 5 % 5));
  auto const coded = std::as_bytes(std::span(data + 2, size - 2));
  auto const whole = decode(codings, coded, coded.size() + 1);
  auto const pieces = decode(codings, coded, data[1] + 1U);
  // A ratio is judged by what has arrived, so only what both accept is compared.
  if (whole.whole && pieces.whole) check(whole.plain == pieces.plain);

  auto const plain =
      std::span(whole.plain).first(std::min(whole.plain.size(), std::size_t{20'000}));
  Buffer again;
  Encoder encoder(codings, 1);
  encoder.write(plain.first(plain.size() / 2), Until::kFlush, again);
  encoder.write(plain.subspan(plain.size() / 2), Until::kEnd, again);
  Decoder decoder(codings, {});
  Buffer back;
  check(decoder.write(again, back).has_value() && decoder.finish().has_value());
  check(std::ranges::equal(back, plain));
  return 0;
}
