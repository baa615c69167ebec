#pragma once

// The shared vocabulary: what is kept of one HTTP exchange, of the connection it travelled on, and
// of the session it belongs to. Plain values. Times are nanoseconds since the start of the session;
// kNoTime means "not known".

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/digest.h"
#include "base/http/headers.h"
#include "base/http/version.h"

namespace reprise {

using SessionTime = std::chrono::nanoseconds;
inline constexpr SessionTime kNoTime = SessionTime::min();

/// How an exchange ended. What is not complete is served as what it was
/// (archive/match/MATCHING.md).
enum class Outcome : std::uint8_t {
  kComplete = 1,
  kCutByClient = 2,   ///< the client went away before the last byte
  kCutByOrigin = 3,   ///< the origin broke off or broke the protocol inside the response
  kOriginFailed = 4,  ///< no response: look-up, connect, TLS or the first head failed
};

std::string_view to_string(Outcome outcome);

/// Where a piece of a body lies: the offset of the record that holds it, and how many body bytes
/// that record holds.
struct Extent {
  std::uint64_t record_offset = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const Extent&) const = default;
};

/// A body stored in an archive: the bytes exactly as on the wire after the transfer coding, still
/// content-coded. An empty body has no extents and an all-zero digest.
struct StoredBody {
  std::uint64_t size_bytes = 0;
  Sha256 digest{};
  std::vector<Extent> extents;
  bool operator==(const StoredBody&) const = default;
};

/// When body bytes arrived: `end_bytes` of the body were there at `time`.
struct ChunkTime {
  std::uint64_t end_bytes = 0;
  SessionTime time = kNoTime;
  bool operator==(const ChunkTime&) const = default;
};

struct StoredRequest {
  std::string method;
  Scheme scheme = Scheme::kHttp;
  std::string host;  ///< lower case, no port, no brackets
  std::uint16_t port = 0;
  std::string target;  ///< path and query as sent, "*" for OPTIONS *
  HttpVersion version = HttpVersion::kUnknown;
  /// What the client wanted to speak from here on: "websocket" (web_socket.h), or empty. Such a
  /// request has the method CONNECT, as RFC 8441 section 4 has it, whichever version it came over.
  std::string protocol;
  Headers headers;
  Headers trailers;
  StoredBody body;
  /// The response ended before the request did, so that how much of the body was taken is chance:
  /// such a request is found by its key without the body (match.h).
  bool body_partial = false;
};

/// "example.org:8443", "[2001:db8::1]": an authority (RFC 3986 section 3.2); the port stands there
/// when it is not the default one.
std::string authority_of(Scheme scheme, std::string_view host, std::uint16_t port);
/// "https://example.org:8443/path?query".
std::string url_of(Scheme scheme, std::string_view host, std::uint16_t port,
                   std::string_view target);
std::string url_of(const StoredRequest& request);

struct StoredInterimResponse {
  std::uint16_t status = 0;
  std::string reason;
  Headers headers;
  SessionTime time = kNoTime;
};

/// Named StoredReply, not StoredResponse: the latter is the serving form in proxy/http.
struct StoredReply {
  std::uint16_t status = 0;  ///< 0 when the origin failed
  std::string reason;
  HttpVersion version = HttpVersion::kUnknown;
  Headers headers;
  Headers trailers;
  StoredBody body;
  std::vector<ChunkTime> chunk_times;  ///< at most kChunkTimesMax, later ones are merged
};
inline constexpr std::size_t kChunkTimesMax = 4096;

struct Timings {
  SessionTime queued = kNoTime;        ///< the request's head had arrived from the client
  SessionTime request_sent = kNoTime;  ///< its last byte was handed to the origin's connection
  SessionTime first_byte = kNoTime;    ///< the final response's head had arrived
  SessionTime end = kNoTime;           ///< the last byte had arrived, or the failure was known
};

struct Exchange {
  std::uint32_t session = 0;               ///< numbered from 1 in file order
  std::uint64_t sequence = 0;              ///< order of the requests within the session, from 1
  std::uint64_t client_connection_id = 0;  ///< 0 when not known
  std::uint64_t stream_id = 0;             ///< h2 stream, or the request's number on h1, from 1
  std::uint64_t origin_connection_id = 0;  ///< 0 when no connection was made
  StoredRequest request;
  std::vector<StoredInterimResponse> interim;
  StoredReply response;
  Timings timings;
  Outcome outcome = Outcome::kComplete;
  std::string failure;  ///< one sentence, empty when complete
};

/// One connection to an origin, tried or made.
struct ConnectionFacts {
  std::uint64_t id = 0;  ///< unique in the session, from 1
  std::uint32_t session = 0;
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string address;      ///< "192.0.2.1:443", empty when none was reached
  std::string alpn;         ///< what the origin chose, empty when none
  std::string tls_version;  ///< "TLSv1.3", empty for clear text
  std::string cipher;
  std::vector<std::string> certificate_names;  ///< DNS and IP names of the leaf, as recorded
  std::uint32_t chain_bytes = 0;               ///< DER length of all certificates sent
  Sha256 chain_digest{};                       ///< over those DER bytes in order
  SessionTime dns_start = kNoTime;
  SessionTime connect_start = kNoTime;  ///< to that address, else to the first that was tried
  SessionTime tls_start = kNoTime;
  SessionTime ready = kNoTime;
  std::string failure;
};

/// What one question about a host's name, of one type (A, AAAA, HTTPS), came to.
struct DnsAnswer {
  std::uint32_t session = 0;
  std::string host;                    ///< lower case, no dot at its end
  std::uint16_t type = 0;              ///< as DNS numbers them
  std::optional<std::uint16_t> rcode;  ///< nothing when no server answered
  std::string failure;                 ///< why there are no records, one sentence
  std::vector<std::string> chain;      ///< CNAME targets, in order
  std::vector<std::string> addresses;  ///< "192.0.2.1", "2001:db8::1"
  std::vector<std::string> https;      ///< records as on the wire (RFC 9460 section 2.2)
  std::uint32_t ttl_s = 0;             ///< the least of all records used
  SessionTime asked = kNoTime;
  SessionTime answered = kNoTime;
};

/// The clock that the pages of a session lived on while it was recorded, by an injected script.
struct InjectedClock {
  std::chrono::milliseconds start{};  ///< what it shows when a document begins, since the epoch
  std::string mode;                   ///< how it goes on (inject/deterministic.h)
  bool operator==(const InjectedClock&) const = default;
};

struct SessionInfo {
  std::uint32_t number = 0;                       ///< filled by the writer
  std::chrono::system_clock::time_point started;  ///< the seed of the page's clock
  std::string tool_version;
  std::vector<std::string> command_line;
  std::uint64_t random_seed = 0;
  std::vector<std::string> pages;  ///< start URLs
  std::string time_zone;           ///< of the recording machine, by its IANA name; may be unknown
  std::optional<InjectedClock> injected_clock;  ///< nothing: no script was injected
  bool complete = false;                        ///< whether its end was recorded
};

}  // namespace reprise
