#pragma once

// Counts what a target cannot hold. Nothing of an archive is dropped without a count here.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace reprise::exporting {

enum class Loss : std::uint8_t {
  kInterim,
  kTrailers,
  kChunkTimes,
  kTimes,
  kStartAssumed,
  kStreams,
  kConnections,
  kTls,
  kDns,
  kPages,
  kSession,
  kDecoded,
  kNotDecoded,
  kFailed,
  kUnanswered,  ///< the same, in a target that cannot hold them at all
  kCut,
  kReasons,
  kPartialRequest,
  kText,
  kVersion,
  kTargets,
  kMessages,
  kUnwritable,
};
inline constexpr std::size_t kLosses = static_cast<std::size_t>(Loss::kUnwritable) + 1;

struct LossText {
  const char* name;  ///< in JSON; kFailed and kUnanswered, of different targets, have the same
  const char* one;   ///< for users, after 1
  const char* many;  ///< after other numbers
};
/// In the order of Loss.
std::span<const LossText, kLosses> loss_texts();

struct ExportReport {
  std::uint32_t session = 0;
  std::uint64_t exchanges = 0;       ///< written
  std::uint64_t bodies = 0;          ///< responses of these with a body of at least one byte
  std::uint64_t other_sessions = 0;  ///< of the archive, not requested
  std::array<std::uint64_t, kLosses> lost{};

  void lose(Loss what, std::uint64_t count = 1) { lost[static_cast<std::size_t>(what)] += count; }
  std::uint64_t count_of(Loss what) const { return lost[static_cast<std::size_t>(what)]; }
};

}  // namespace reprise::exporting
