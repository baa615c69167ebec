#include "tools/wpr/printed_exchange.h"

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/edit/reply.h"
#include "tools/archive/coding.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise::wpr {
namespace {

/// `coded`: the body as stored. Writes nothing and returns false if it does not decode.
bool write_decoded(exporting::Job& job, Exchange exchange, std::span<const std::byte> coded,
                   exporting::Output& out) {
  auto& headers = exchange.response.headers;
  auto const plain = decode_body(headers.list(), coded);
  if (!plain) return false;
  headers = with_content_length(headers, plain->bytes.size());
  auto const message = exporting::response_message(job, exchange, "HTTP/1.1");
  std::string_view const body(reinterpret_cast<const char*>(plain->bytes.data()),
                              plain->bytes.size());
  out.write(message.head);
  if (!message.chunked) {
    out.write(body);
    return true;
  }
  if (!body.empty()) {
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", body.size());
    out.write(size);
    out.write(body);
    out.write("\r\n");
  }
  if (message.whole) out.write("0\r\n" + message.trailers + "\r\n");
  return true;
}

/// The body, or nothing if it is larger than what is held in memory.
std::optional<std::string> stored_bytes(exporting::Job& job, const StoredBody& body) {
  if (body.size_bytes > kPlainBodyBytesMax) return std::nullopt;
  std::string bytes;
  job.visit(body, [&bytes](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace

bool print_exchange(exporting::Job& job, const Exchange& exchange, bool decode,
                    exporting::Output& out) {
  using namespace exporting;
  if (!is_writable(exchange)) return true;
  out.write("----------------------------------------\n");
  write_message(job, request_message(job, exchange, AddHost::kAlways), out);
  out.write("\n");
  auto const& response = exchange.response;
  bool const coded = decode && response.body.size_bytes > 0 && may_have_content(exchange) &&
                     find_header(response.headers.list(), "Content-Encoding").has_value();
  bool decoded = false;
  if (coded) {
    auto const bytes = stored_bytes(job, response.body);
    if (job.failed()) return true;
    decoded = bytes && write_decoded(job, exchange, std::as_bytes(std::span(*bytes)), out);
    if (!decoded) {
      say_error("the body of " + safe_url(exchange.request) +
                " does not decode and is printed as stored");
    }
  }
  if (!decoded) write_message(job, response_message(job, exchange, "HTTP/1.1"), out);
  out.write("\n");
  return decoded == coded;
}

}  // namespace reprise::wpr
