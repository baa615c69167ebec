// Coded bodies of any form, whole and in pieces: decoding stays within its limits and tells the
// same either way, and what it gave comes back whole from the encoder.

#include <algorithm>
#include <cstdlib>

#include "base/coding/coding.h"

using namespace reprise::inject;

namespace {

constexpr coding::DecodeLimits kLimits{
    .bytes_max = 1 << 20, .ratio_max = 100, .ratio_free = 64 << 10};

void check(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  bool whole = false;
  coding::Buffer plain;
};

Outcome decode(std::span<const coding::Coding> codings, std::span<const std::byte> coded,
               std::size_t piece_bytes) {
  Outcome outcome;
  coding::Decoder decoder(codings, kLimits);
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
  std::vector<coding::Coding> codings{static_cast<coding::Coding>(data[0] % 5)};
  if ((data[0] & 0x80) != 0) codings.push_back(static_cast<coding::Coding>(data[0] / 5 % 5));
  auto const coded = std::as_bytes(std::span(data + 2, size - 2));
  auto const whole = decode(codings, coded, coded.size() + 1);
  auto const pieces = decode(codings, coded, data[1] + 1U);
  // A ratio is judged by what has arrived, so only what both accept is compared.
  if (whole.whole && pieces.whole) check(whole.plain == pieces.plain);

  auto const plain =
      std::span(whole.plain).first(std::min(whole.plain.size(), std::size_t{20'000}));
  coding::Buffer again;
  coding::Encoder encoder(codings, 1);
  encoder.write(plain.first(plain.size() / 2), coding::Until::kFlush, again);
  encoder.write(plain.subspan(plain.size() / 2), coding::Until::kEnd, again);
  coding::Decoder decoder(codings, {});
  coding::Buffer back;
  check(decoder.write(again, back).has_value() && decoder.finish().has_value());
  check(std::ranges::equal(back, plain));
  return 0;
}
