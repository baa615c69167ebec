#pragma once

// zlib and zstd, a step at a time: what decoders of bodies and sources of recordings are made of.
// Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"

namespace reprise::coding {

/// What one step came to. A step ends when the input is used up, the room is, or the data end.
struct InflationStep {
  enum class State : std::uint8_t {
    kMore,    ///< more input or more room is needed
    kEnded,   ///< the member, stream or frame has ended
    kBroken,  ///< the data are damaged: problem()
  };
  State state = State::kMore;
  std::size_t taken = 0;  ///< bytes of the input
  std::size_t given = 0;  ///< bytes of the room
};

/// Deflate (RFC 1951), bare or in one of its two envelopes.
class Inflation {
 public:
  enum class Format : std::uint8_t {
    kGzip,  ///< RFC 1952, one member
    kZlib,  ///< RFC 1950
    kRaw,
  };
  explicit Inflation(Format format);
  ~Inflation();
  Inflation(Inflation&&) noexcept;

  InflationStep step(Bytes in, std::span<std::byte> room);
  /// Begins again: with the next member.
  void restart();
  /// What is wrong with the data; for people.
  std::string problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whole gzip members at once: twice as fast as Inflation.
class WholeGunzip {
 public:
  WholeGunzip();
  ~WholeGunzip();
  WholeGunzip(WholeGunzip&&) noexcept;

  struct Sizes {
    std::size_t taken = 0;
    std::size_t given = 0;
  };
  /// Decodes the member that `in` begins with. Nothing when it is not whole, damaged, or larger
  /// than `room`.
  std::optional<Sizes> decode(Bytes in, std::span<std::byte> room);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// zstd (RFC 8878).
class ZstdInflation {
 public:
  /// A frame whose window is larger is damaged; 0: zstd's own limit (128 MiB).
  explicit ZstdInflation(int window_log_max = 0);
  ~ZstdInflation();
  ZstdInflation(ZstdInflation&&) noexcept;

  InflationStep step(Bytes in, std::span<std::byte> room);
  /// Begins again with the next frame; a dictionary stays.
  void restart();
  /// All frames are decoded with it. False when it is no dictionary.
  bool use_dictionary(Bytes dictionary);
  std::string problem() const { return problem_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string problem_;
};

}  // namespace reprise::coding
