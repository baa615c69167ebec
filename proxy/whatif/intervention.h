#pragma once

// The language of `--what-if 'FILTER: ACTION'`: WHATIF.md.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "archive/edit/filter.h"
#include "archive/edit/retime.h"
#include "base/coding/coding.h"

namespace reprise::whatif {

/// Another time to think, either changed or drawn anew for each answer.
struct Think {
  ThinkTimeChange change;
  std::vector<std::chrono::nanoseconds> draws;  ///< empty: `change` counts
};
/// The origin is further away by this.
struct FurtherAway {
  std::chrono::nanoseconds by{};
};
/// Looking up the host's name takes longer by this.
struct SlowerName {
  std::chrono::nanoseconds by{};
};
/// The requests fail, as if their origin were gone.
struct Drop {};
struct Status {
  std::uint16_t code = 503;
};
/// The response has this body, without a content coding.
struct Body {
  std::string bytes;
};
struct Compress {
  std::optional<coding::Coding> coding;  ///< nothing: the body is sent as it is
};
struct Speak {
  std::string alpn;  ///< "http/1.1", "h2" or "h3"
};
/// The hosts have the page's own address, and the page's certificate names them.
struct Coalesce {};
struct CacheFor {
  std::chrono::seconds age{};  ///< zero: may not be stored
};
/// An image is encoded again, in this part of its bytes.
struct Resize {
  double factor = 1;
};
/// The documents that use a resource mention it otherwise.
struct Mention {
  enum class Kind : std::uint8_t {
    kPreload,
    kPreconnect,
    kPriorityHigh,
    kPriorityLow,
    kAsync,
    kDefer,
    kLazy,
    kInline,
    kEarlyHints,  ///< by a response 103 before the document
  };
  Kind kind = Kind::kPreload;
};

using Action = std::variant<Think, FurtherAway, SlowerName, Drop, Status, Body, Compress, Speak,
                            Coalesce, CacheFor, Resize, Mention>;

/// One change of a replay.
struct Intervention {
  std::string text;  ///< as given
  Filter filter;
  Action action;

  template <class A>
  const A* as() const {
    return std::get_if<A>(&action);
  }
  /// Whether it changes how the archive is served, and not what is in it: think times, distance,
  /// names, protocol, coalescing.
  bool is_condition() const;
};

/// The error is for people, in one or several lines.
std::expected<Intervention, std::string> parse_intervention(std::string_view text);

/// All that `--what-if` was given; "@FILE" stands for the lines of a file, without empty ones and
/// those that start with '#'.
std::expected<std::vector<Intervention>, std::string> parse_interventions(
    const std::vector<std::string>& texts);

/// The limits of the files that an intervention names, and of all interventions.
inline constexpr std::size_t kBodyBytesMax = 64 << 20;
inline constexpr std::size_t kDrawsMax = 1'000'000;
inline constexpr std::size_t kInterventionsMax = 10'000;

/// "1y", "30d", "12h", "10m", "45s"; "0". Nothing for other texts, and over 100 years.
std::optional<std::chrono::seconds> parse_age(std::string_view text);

}  // namespace reprise::whatif
