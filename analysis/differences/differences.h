#pragma once

// What differs between two recorded pages, in pieces that can be put back one by one:
// DIFFERENCES.md. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/differences/alignment.h"
#include "analysis/differences/recorded_page.h"

namespace reprise {

enum class DifferenceKind : std::uint8_t {
  kCame,     ///< a request of B alone
  kWent,     ///< a request of A alone
  kUrl,      ///< another URL for the same thing
  kContent,  ///< another body
  kCoding,   ///< the same body in another content coding
  kStatus,
  kRedirect,
  kCaching,   ///< fields that say how long a response may be kept
  kHints,     ///< Link fields, also of 103 responses
  kPolicy,    ///< fields that permit and forbid
  kPriority,  ///< the field Priority
  kConnection,
  kOrder,
  kInitiator,
  kThinkTime,
  kChain,       ///< length of the certificate chain
  kCoalescing,  ///< hosts that share an address
  kProtocol,
  kNameResolution,
};
inline constexpr std::size_t kDifferenceKindCount = 19;
std::string_view to_string(DifferenceKind kind);

/// Bytes of a document of A, and what stands there in B.
struct DocumentEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
  bool operator==(const DocumentEdit&) const = default;
};

struct PageDifference {
  DifferenceKind kind = DifferenceKind::kContent;
  std::string where;                ///< the URL, or the host; of B where it has one
  std::string what;                 ///< "line 12: added `while (...)`"
  std::optional<std::size_t> pair;  ///< in Differences::pairs
  /// Of a document that can be put together from both: these edits, by their numbers in
  /// Differences::documents.
  std::vector<std::size_t> edits;
  std::string host;       ///< of what concerns a host
  std::size_t group = 0;  ///< in Differences::groups

  /// Whether a replay of A can have it.
  bool can_be_put_in() const;
};

/// Differences that come and go together.
struct DifferenceGroup {
  std::string title;                     ///< in one line
  std::vector<std::size_t> differences;  ///< the one that the title is about comes first
  bool can_be_put_in = false;
};

struct Differences {
  RecordedPage a, b;
  Alignment alignment;
  std::vector<PageDifference> all;
  std::vector<DifferenceGroup> groups;
  /// The edits of each document that can be put together, by its pair.
  std::map<std::size_t, std::vector<DocumentEdit>> documents;
};

/// A think time, or a name's resolution, differs when it does so by this time and this share of the
/// longer one.
inline constexpr std::chrono::milliseconds kLeastTime{10};
inline constexpr double kLeastTimeShare = 0.2;
/// A chain of certificates differs when its length does by this.
inline constexpr std::uint32_t kLeastChainBytes = 256;
/// Decoded bodies that are compared by tokens, in all; others are compared as a whole. As much is
/// digested as on the wire.
inline constexpr std::uint64_t kAllComparedBytesMax = 256 << 20;

Differences find_differences(RecordedPage a, RecordedPage b, const PageBodies& bodies_of_a,
                             const PageBodies& bodies_of_b);

/// For replays without a link, in which browsers look up no names: how long that takes cannot be
/// put in.
void leave_out_names(Differences& differences);

}  // namespace reprise
