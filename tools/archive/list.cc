#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "base/http/media_type.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "base/text/times.h"
#include "tools/archive/messages.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kTypeWidth = 24;

/// For an exchange that opened a WebSocket, the number of its messages.
std::string kind_of(const ArchiveReader& reader, const Exchange& exchange) {
  if (!opens_web_socket(exchange)) return printable(media_type(exchange.response.headers.list()));
  auto const tally = messages_of(reader, {exchange.session, exchange.sequence});
  return "websocket, " + counted(tally.count, "message");
}

std::string line_of(const ArchiveReader& reader, const Exchange& exchange, std::size_t number,
                    std::size_t number_width) {
  auto const& response = exchange.response;
  auto const status = response.status == 0 ? "-" : std::to_string(response.status);
  return align_right(std::to_string(number), number_width) + "  " + align_right(status, 3) + "  " +
         align_left(printable(exchange.request.method), 7) + " " +
         align_left(kind_of(reader, exchange), kTypeWidth) + " " +
         align_right(std::to_string(response.body.size_bytes), 10) + "  " +
         align_left(std::string(to_string(exchange.outcome)), 13) + "  " +
         printable(url_of(exchange.request));
}

json::object json_of(const ArchiveReader& reader, const Exchange& exchange, std::size_t number) {
  json::object line{{"number", number},
                    {"session", exchange.session},
                    {"sequence", exchange.sequence},
                    {"status", exchange.response.status},
                    {"method", as_utf8(exchange.request.method)},
                    {"url", as_utf8(url_of(exchange.request))},
                    {"version", std::string(to_string(exchange.response.version))},
                    {"type", as_utf8(media_type(exchange.response.headers.list()))},
                    {"size_bytes", exchange.response.body.size_bytes},
                    {"outcome", std::string(to_string(exchange.outcome))}};
  if (opens_web_socket(exchange)) {
    line["messages"] = messages_of(reader, {exchange.session, exchange.sequence}).count;
  }
  return line;
}

std::string session_line(const OpenArchive& archive, std::uint32_t number) {
  auto const& sessions = archive.reader->sessions();
  auto const found = std::ranges::find(sessions, number, &SessionInfo::number);
  auto line = "# session " + std::to_string(number);
  if (found == sessions.end()) return line + ": its start is lost";
  return line + ", " + utc_time(found->started) + (found->complete ? "" : ", incomplete");
}

}  // namespace

int list_exchanges(const OpenArchive& archive, const Filter& filter, bool as_json) {
  auto const ordinals = archive.reader->ordinals_in_order();
  auto const number_width = std::to_string(ordinals.size()).size();
  auto const several_sessions = archive.reader->sessions().size() > 1;
  std::uint32_t session = 0;
  auto const* separator = "[\n";
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    auto const exchange = archive.reader->exchange(ordinals[i]);
    if (!exchange) {
      report_damaged(archive, i + 1);
      continue;
    }
    if (!filter.takes(*exchange, i + 1)) continue;
    if (!as_json && several_sessions && exchange->session != session) {
      session = exchange->session;
      std::printf("%s\n", session_line(archive, session).c_str());
    }
    if (as_json) {
      std::printf("%s%s", separator,
                  json::serialize(json_of(*archive.reader, *exchange, i + 1)).c_str());
      separator = ",\n";
    } else {
      std::printf("%s\n", line_of(*archive.reader, *exchange, i + 1, number_width).c_str());
    }
  }
  if (as_json) std::printf("%s", *separator == '[' ? "[]\n" : "\n]\n");
  return kExitDone;
}

}  // namespace reprise
