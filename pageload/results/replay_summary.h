#pragma once

// What the report of a replay (`replay --report`) says about the load that it served.

#include <boost/json/object.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// The emulated link of a replay.
struct LinkSummary {
  /// What the link did in equal spans of time.
  struct Series {
    std::vector<double> queue_bytes, rate_bps, delay_mean_ms, packets, drops;
  };
  struct Timeline {
    double width_ms = 0;  ///< of a span
    Series down, up;
  };
  std::string text;    ///< as --link takes it
  std::string shaper;  ///< "packet" or "stream"
  bool self_check_ok = false;
  std::string self_check_skipped;     ///< why there was none; empty: there was
  std::vector<std::string> warnings;  ///< what makes its figures doubtful, a sentence each
  /// What late packets can have cost at most; none in results before it was measured.
  std::optional<double> lateness_cost_ms;
  std::optional<double> rtt_ms, down_bps, up_bps;
  std::optional<Timeline> timeline;
};

struct ReplaySummary {
  struct Miss {
    std::string method, url, reason;
  };
  /// An answer that was made up.
  struct SpecialAnswer {
    std::string kind, method, url;
  };
  std::optional<double> hits, misses;
  std::optional<double> processor_ms;  ///< that the replay used since the page's command started
  std::vector<Miss> distinct_misses;
  std::vector<SpecialAnswer> special_answers;
  std::vector<std::string> missing_names;  ///< that DNS was asked for and the archive has not
  std::optional<LinkSummary> link;
  /// All of the report, much of it not above: a result keeps it as it came.
  boost::json::object whole;
};

/// Reads the file that a replay wrote. The error is a sentence without the path.
std::expected<ReplaySummary, std::string> read_replay_report(const std::filesystem::path& path);

}  // namespace reprise
