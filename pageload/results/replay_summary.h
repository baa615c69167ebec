#pragma once

// The part of a replay's report (`replay --report`) about the load that it served.

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// The emulated link of a replay.
struct LinkSummary {
  /// The link's activity in equal spans of time.
  struct Series {
    std::vector<double> queue_bytes, rate_bps, delay_mean_ms, packets, drops;
  };
  struct Timeline {
    double width_ms = 0;  ///< of a span
    Series down, up;
  };
  /// By when late packets can have cost how much at most. Both lists increase.
  struct LatenessGrowth {
    /// Before a step the cost was more than that of the step before it by less than this.
    double resolution_ms = 0;
    std::vector<double> at_ms;    ///< by CLOCK_MONOTONIC
    std::vector<double> cost_ms;  ///< from then on
  };
  /// A deviation from the link's settings that changed the time of a load by at most this share.
  struct Deviation {
    std::string text;
    double share = 0;
  };
  std::string text;                   ///< as in --link
  std::string shaper;                 ///< "packet" or "stream"
  std::optional<std::uint64_t> seed;  ///< of its losses and other choices
  bool self_check_ok = false;
  std::string self_check_skipped;     ///< why there was no self-check; empty: there was one
  std::vector<std::string> warnings;  ///< reasons to doubt its figures, one sentence each
  /// The maximum cost of late packets; nothing in results before it was measured.
  std::optional<double> lateness_cost_ms;
  std::optional<LatenessGrowth> lateness_growth;
  std::vector<Deviation> deviations;  ///< are in `warnings`, too
  std::optional<double> rtt_ms, down_bps, up_bps;
  /// SHA-256 of the trace files; empty: none, or unknown.
  std::string down_trace_sha256, up_trace_sha256;
  /// Packets for which the queue had no room, or which its management dropped, both ways together;
  /// without the losses that the link was asked for.
  double queue_drops = 0;
  std::optional<Timeline> timeline;
};

/// Bytes of a URL or another text in the report; a longer one is cut off there, with "...".
inline constexpr std::size_t kReportTextMax = 4 << 10;

struct ReplaySummary {
  struct Miss {
    std::string method, url, reason;
  };
  /// A made-up answer.
  struct SpecialAnswer {
    std::string kind, method, url;
  };
  std::optional<double> hits, misses;
  std::vector<Miss> distinct_misses;
  std::vector<SpecialAnswer> special_answers;
  std::vector<std::string> missing_names;  ///< names that were looked up but are not in the archive
  std::optional<LinkSummary> link;
  /// The whole report, with more than the fields above: a result keeps it, but for
  /// `lateness.growth` (drop_lateness_growth()).
  boost::json::object whole;
};

/// Reads the report of a replay. The error is a sentence without the path.
std::expected<ReplaySummary, std::string> read_replay_report(const std::filesystem::path& path);

}  // namespace reprise
