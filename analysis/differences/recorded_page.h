#pragma once

// What a recorded session fetched, as far as two of them are compared. Plain values.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/reader.h"

namespace reprise {

struct RecordedExchange {
  std::uint32_t ordinal = 0;  ///< in ArchiveReader::entries()
  std::string method;
  std::string origin;  ///< "https://example.org:8443"
  std::string host;
  std::string target;       ///< path and query
  std::string referer;      ///< empty if unknown
  std::string range;        ///< that the request asked for; empty: all
  Sha256 request_digest{};  ///< of the request's body; all zero without one
  std::string protocol;     ///< "h2", "http/1.1"; empty: unknown, or no TLS
  std::uint16_t status = 0;
  Outcome outcome = Outcome::kComplete;
  std::string media_type;
  Headers headers;  ///< of the response
  Headers hints;    ///< Link fields of all 103 responses
  Sha256 digest{};  ///< of the body as on the wire
  std::uint64_t size_bytes = 0;
  std::optional<std::chrono::nanoseconds> think;
  std::chrono::nanoseconds pauses{};  ///< within the body, that a replay keeps

  std::string url() const { return origin + target; }
  /// Whether it is a part alone: of another range, a replay does not answer with it.
  bool is_part() const { return status == 206; }
  bool is_document() const { return media_type == "text/html"; }
};

/// A host's connections: of several, the first one that was made. Of imports they can be unknown.
struct RecordedHost {
  /// As of an exchange. Of an import, which has no handshakes, that of the first exchange that has
  /// one; else "h2" if there is HTTP/3.
  std::string protocol;
  std::uint32_t chain_bytes = 0;
  std::string address;                                  ///< without port; empty if unknown
  std::optional<std::chrono::nanoseconds> resolved_in;  ///< until its addresses were known
};

struct RecordedPage {
  std::vector<RecordedExchange> exchanges;  ///< in the order of the requests
  /// Those with a connection, and those of https.
  std::map<std::string, RecordedHost> hosts;

  /// `session` is a number, not 0. Damaged exchanges are skipped.
  static RecordedPage read(const ArchiveReader& archive, std::uint32_t session);
};

/// The decoded body of a response; nothing if it is damaged, incomplete, too large, or in an
/// unknown coding.
using PlainBodyOf = std::function<std::optional<std::string>(const RecordedExchange&)>;

/// The digests of a body of any size as on the wire, in the form of digests_of(); nothing if it is
/// damaged, incomplete, or in a known coding, which a browser undoes first. Reads it in pieces.
using WireDigestsOf = std::function<std::vector<std::string>(const RecordedExchange&)>;

/// Reads the bodies of a page.
struct PageBodies {
  PlainBodyOf plain;
  WireDigestsOf wire_digests;
};

/// Of an archive, which must outlive it. The limit of decoded bodies is kComparedBytesMax.
PageBodies bodies_of(const ArchiveReader& archive);
inline constexpr std::size_t kComparedBytesMax = 8 << 20;

}  // namespace reprise
