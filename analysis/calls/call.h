#pragma once

// The call tree: what happened during one view of a page, or one request to a server, as intervals
// that contain each other. Every source becomes one (results, archives, HAR, beacons, spans), and
// every explanation begins with one. Plain values. As a file: CALLS.md.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

enum class CallKind : std::uint8_t {
  kRequest,  ///< a request on the network, each hop of a redirect separately
  kPhase,    ///< of a request: "queued", "dns", "connect", "tls", "send", "wait", "receive"
  kSpan,     ///< in a server
  kTask,     ///< work on the main thread: "script", "style", "layout", "paint", "parse", ...
  kMeasure,  ///< a measure of User Timing, named by the page
};
/// As in a file: "request", "phase", "span", "task", "measure".
std::string_view to_string(CallKind kind);
std::optional<CallKind> call_kind(std::string_view name);

/// Which calls compete for a moment. A moment belongs to the first layer in which a call is active:
/// the main thread divides only the gaps in the network, so that a load with a trace and one
/// without agree about the network; the page's own measures divide what then is left.
enum class CallLayer : std::uint8_t { kNetwork, kMainThread, kMeasures };
inline constexpr std::size_t kCallLayers = 3;
/// Of the outermost call; those inside it are in the same layer.
constexpr CallLayer layer_of(CallKind kind) {
  if (kind == CallKind::kTask) return CallLayer::kMainThread;
  return kind == CallKind::kMeasure ? CallLayer::kMeasures : CallLayer::kNetwork;
}

/// A name and its value. The names with a meaning are in CALLS.md.
using Attribute = std::pair<std::string, std::string>;

inline constexpr std::uint32_t kNoParent = std::numeric_limits<std::uint32_t>::max();

/// From start_us to end_us, both since the start of the view; start_us <= end_us.
struct Call {
  CallKind kind = CallKind::kRequest;
  std::string name;  ///< the URL of a request, else what is done
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  /// The call that contains this one, never the one that initiated it; an earlier one in the tree.
  std::uint32_t parent = kNoParent;
  std::vector<Attribute> attributes;

  /// The value of an attribute; empty if the call does not have it.
  std::string_view attribute(std::string_view attribute_name) const;
  void set(std::string_view attribute_name, std::string value);
};

/// By its status; a 304 leads nowhere.
bool is_redirect(const Call& request);

/// For how long a task had a processor, in us: all of it where its source does not tell.
double processor_us(const Call& task);

/// Data of a source that did not become a call. Counted and reported once by name, never silently
/// dropped.
struct CallLoss {
  std::string what;  ///< "requests without an end"
  std::uint64_t count = 0;
};
/// Adds to the loss called `what`.
void add_loss(std::vector<CallLoss>& losses, std::string_view what, std::uint64_t count = 1);

/// The calls of one view. Parents come before their children.
struct CallTree {
  static constexpr std::size_t kCallsMax = 1'000'000;
  static constexpr std::size_t kDepthMax = 512;
  /// The longest window, a day.
  static constexpr std::int64_t kWindowUsMax = 86'400'000'000;

  std::string page;                       ///< its URL, or the name of what was asked for
  std::optional<double> started_unix_ms;  ///< by the clock of the source
  std::int64_t window_us = 0;             ///< what is explained: from 0 to here
  std::vector<Attribute> tags;            ///< of the view: "network" and "4g", sorted by name
  std::vector<Call> calls;
  std::vector<CallLoss> losses;

  /// The value of a tag; empty if the view does not have it.
  std::string_view tag(std::string_view name) const;
  /// Adds to the loss with this name.
  void lose(std::string_view what, std::uint64_t count = 1);
};

/// Restores what the comments above promise: an end before its start becomes its start, calls
/// before 0 or after kWindowUsMax are cut, a parent that is not an earlier call or is deeper than
/// kDepthMax is removed; each change is a loss. Tags are sorted, of equal names the first stays.
void normalize(CallTree& tree);

}  // namespace reprise
