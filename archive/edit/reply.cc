#include "archive/edit/reply.h"

#include <charconv>
#include <vector>

#include "base/http/h1_syntax.h"
#include "base/http/message.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

bool fits_in_a_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos &&
         trim_blanks(text) == text;
}

}  // namespace

std::optional<std::string> head_text(const StoredReply& reply) {
  if (!fits_in_a_line(reply.reason)) return std::nullopt;
  auto text = std::to_string(reply.status);
  if (!reply.reason.empty()) text += " " + reply.reason;
  text += "\n";
  for (const HeaderView& field : reply.headers.list()) {
    if (field.name.empty() || field.name.contains(':') || !fits_in_a_line(field.name) ||
        !fits_in_a_line(field.value)) {
      return std::nullopt;
    }
    text.append(field.name).append(field.value.empty() ? ":" : ": ").append(field.value);
    text += "\n";
  }
  return text;
}

std::expected<ReplyHead, HeadFault> parse_head_text(std::string_view text) {
  auto const fault = [](std::size_t line, const char* what) {
    return std::unexpected(HeadFault{.line = line, .what = what});
  };
  ReplyHead head;
  auto const first = trim_blanks(take_line(text));
  auto const [end, error] = std::from_chars(first.data(), first.data() + first.size(), head.status);
  auto const rest = first.substr(static_cast<std::size_t>(end - first.data()));
  if (error != std::errc() || head.status < 200 || head.status > 999 ||
      (!rest.empty() && !is_blank(rest.front()))) {
    return fault(1,
                 "the first line must be a status of 200 or more and its reason, such as: 200 OK");
  }
  head.reason = trim_blanks(rest);
  std::vector<HeaderView> fields;
  std::size_t blank_line = 0;
  for (std::size_t number = 2; !text.empty(); ++number) {
    auto const line = take_line(text);
    if (line.empty()) {
      if (blank_line == 0) blank_line = number;
      continue;
    }
    if (blank_line != 0) return fault(blank_line, "the head contains an empty line");
    auto const colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) {
      return fault(number, "a field must be a line 'Name: value'");
    }
    HeaderView const field{.name = line.substr(0, colon),
                           .value = trim_blanks(line.substr(colon + 1))};
    if (!fits_in_a_line(field.name) || !fits_in_a_line(field.value)) {
      return fault(number,
                   "a space before the colon, or a character that is not allowed in a field");
    }
    fields.push_back(field);
  }
  head.headers = Headers(fields);
  return head;
}

Headers with_content_length(const Headers& headers, std::uint64_t size_bytes) {
  auto const size = std::to_string(size_bytes);
  std::vector<HeaderView> fields(headers.list().begin(), headers.list().end());
  for (HeaderView& field : fields) {
    if (equals_ignoring_case(field.name, "content-length")) field.value = size;
  }
  return Headers(fields);
}

void replace_body(StoredReply& reply, StoredBody body) {
  if (body.size_bytes == 0) reply.chunk_times.clear();
  std::optional<std::uint64_t> timed_bytes;
  bool const differs = reply.timed_size_bytes() != body.size_bytes;
  if (differs && !reply.chunk_times.empty()) timed_bytes = reply.timed_size_bytes();
  reply.timed_bytes = timed_bytes;
  reply.body = std::move(body);
}

void set_body(StoredReply& reply, StoredBody body) {
  reply.headers = with_content_length(reply.headers, body.size_bytes);
  replace_body(reply, std::move(body));
}

Result<StoredBody> store_body(ArchiveWriter& to, std::span<const std::byte> bytes) {
  BodyWriter writer(to);
  if (auto appended = writer.append(bytes); !appended) return fail(appended.error());
  return writer.finish();
}

Result<void> EditedCopy::carry(std::uint32_t ordinal, Exchange& exchange) {
  if (ordinal != ordinal_) return carry_bodies(exchange);
  auto& reply = exchange.response;
  reply.status = head_.status;
  reply.reason = head_.reason;
  reply.headers = head_.headers;
  auto request_body = copy_body(from(), exchange.request.body, to());
  if (!request_body) return fail(request_body.error());
  exchange.request.body = std::move(*request_body);
  auto body = body_ ? store_body(to(), *body_) : copy_body(from(), reply.body, to());
  if (!body) return fail(body.error());
  // For a cut response, Content-Length is the length it should have had.
  if (body_ && completes_) {
    exchange.outcome = Outcome::kComplete;
    exchange.failure.clear();
  }
  bool const is_whole = body_ || exchange.outcome == Outcome::kComplete;
  if (is_whole && may_have_body(exchange.request.method, reply.status)) {
    set_body(reply, std::move(*body));
  } else {
    replace_body(reply, std::move(*body));
  }
  return {};
}

}  // namespace reprise
