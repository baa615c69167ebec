#include "proxy/http/handler.h"

#include <array>
#include <string>

namespace reprise {
namespace {

/// Empty `proxy_status`: none.
Task<void> send_own(ResponseWriter& writer, std::uint16_t status, std::string_view type,
                    std::string_view body, std::string_view proxy_status = {}) {
  auto const length = std::to_string(body.size());
  std::array<HeaderView, 4> const fields{{{"Content-Type", type},
                                          {"Content-Length", length},
                                          {"Cache-Control", "no-store"},
                                          {"Proxy-Status", proxy_status}}};
  ResponseHead const head{
      .status = status,
      .reason = reason_phrase(status),
      .headers = std::span(fields).first(proxy_status.empty() ? fields.size() - 1 : fields.size())};
  if (auto const sent = co_await writer.send_head(head); !sent) co_return sent;
  if (auto const sent = co_await writer.write(bytes_of(body)); !sent) co_return sent;
  co_return co_await writer.finish({});
}

/// A string in a structured field (RFC 8941 section 3.3.3), which contains only ASCII.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + '"';
}

}  // namespace

Task<void> send_text(ResponseWriter& writer, std::uint16_t status, std::string_view text) {
  return send_own(writer, status, "text/plain; charset=utf-8", text);
}

Task<void> send_bad_gateway(ResponseWriter& writer, std::string_view why) {
  auto const text = "reprise: " + std::string(why) + "\n";
  auto const status = "reprise; error=destination_unavailable; details=" + quoted(why);
  co_return co_await send_own(writer, 502, "text/plain; charset=utf-8", text, status);
}

Task<void> send_json(ResponseWriter& writer, std::uint16_t status, std::string_view json) {
  return send_own(writer, status, "application/json", json);
}

std::string_view reason_phrase(std::uint16_t status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 103:
      return "Early Hints";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 451:
      return "Unavailable For Legal Reasons";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 508:
      return "Loop Detected";
    default:
      return "";
  }
}

}  // namespace reprise
