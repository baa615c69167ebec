#include "archive/export/message.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/http/h1_syntax.h"

namespace reprise::exporting {
namespace {

/// `text` on one line.
std::string line_text(Job& job, std::string_view text) {
  std::string out(text);
  constexpr std::string_view kEnds("\r\n\0", 3);
  if (out.find_first_of(kEnds) == std::string::npos) return out;
  std::ranges::replace_if(
      out, [kEnds](char c) { return kEnds.find(c) != std::string_view::npos; }, ' ');
  job.report().lose(Loss::kText);
  return out;
}

std::string field_lines(Job& job, HeaderList fields) {
  std::string lines;
  for (const HeaderView& field : fields) {
    if (!is_token(field.name)) {
      job.report().lose(Loss::kText);
      continue;
    }
    lines.append(field.name).append(": ").append(line_text(job, field.value)).append("\r\n");
  }
  return lines;
}

bool is_multiplexed(HttpVersion version) {
  return version == HttpVersion::kH2 || version == HttpVersion::kH3;
}

/// Adds body and trailers to `message`, chunked if its fields say so.
void add_content(Job& job, const Headers& headers, const Headers& trailers, const StoredBody& body,
                 Message& message) {
  message.body = &body;
  message.chunked = header_has_token(headers.list(), "Transfer-Encoding", "chunked");
  if (trailers.empty()) return;
  if (message.chunked && message.whole) {
    message.trailers = field_lines(job, trailers.list());
  } else {
    job.report().lose(Loss::kTrailers);
  }
}

}  // namespace

bool is_writable(const Exchange& exchange) {
  constexpr std::string_view kOfUrls = "/?#@[]\\<>\"%";
  auto const& host = exchange.request.host;
  auto const fits = [kOfUrls](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && kOfUrls.find(c) == std::string_view::npos;
  };
  return is_token(exchange.request.method) && !host.empty() && std::ranges::all_of(host, fits);
}

std::string authority_of(const StoredRequest& request) {
  auto const url = safe_url(request);
  auto const begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

Message request_message(Job& job, const Exchange& exchange, AddHost add_host) {
  auto const& request = exchange.request;
  auto const url = safe_url(request);
  auto const target = request.target == "*" ? "*" : url.substr(url.find('/', url.find("://") + 3));
  auto const* const version = request.version == HttpVersion::kHttp10 ? "HTTP/1.0" : "HTTP/1.1";
  job.lose_messages(exchange);
  Message message{.head = std::string(method_of(request)) + " " + target + " " + version + "\r\n"};
  bool const wants_host = add_host == AddHost::kAlways || is_multiplexed(request.version);
  if (wants_host && !find_header(request.headers.list(), "Host")) {
    message.head += "Host: " + authority_of(request) + "\r\n";
  }
  message.head += field_lines(job, request.headers.list()) + "\r\n";
  message.whole = !request.body_partial;
  add_content(job, request.headers, request.trailers, request.body, message);
  return message;
}

Message response_message(Job& job, const Exchange& exchange, std::string_view version) {
  auto const& response = exchange.response;
  Message message;
  message.head.append(version).append(" ").append(std::to_string(response.status)).append(" ");
  message.head += line_text(job, response.reason) + "\r\n";
  message.head += field_lines(job, response.headers.list()) + "\r\n";
  if (!may_have_content(exchange)) return message;
  message.whole = exchange.outcome == Outcome::kComplete;
  add_content(job, response.headers, response.trailers, response.body, message);
  return message;
}

bool write_message(Job& job, const Message& message, Output& to) {
  to.write(message.head);
  if (message.body == nullptr) return true;
  if (message.chunked && message.body->size_bytes > 0) {
    std::array<char, 20> digits{};
    auto const end = std::to_chars(digits.begin(), digits.end(), message.body->size_bytes, 16).ptr;
    to.write(std::string(digits.begin(), end) + "\r\n");
  }
  if (!job.visit(*message.body, [&to](std::string_view piece) { to.write(piece); })) return false;
  if (message.chunked && message.body->size_bytes > 0) to.write("\r\n");
  if (message.chunked && message.whole) to.write("0\r\n" + message.trailers + "\r\n");
  return true;
}

}  // namespace reprise::exporting
