#pragma once

// zlib and zstd, step by step. Used by the decoders of bodies and the readers of recordings.
// Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"

namespace reprise::coding {

/// The result of one step. A step ends when the input or the room is used up, or at the end of the
/// data.
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

/// Deflate (RFC 1951), raw or in one of its two formats.
class Inflation {
 public:
  enum class Format : std::uint8_t {
    kGzip,      ///< RFC 1952, one member
    kGzipData,  ///< the same, up to its trailer (CRC and length), which is not read
    kZlib,      ///< RFC 1950
    kRaw,
  };
  explicit Inflation(Format format);
  ~Inflation();
  Inflation(Inflation&&) noexcept;

  InflationStep step(Bytes in, std::span<std::byte> room);
  /// Starts over, for the next member.
  void restart();
  /// The error in the data, as a sentence.
  std::string problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes whole gzip members at once: twice as fast as Inflation.
class WholeGunzip {
 public:
  WholeGunzip();
  ~WholeGunzip();
  WholeGunzip(WholeGunzip&&) noexcept;

  struct Sizes {
    std::size_t taken = 0;
    std::size_t given = 0;
  };
  /// Decodes the member at the start of `in`. Returns nothing if the member is incomplete, damaged
  /// or larger than `room`.
  std::optional<Sizes> decode(Bytes in, std::span<std::byte> room);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// zstd (RFC 8878).
class ZstdInflation {
 public:
  /// Frames with a larger window are treated as damaged; 0 means zstd's own limit (128 MiB).
  explicit ZstdInflation(int window_log_max = 0);
  ~ZstdInflation();
  ZstdInflation(ZstdInflation&&) noexcept;

  InflationStep step(Bytes in, std::span<std::byte> room);
  /// Starts over, for the next frame; keeps the dictionary.
  void restart();
  /// Decodes all frames with this dictionary. Returns false if it is invalid.
  bool use_dictionary(Bytes dictionary);
  std::string problem() const { return problem_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string problem_;
};

}  // namespace reprise::coding
