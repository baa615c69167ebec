#include "base/http/h1_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/http/h1_syntax.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::size_t kChunkLineBytesMax = 4096;

/// By character: itself, letters in lower case; 0 for those that host names do not have.
constexpr auto kLowerOfHosts = [] {
  std::array<char, 256> lower{};
  for (char c = 'a'; c <= 'z'; ++c) lower[c] = lower[c - 'a' + 'A'] = c;
  for (char c = '0'; c <= '9'; ++c) lower[c] = c;
  for (char const c : {'-', '.', '_'}) lower[c] = c;
  return lower;
}();

class H1Category final : public std::error_category {
  const char* name() const noexcept override { return "http/1.1"; }
  std::string message(int code) const override {
    switch (static_cast<h1_errc>(code)) {
      case h1_errc::not_http:
        return "this is not HTTP";
      case h1_errc::bad_header:
        return "malformed header field";
      case h1_errc::head_too_long:
        return "the head is too long";
      case h1_errc::bad_framing:
        return "contradicting or malformed Content-Length or Transfer-Encoding";
      case h1_errc::bad_chunk:
        return "malformed chunked coding";
      case h1_errc::bad_authority:
        return "no valid Host field";
      case h1_errc::bad_target:
        return "the request target is neither a path nor an http or https URL";
      case h1_errc::not_a_proxy:
        return "this listener is not a proxy: use the address of --proxy";
      case h1_errc::unsupported_version:
        return "unsupported HTTP version";
      case h1_errc::only_content:
        return "a body without a head";
      case h1_errc::truncated:
        return "the message ends early";
      case h1_errc::contradicts_length:
        return "the body is not as long as Content-Length says";
    }
    return "unknown";
  }
};

/// The one Content-Length, digits only.
Result<std::optional<std::uint64_t>> content_length(HeaderList headers) {
  std::optional<std::uint64_t> found;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "Content-Length")) continue;
    auto const length = parse_length(field.value);
    if (found || !length) return fail(h1_errc::bad_framing);
    found = length;
  }
  return found;
}

}  // namespace

const std::error_category& h1_category() {
  static const H1Category category;
  return category;
}

std::error_code make_error_code(h1_errc error) {
  return {static_cast<int>(error), h1_category()};
}

std::optional<std::size_t> find_head_end(std::string_view buffer, std::size_t& scanned,
                                         std::size_t returns_max) {
  for (auto at = scanned;; ++at) {
    at = buffer.find('\n', at);
    if (at == std::string_view::npos) {
      scanned = buffer.size();
      return std::nullopt;
    }
    auto const rest = buffer.substr(at + 1);
    auto const returns = std::min(rest.find_first_not_of('\r'), rest.size());
    if (returns > returns_max) continue;
    if (returns == rest.size()) {
      scanned = at;
      return std::nullopt;
    }
    if (rest[returns] == '\n') return at + returns + 2;
  }
}

Result<RequestLine> parse_request_head(std::span<const char> head,
                                       std::vector<HeaderView>& fields) {
  fields.clear();
  std::string_view rest = text_of(head);
  auto const line = take_line(rest);
  auto const method_end = line.find(' ');
  auto const target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || target_end <= method_end + 1) {
    return fail(h1_errc::not_http);
  }
  RequestLine request{.method = line.substr(0, method_end),
                      .target = line.substr(method_end + 1, target_end - method_end - 1)};
  auto const version_text = line.substr(target_end + 1);
  if (!is_token(request.method) || !version_text.starts_with("HTTP/")) {
    return fail(h1_errc::not_http);
  }
  auto const version = parse_version(version_text);
  if (!version) return fail(h1_errc::unsupported_version);
  request.version = *version;
  auto const printable = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; };
  if (!std::ranges::all_of(request.target, printable)) return fail(h1_errc::not_http);
  if (auto const parsed = parse_fields_strictly(rest, fields); !parsed) {
    return fail(parsed.error());
  }
  return request;
}

Result<BodyFraming> request_framing(HttpVersion version, HeaderList headers) {
  // Requests are smuggled by bodies that two parsers read differently: so there must be one
  // Content-Length of digits, or one Transfer-Encoding that is exactly chunked, or neither.
  auto const length = content_length(headers);
  if (!length) return fail(length.error());
  std::size_t codings = 0;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "Transfer-Encoding")) continue;
    if (++codings > 1 || !equals_ignoring_case(field.value, "chunked")) {
      return fail(h1_errc::bad_framing);
    }
  }
  if (codings > 0) {
    if (*length || version == HttpVersion::kHttp10) return fail(h1_errc::bad_framing);
    return BodyFraming{.kind = BodyFraming::Kind::kChunked};
  }
  if (*length && **length > 0) {
    return BodyFraming{.kind = BodyFraming::Kind::kLength, .length_bytes = **length};
  }
  return BodyFraming{};
}

