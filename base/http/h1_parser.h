#pragma once

// HTTP/1.x syntax (RFC 9112), pure: bytes in, views out. Requests must follow the grammar; a
// response can be read as browsers read it (proxy/http/ORIGINS.md).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/bytes.h"
#include "base/http/message.h"
#include "base/result.h"

namespace reprise {

enum class h1_errc {
  not_http = 1,   ///< the first line is not a request or status line
  bad_header,     ///< a field line without a name, with a space before the colon, or with NUL
  head_too_long,  ///< over kHeadBytesMax, or kHeadFieldsMax fields
  bad_framing,    ///< contradicting or malformed Content-Length, Transfer-Encoding
  bad_chunk,      ///< a malformed chunk size, or trailers over their limit
  bad_authority,  ///< no valid Host field
  bad_target,     ///< a request target that is neither a path nor an http or https URL
  not_a_proxy,    ///< CONNECT to a server that is no proxy
  unsupported_version,
  only_content,        ///< an origin sends a body and no head
  truncated,           ///< the peer ended inside a message
  contradicts_length,  ///< more or fewer bytes written than Content-Length says
};
const std::error_category& h1_category();
std::error_code make_error_code(h1_errc error);

inline constexpr std::size_t kHeadBytesMax = 1 << 20;
inline constexpr std::size_t kHeadFieldsMax = 10'000;
inline constexpr std::size_t kTrailerBytesMax = 64 << 10;

/// Finds the end of a head: the offset after its empty line, or nullopt if more bytes are needed.
/// `scanned` is where the last call stopped; start with 0. The empty line may have
/// `returns_max` carriage returns: recordings of other tools have had several.
std::optional<std::size_t> find_head_end(std::string_view buffer, std::size_t& scanned,
                                         std::size_t returns_max = 1);

struct RequestLine {
  std::string_view method;
  std::string_view target;  ///< any form of RFC 9112 section 3.2
  HttpVersion version = HttpVersion::kHttp11;
};

/// Parses a whole request head. Folded lines are refused (RFC 9112 section 5.2). `fields` is
/// cleared and filled with views into `head`.
Result<RequestLine> parse_request_head(std::span<const char> head, std::vector<HeaderView>& fields);

/// How a response is read.
enum class Tolerance : std::uint8_t {
  kStrict,      ///< by the grammar, so that all clients read it in the same way
  kAsBrowsers,  ///< an origin's, as Chromium would read it (ORIGINS.md)
};

/// Likewise a response head, in which folded lines are joined in place; `headers` of the result
/// views `fields`. As browsers: names that are not tokens are accepted, and the status can be
/// any number up to 65535. Errors: not_http, unsupported_version, bad_header, head_too_long.
Result<ResponseHead> parse_response_head(std::span<char> head, std::vector<HeaderView>& fields,
                                         Tolerance tolerance = Tolerance::kStrict);

/// Where the status line starts in an origin's bytes: at "HTTP" in any case, after at most four
/// other bytes.
std::optional<std::size_t> find_status_line(std::string_view text);

/// How long a body is (RFC 9112 section 6.3).
struct BodyFraming {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  std::uint64_t length_bytes = 0;  ///< of kLength
};
Result<BodyFraming> request_framing(HttpVersion version, HeaderList headers);
Result<BodyFraming> response_framing(std::string_view request_method, const ResponseHead& head,
                                     Tolerance tolerance = Tolerance::kStrict);
/// The length that a response's fields announce, even if there is no body (HEAD, 304).
Result<BodyFraming> announced_framing(const ResponseHead& head, Tolerance tolerance);

/// Whether the connection may carry another message after this one (RFC 9112 section 9.3).
bool keeps_alive(HttpVersion version, HeaderList headers);

/// A host name of at most 253 characters (RFC 1035 section 2.3.4), or an address, held in place.
class HostName {
 public:
  static constexpr std::size_t kCharactersMax = 253;
  operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT: it is a text
  std::string text() const { return std::string(std::string_view(*this)); }
  friend bool operator==(const HostName& name, std::string_view text) {
    return std::string_view(name) == text;
  }
  /// There must be room.
  void push_back(char c) { text_[size_++] = c; }

 private:
  std::array<char, kCharactersMax> text_;
  std::uint8_t size_ = 0;
};

struct Authority {
  HostName host;  ///< lower case, no brackets
  std::uint16_t port = 0;
};
/// Parses `host[:port]`. Errors: bad_authority for an empty name, bad bytes, or a bad port.
Result<Authority> parse_authority(std::string_view text, std::uint16_t port_if_absent);

/// Decodes the chunked transfer coding (RFC 9112 section 7.1) piece by piece. Extensions are
/// skipped. Returns views into the bytes that it is given.
class ChunkedDecoder {
 public:
  /// As browsers: trailers that cannot be forwarded are dropped.
  explicit ChunkedDecoder(Tolerance tolerance = Tolerance::kStrict) : tolerance_(tolerance) {}

  struct Step {
    std::size_t consumed = 0;  ///< bytes of the input that were used
    Bytes data;                ///< the content in them; can be empty
  };
  /// Reads up to the end of one piece of content, of the body, or of `input`.
  Result<Step> next(Bytes input);

  bool done() const { return state_ == State::kDone; }
  /// Valid once done.
  HeaderList trailers() const { return trailers_; }

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailers, kDone };
  /// Takes size lines, chunk ends and trailers up to the next content; returns the bytes used.
  Result<std::size_t> skip_framing(Bytes input);
  Result<void> end_line();
  Result<void> parse_trailers();

  Tolerance tolerance_;
  State state_ = State::kSize;
  bool broken_ = false;  // after the last piece
  std::uint64_t left_bytes_ = 0;
  std::string line_;  // of a size line that is split over reads
  std::string trailer_text_;
  std::vector<HeaderView> trailers_;
};

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::h1_errc> : std::true_type {};
