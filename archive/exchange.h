#pragma once

// The shared vocabulary: the recorded data of one HTTP exchange, of its connection, and of its
// session. Plain values. Times are nanoseconds since the start of the session; kNoTime means
// unknown.

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
#include "base/http/resource_type.h"
#include "base/http/version.h"

namespace reprise {

using SessionTime = std::chrono::nanoseconds;
inline constexpr SessionTime kNoTime = SessionTime::min();

/// How an exchange ended. Incomplete exchanges are served as what they were
/// (archive/match/MATCHING.md).
enum class Outcome : std::uint8_t {
  kComplete = 1,
  kCutByClient = 2,   ///< the client closed before the last byte
  kCutByOrigin = 3,   ///< the origin cut the response or broke the protocol in it
  kOriginFailed = 4,  ///< no response: look-up, connect, TLS or the first head failed
};

std::string_view to_string(Outcome outcome);

/// The place of a piece of a body: the offset of its record, and the number of body bytes in that
/// record.
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

/// When body bytes arrived: `end_bytes` of the body were received at `time`.
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
  /// The protocol that the client requested: "websocket" (web_socket.h), or empty. Such a request
  /// has the method CONNECT, as in RFC 8441 section 4, over any version.
  std::string protocol;
  Headers headers;
  Headers trailers;
  StoredBody body;
  /// It was answered, cut or failed before its content was complete, so the length of the received
  /// part is random: such a request is found by its key without the body (match.h).
  bool body_partial = false;
};

/// "example.org:8443", "[2001:db8::1]": an authority (RFC 3986 section 3.2), with the port unless
/// it is the default.
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
  std::uint16_t status = 0;  ///< 0 if the origin failed
  std::string reason;
  HttpVersion version = HttpVersion::kUnknown;
  Headers headers;
  Headers trailers;
  StoredBody body;
  std::vector<ChunkTime> chunk_times;  ///< at most kChunkTimesMax, later ones are merged
  /// The size of the body that arrived at those times, if an edit has put another in its place.
  std::optional<std::uint64_t> timed_bytes;

  /// The size of the body that `chunk_times` divide.
  std::uint64_t timed_size_bytes() const { return timed_bytes.value_or(body.size_bytes); }
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
  std::uint64_t client_connection_id = 0;  ///< 0 if unknown
  std::uint64_t stream_id = 0;             ///< h2 stream, or the request's number on h1, from 1
  std::uint64_t origin_connection_id = 0;  ///< 0 if there was no connection
  StoredRequest request;
  std::vector<StoredInterimResponse> interim;
  StoredReply response;
  Timings timings;
  Outcome outcome = Outcome::kComplete;
  std::string failure;  ///< one sentence, empty if complete
};

/// By the protocol, the request's fields, and the response's media type.
ResourceType resource_type(const Exchange& exchange);

/// One connection to an origin, attempted or made.
struct ConnectionFacts {
  std::uint64_t id = 0;  ///< unique in the session, from 1
  std::uint32_t session = 0;
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string address;      ///< "192.0.2.1:443", empty if none was reached
  std::string alpn;         ///< the origin's choice, empty if none
  std::string tls_version;  ///< "TLSv1.3", empty for plain text
  std::string cipher;
  std::vector<std::string> certificate_names;  ///< DNS and IP names of the leaf, as recorded
  std::uint32_t chain_bytes = 0;               ///< DER length of all certificates sent
  Sha256 chain_digest{};                       ///< over those DER bytes in order
  SessionTime dns_start = kNoTime;
  SessionTime connect_start = kNoTime;  ///< to that address, else to the first attempted one
  SessionTime tls_start = kNoTime;
  SessionTime ready = kNoTime;
  /// As TCP measured it in its handshake, however late the recorder noticed the connection; nothing
  /// if unknown, as in imports.
  std::optional<std::chrono::nanoseconds> round_trip;
  std::string failure;
};

/// The result of one DNS query, of one type (A, AAAA, HTTPS), for a host.
struct DnsAnswer {
  std::uint32_t session = 0;
  std::string host;                    ///< lower case, no dot at its end
  std::uint16_t type = 0;              ///< the number in DNS
  std::optional<std::uint16_t> rcode;  ///< nothing if no server answered
  std::string failure;                 ///< why there are no records, one sentence
  std::vector<std::string> chain;      ///< CNAME targets, in order
  std::vector<std::string> addresses;  ///< "192.0.2.1", "2001:db8::1"
  std::vector<std::string> https;      ///< records as on the wire (RFC 9460 section 2.2)
  std::uint32_t ttl_s = 0;             ///< the smallest of all records used
  SessionTime asked = kNoTime;
  SessionTime answered = kNoTime;
};

/// The clock that an injected script gave to the session's pages during the recording.
struct InjectedClock {
  std::chrono::milliseconds start{};  ///< its time at the start of a document, since the epoch
  std::string mode;                   ///< how it advances (inject/deterministic.h)
  bool operator==(const InjectedClock&) const = default;
};

struct SessionInfo {
  std::uint32_t number = 0;                       ///< filled by the writer
  std::chrono::system_clock::time_point started;  ///< the seed of the page's clock
  std::string tool_version;
  std::vector<std::string> command_line;
  std::uint64_t random_seed = 0;
  std::vector<std::string> pages;  ///< start URLs
  std::string time_zone;           ///< of the recording machine, by its IANA name; can be unknown
  std::optional<InjectedClock> injected_clock;  ///< nothing: no script was injected
  bool complete = false;                        ///< whether its end was recorded
};

}  // namespace reprise