bool keeps_alive(HttpVersion version, HeaderList headers) {
  if (header_has_token(headers, "Connection", "close")) return false;
  return version != HttpVersion::kHttp10 || header_has_token(headers, "Connection", "keep-alive");
}

Result<Authority> parse_authority(std::string_view text, std::uint16_t port_if_absent) {
  Authority authority{.host = {}, .port = port_if_absent};
  std::string_view host = text;
  std::string_view port;
  bool const bracketed = text.starts_with('[');
  if (bracketed) {
    auto const close = text.find(']');
    if (close == std::string_view::npos) return fail(h1_errc::bad_authority);
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':') return fail(h1_errc::bad_authority);
    if (!port.empty()) port.remove_prefix(1);
  } else if (auto const colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (!port.empty()) {
    auto const [end, error] =
        std::from_chars(port.data(), port.data() + port.size(), authority.port);
    if (error != std::errc() || end != port.data() + port.size() || authority.port == 0) {
      return fail(h1_errc::bad_authority);
    }
  }
  if (host.empty() || host.size() > HostName::kCharactersMax) return fail(h1_errc::bad_authority);
  for (const char c : host) {
    char const lower = bracketed && c == ':' ? c : kLowerOfHosts[static_cast<unsigned char>(c)];
    if (lower == '\0') return fail(h1_errc::bad_authority);
    authority.host.push_back(lower);
  }
  return authority;
}

Result<void> ChunkedDecoder::end_line() {
  std::string_view line = line_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  switch (state_) {
    case State::kSize: {
      auto const digits = trim_blanks(line.substr(0, line.find(';')));
      auto const [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), left_bytes_, 16);
      if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
        return fail(h1_errc::bad_chunk);
      }
      state_ = left_bytes_ > 0 ? State::kData : State::kTrailers;
      break;
    }
    case State::kDataEnd:
      if (!line.empty()) return fail(h1_errc::bad_chunk);
      state_ = State::kSize;
      break;
    case State::kTrailers:
      if (line.empty()) {
        if (auto const parsed = parse_trailers(); !parsed) return parsed;
        state_ = State::kDone;
        break;
      }
      if (trailer_text_.size() + line_.size() > kTrailerBytesMax) return fail(h1_errc::bad_chunk);
      trailer_text_.append(line).push_back('\n');
      break;
    case State::kData:
    case State::kDone:
      break;
  }
  line_.clear();
  return {};
}

Result<void> ChunkedDecoder::parse_trailers() {
  if (tolerance_ == Tolerance::kStrict) return parse_fields_strictly(trailer_text_, trailers_);
  auto const parsed = parse_fields_as_browsers(trailer_text_, trailers_);
  std::erase_if(trailers_, [](const HeaderView& field) { return !is_sendable(field); });
  return parsed;
}

Result<ChunkedDecoder::Step> ChunkedDecoder::next(Bytes input) {
  if (broken_) return fail(h1_errc::bad_chunk);
  Step step;
  while (state_ != State::kDone && step.consumed < input.size()) {
    auto const rest = input.subspan(step.consumed);
    if (state_ == State::kData) {
      auto const count =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, rest.size()));
      step.data = rest.first(count);
      step.consumed += count;
      left_bytes_ -= count;
      if (left_bytes_ == 0) state_ = State::kDataEnd;
      // The end of the body may already be in the input: then report it with the last piece.
      if (left_bytes_ == 0 && step.consumed < input.size()) {
        // An error there is reported by the next call: this piece is valid.
        auto const ahead = skip_framing(input.subspan(step.consumed));
        broken_ = !ahead;
        step.consumed += ahead.value_or(0);
      }
      return step;
    }
    auto const used = skip_framing(rest);
    if (!used) return fail(used.error());
    step.consumed += *used;
  }
  return step;
}

Result<std::size_t> ChunkedDecoder::skip_framing(Bytes input) {
  std::size_t used = 0;
  while (used < input.size() && state_ != State::kData && state_ != State::kDone) {
    auto const rest = text_of(input.subspan(used));
    auto const end = rest.find('\n');
    auto const piece = rest.substr(0, end);
    auto const limit = state_ == State::kTrailers ? kTrailerBytesMax : kChunkLineBytesMax;
    if (line_.size() + piece.size() > limit) return fail(h1_errc::bad_chunk);
    line_.append(piece);
    used += piece.size();
    if (end == std::string_view::npos) break;
    ++used;
    if (auto const ended = end_line(); !ended) return fail(ended.error());
  }
  return used;
}

}  // namespace reprise
