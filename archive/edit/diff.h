#pragma once

// Compares the responses of two archives, and the messages of their WebSockets. Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"

namespace reprise {

struct DiffOptions {
  std::vector<std::string> ignored_headers;  ///< globs in lower case; also of trailers
  bool requests = false;                     ///< compare the heads of requests, too
  bool times = false;                        ///< and the times of exchanges and messages
  bool across_sessions = false;              ///< pair exchanges of different sessions, too
  /// A pair counts if one exchange in it is selected; `number` is that of `ls`. Empty: all count.
  std::function<bool(const Exchange&, std::size_t number)> filter;
};

enum class Difference : std::uint8_t {
  kOutcome,
  kStatus,  ///< or its reason, between two HTTP/1 responses
  kProtocol,
  kHeaders,
  kInterim,
  kBody,  ///< by digest
  kTrailers,
  kRequestHeaders,
  kRequestTrailers,
  kTimes,
  kMessages,  ///< of a WebSocket (message_changes.h)
};
std::string_view to_string(Difference difference);

/// One side of a pair.
struct DiffSide {
  const Exchange* exchange = nullptr;  ///< null: the other archive has no such exchange
  std::size_t number = 0;              ///< in `ls`
};

struct DiffCounts {
  std::uint64_t same = 0;
  std::uint64_t changed = 0;
  std::uint64_t only_in_a = 0;
  std::uint64_t only_in_b = 0;
  /// The parameters whose values differ within pairs: volatile ones (match/steady_request.h).
  std::set<std::string> volatile_names;
  bool any_difference() const { return changed + only_in_a + only_in_b > 0; }
};

/// Where a record is damaged: that of an exchange, or that of a message of its WebSocket.
struct DiffDamage {
  bool is_in_b = false;    ///< else in a
  std::size_t number = 0;  ///< of the exchange, in `ls`
  std::string url;         ///< of the exchange whose message is damaged; else empty
};

/// Pairs exchanges as pairing.h does. Reports the differences: in the order of `a`, changed
/// exchanges and those only in `a`; then those only in `b`. Uses eight bytes of memory per exchange
/// besides those of pairing.h. Stops at the first damage that it meets.
using ReportDifference = std::function<void(const DiffSide& a, const DiffSide& b,
                                            const std::vector<Difference>& differences)>;
std::expected<DiffCounts, DiffDamage> diff_archives(const ArchiveReader& a, const ArchiveReader& b,
                                                    const DiffOptions& options,
                                                    const ReportDifference& report);

/// All differences except those of messages, which exchanges do not hold.
std::vector<Difference> differences_of(const Exchange& a, const Exchange& b,
                                       const DiffOptions& options);

/// A field of one side or of both.
struct FieldEdit {
  char sign = ' ';  ///< '-' only in a, '+' only in b
  HeaderView field;
};
/// The different fields, in order: a shortest list of edits for up to a thousand fields per side,
/// all fields of both sides for more. Borrows.
std::vector<FieldEdit> field_edits(HeaderList a, HeaderList b, const DiffOptions& options);

}  // namespace reprise
