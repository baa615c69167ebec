#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

inline constexpr std::size_t kTraceBytesMax = 16U << 20;
inline constexpr std::size_t kTraceLineMax = 64;
/// Mahimahi's format: the bytes that one line delivers.
inline constexpr std::uint32_t kOpportunityBytes = 1500;

/// When a link may deliver: mahimahi's trace format. One integer per line, in milliseconds from the
/// start, not decreasing; each is one opportunity to deliver kOpportunityBytes. It repeats from its
/// last timestamp, which therefore is above 0. Immutable.
class Trace {
 public:
  /// The error names the line and its fault. `name` is kept for messages.
  static std::expected<std::shared_ptr<const Trace>, std::string> parse(std::string_view text,
                                                                        std::string name);
  static std::expected<std::shared_ptr<const Trace>, std::string> load(
      const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  std::chrono::nanoseconds period() const { return std::chrono::milliseconds(times_ms_.back()); }
  const std::vector<std::uint32_t>& times_ms() const { return times_ms_; }
  /// The mean over one period, rounded down.
  std::uint64_t mean_rate_bps() const;
  /// SHA-256 of the timestamps, each with a newline: what sha256sum(1) prints for such a file. In
  /// hexadecimal digits. Hashes all of them in each call.
  std::string sha256() const;

  /// Whether both deliver at the same times, whatever their names are.
  bool operator==(const Trace& other) const { return times_ms_ == other.times_ms_; }

 private:
  Trace(std::vector<std::uint32_t> times_ms, std::string name);

  std::vector<std::uint32_t> times_ms_;  // not empty, the last above 0
  std::string name_;
};

/// A position in a trace that began at `start`. Bytes of an opportunity that one packet leaves
/// unused go to the next one that is waiting by then.
class TraceCursor {
 public:
  TraceCursor(std::shared_ptr<const Trace> trace, std::chrono::nanoseconds start);

  /// Uses the next `bytes` (above 0) that may be delivered at `from` or later; returns when the
  /// last of them leaves.
  std::chrono::nanoseconds take(std::uint64_t bytes, std::chrono::nanoseconds from);

 private:
  std::chrono::nanoseconds time() const;
  void seek(std::chrono::nanoseconds from);
  void step();

  std::shared_ptr<const Trace> trace_;
  std::chrono::nanoseconds start_;
  std::chrono::nanoseconds pass_{0};  // start of this repetition, after start_
  std::size_t next_ = 0;
  std::uint32_t left_bytes_ = kOpportunityBytes;
};

}  // namespace reprise
