#include "proxy/http/h1_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace reprise {
namespace {

constexpr std::size_t kChunkLineBytesMax = 4096;

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
        return "no usable Host";
      case h1_errc::unsupported_version:
        return "unsupported HTTP version";
      case h1_errc::truncated:
        return "the message ends early";
      case h1_errc::contradicts_length:
        return "the body is not as long as Content-Length says";
    }
    return "unknown";
  }
};

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c :
       {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> kTokenTable = make_token_table();

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return kTokenTable[static_cast<unsigned char>(c)];
  });
}

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes the next line, without its end, from `rest`.
std::string_view take_line(std::string_view& rest) {
  auto const end = rest.find('\n');
  auto line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view text_of(std::span<const char> chars) {
  return {chars.data(), chars.size()};
}

/// Makes each folded line (RFC 9112 section 5.2) one: its line end becomes spaces.
void unfold(std::span<char> head) {
  for (std::size_t i = 0; i + 1 < head.size(); ++i) {
    if (head[i] != '\n' || !is_space(head[i + 1])) continue;
    head[i] = ' ';
    if (i > 0 && head[i - 1] == '\r') head[i - 1] = ' ';
  }
}

/// Requests are held to the grammar; origins' responses are taken as browsers take them.
enum class Laxness { kStrict, kLax };

Result<void> parse_fields(std::string_view rest, Laxness rule, std::vector<HeaderView>& fields) {
  while (!rest.empty()) {
    auto const line = take_line(rest);
    if (line.empty()) break;
    auto const colon = line.find(':');
    if (colon == std::string_view::npos) {
      if (rule == Laxness::kLax) continue;  // as browsers do with an origin's stray line
      return fail(h1_errc::bad_header);
    }
    auto name = line.substr(0, colon);
    if (rule == Laxness::kLax) name = trim(name);
    auto const value = trim(line.substr(colon + 1));
    if (!is_token(name) || value.find('\0') != std::string_view::npos ||
        value.find('\r') != std::string_view::npos) {
      return fail(h1_errc::bad_header);
    }
    if (fields.size() == kHeadFieldsMax) return fail(h1_errc::head_too_long);
    fields.push_back({.name = name, .value = value});
  }
  return {};
}

std::optional<HttpVersion> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return HttpVersion::kHttp11;
  if (text == "HTTP/1.0") return HttpVersion::kHttp10;
  return std::nullopt;
}

/// The one Content-Length; lax: it may be repeated with the same value, as some origins do.
Result<std::optional<std::uint64_t>> content_length(HeaderList headers, Laxness rule) {
  std::optional<std::uint64_t> found;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "Content-Length")) continue;
    if (found && rule == Laxness::kStrict) return fail(h1_errc::bad_framing);
    std::string_view rest = field.value;
    if (rule == Laxness::kStrict && rest.find(',') != std::string_view::npos) {
      return fail(h1_errc::bad_framing);
    }
    do {
      auto const comma = std::min(rest.find(','), rest.size());
      auto const element = trim(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      std::uint64_t value = 0;
      auto const [end, error] =
          std::from_chars(element.data(), element.data() + element.size(), value);
      if (element.empty() || error != std::errc() || end != element.data() + element.size() ||
          (found && *found != value)) {
        return fail(h1_errc::bad_framing);
      }
      found = value;
    } while (!rest.empty());
  }
  return found;
}

/// Whether chunked is the last transfer coding; nullopt without any.
std::optional<bool> ends_chunked(HeaderList headers) {
  std::optional<std::string_view> last;
  for (const HeaderView& field : headers) {
    if (equals_ignoring_case(field.name, "Transfer-Encoding")) last = field.value;
  }
  if (!last) return std::nullopt;
  auto const comma = last->rfind(',');
  auto const coding = trim(comma == std::string_view::npos ? *last : last->substr(comma + 1));
  return equals_ignoring_case(coding, "chunked");
}

}  // namespace

const std::error_category& h1_category() {
  static const H1Category category;
  return category;
}

std::error_code make_error_code(h1_errc error) {
  return {static_cast<int>(error), h1_category()};
}

std::optional<std::size_t> find_head_end(std::string_view buffer, std::size_t& scanned) {
  auto at = scanned;
  while (true) {
    at = buffer.find('\n', at);
    if (at == std::string_view::npos) {
      scanned = buffer.size();
      return std::nullopt;
    }
    auto const rest = buffer.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
    if (rest.empty() || rest == "\r") {
      scanned = at;
      return std::nullopt;
    }
    ++at;
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
  if (auto const parsed = parse_fields(rest, Laxness::kStrict, fields); !parsed) {
    return fail(parsed.error());
  }
  return request;
}

Result<ResponseHead> parse_response_head(std::span<char> head, std::vector<HeaderView>& fields) {
  fields.clear();
  unfold(head);
  std::string_view rest = text_of(head);
  auto line = take_line(rest);
  auto const space = std::min(line.find(' '), line.size());
  if (!line.starts_with("HTTP/")) return fail(h1_errc::not_http);
  auto const version = parse_version(line.substr(0, space));
  if (!version) return fail(h1_errc::unsupported_version);
  line.remove_prefix(std::min(space + 1, line.size()));
  auto const digits = line.substr(0, 3);
  std::uint16_t status = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  if (error != std::errc() || end != digits.data() + 3 || status < 100 ||
      (line.size() > 3 && line[3] != ' ')) {
    return fail(h1_errc::not_http);
  }
  line.remove_prefix(std::min<std::size_t>(4, line.size()));
  if (auto const parsed = parse_fields(rest, Laxness::kLax, fields); !parsed) {
    return fail(parsed.error());
  }
  return ResponseHead{.version = *version, .status = status, .reason = line, .headers = fields};
}

Result<BodyFraming> request_framing(HttpVersion version, HeaderList headers) {
  // A body that two parsers could see two ways is how requests are smuggled: one Content-Length of
  // digits, or one Transfer-Encoding that is chunked and nothing else, or neither.
  auto const length = content_length(headers, Laxness::kStrict);
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

Result<BodyFraming> response_framing(std::string_view request_method, const ResponseHead& head) {
  if (!may_have_body(request_method, head.status)) return BodyFraming{};
  if (auto const chunked = ends_chunked(head.headers)) {
    return BodyFraming{.kind =
                           *chunked ? BodyFraming::Kind::kChunked : BodyFraming::Kind::kUntilClose};
  }
  auto const length = content_length(head.headers, Laxness::kLax);
  if (!length) return fail(length.error());
  if (!*length) return BodyFraming{.kind = BodyFraming::Kind::kUntilClose};
  if (**length == 0) return BodyFraming{};
  return BodyFraming{.kind = BodyFraming::Kind::kLength, .length_bytes = **length};
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
    bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool const fits = letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                      (bracketed && c == ':');
    if (!fits) return fail(h1_errc::bad_authority);
    authority.host.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
  }
  return authority;
}

Result<void> ChunkedDecoder::end_line() {
  std::string_view line = line_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  switch (state_) {
    case State::kSize: {
      auto const digits = trim(line.substr(0, line.find(';')));
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
        unfold(trailer_text_);
        if (auto const parsed = parse_fields(trailer_text_, Laxness::kLax, trailers_); !parsed) {
          return parsed;
        }
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
      // What ends the body may be here already: then the caller learns it with its last piece.
      if (left_bytes_ == 0 && step.consumed < input.size()) {
        // What is wrong with it is told by the next call: the piece itself is good.
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
    auto const rest = as_text(input.subspan(used));
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
