#pragma once

// One view of a page as its beacon says, flat: what the readers of all forms fill in, and what call
// trees and partial results are made from. Plain values; texts are borrowed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// The moments of a request that Resource Timing knows, in the order of time.
enum class BeaconMoment : std::uint8_t {
  kRedirectStart,
  kRedirectEnd,
  kLookupStart,
  kLookupEnd,
  kConnectStart,
  kTlsStart,
  kConnectEnd,
  kRequest,
  kResponse,
};
inline constexpr std::size_t kBeaconMoments = 9;

/// Times in us since the start of the view, as the beacon has them: of any sign and order, at most
/// twice the longest window away from 0.
struct BeaconRequest {
  std::string_view name;       ///< URL
  std::string_view initiator;  ///< initiatorType of Resource Timing; "navigation" for the page
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  /// Only if the page may know them; else the request is one piece. Missing moments are 0.
  bool has_moments = false;
  /// 64 bytes from the start of the name, and of the initiator, are readable.
  bool has_padding = false;
  std::array<std::int64_t, kBeaconMoments> moments_us = {};
  std::int64_t bytes = 0;          ///< on the wire; 0: unknown, or from a cache
  std::int64_t decoded_bytes = 0;  ///< of the body; 0: unknown, or empty
  std::int64_t status = 0;         ///< 0: unknown
  std::string_view protocol;       ///< an ALPN id
  std::string_view mime;
  std::string_view delivery;  ///< deliveryType: "cache", "navigational-prefetch"

  bool is_from_cache() const { return delivery == "cache" || (bytes == 0 && decoded_bytes > 0); }
};

/// The names of phases, as calls of kind phase.
inline constexpr std::array<std::string_view, 7> kBeaconPhaseNames = {
    "queued", "redirect", "dns", "connect", "tls", "wait", "receive"};
/// Part of a request: BeaconPhases cover it from its start to its end.
struct BeaconPhase {
  std::uint8_t which = 0;  ///< place in kBeaconPhaseNames
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;

  std::string_view name() const { return kBeaconPhaseNames[which]; }
};
struct BeaconPhases {
  std::array<BeaconPhase, kBeaconMoments + 1> list;
  std::size_t count = 0;

  const BeaconPhase* begin() const { return list.data(); }
  const BeaconPhase* end() const { return list.data() + count; }
};
/// The phases of a request that are not empty; none if it has no moments. A missing moment is that
/// before it, but without a start of TLS all is `connect`, and without a response all is `wait`.
/// Moments out of order move to the one before.
BeaconPhases phases_of(const BeaconRequest& request);

/// Work on the main thread, or a measure of the page: kind task or measure. A mark, or a paint, is
/// an empty measure.
struct BeaconWork {
  CallKind kind = CallKind::kTask;
  std::string_view name;
  std::string_view url;       ///< of a script
  std::string_view function;  ///< of a script
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
};

/// An entry of Server-Timing: a duration, without a start.
struct BeaconServerTime {
  std::uint32_t request = 0;  ///< its place
  std::string_view name;
  std::string_view description;
  std::int64_t duration_us = 0;
};

struct BeaconView {
  static constexpr std::size_t kTagsMax = 32;
  static constexpr std::size_t kTagBytesMax = 400;  ///< of a name, and of a value
  /// The year 33658: call lines (analysis/calls/) go no further, and dates of JavaScript do.
  static constexpr double kStartedUnixMsMax = 1e15;

  std::string_view page;
  std::optional<double> started_unix_ms;
  std::int64_t load_us = 0;  ///< start of the load event; 0: not seen
  std::vector<std::pair<std::string_view, std::string_view>> tags;
  std::vector<BeaconRequest> requests;
  std::vector<BeaconWork> works;
  std::vector<BeaconServerTime> server_times;
  std::vector<std::pair<std::string_view, std::uint64_t>> losses;

  void clear();
  /// Takes the start of the view. What is not later than 0 is missing, what is no number or beyond
  /// the limit is lost.
  void start_at(double unix_ms);
  /// Tags beyond the limits are lost.
  void add_tag(std::string_view name, std::string_view value);
  /// As CallTree::lose(); `what` is a constant.
  void lose(std::string_view what, std::uint64_t count = 1);
  /// The load event's start, else the last end of a request or work; from 0 to the longest window.
  std::int64_t window_us() const;
};

/// The call tree of a view, with copies of its texts. Normalized.
CallTree tree_of(const BeaconView& view);

}  // namespace reprise
