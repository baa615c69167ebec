#include "tools/archive/messages.h"

#include <openssl/evp.h>

#include <cstdio>

#include "base/bytes.h"
#include "base/text/base64.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"
#include "proxy/http/web_socket.h"
#include "tools/archive/text.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kShownMax = 100;
constexpr std::size_t kShownBytesMax = 60;

/// Its contents, shortened.
std::string preview(const WebSocketMessage& message) {
  if (message.kind == MessageKind::kClose) {
    auto const code = close_code_of(message.payload);
    if (!code) return {};
    return std::to_string(*code) + " " + printable(text_of(message.payload.subspan(2)));
  }
  auto const start = message.payload.first(std::min(message.payload.size(), kShownBytesMax));
  return printable(text_of(start)) + (start.size() < message.payload.size() ? "..." : "") +
         (message.fin ? "" : " (more follows)");
}

json::object json_of(const WebSocketMessage& message) {
  return {{"from", std::string(to_string(message.sender))},
          {"kind", std::string(to_string(message.kind))},
          {"ns", message.time == kNoTime ? json::value() : json::value(message.time.count())},
          {"size_bytes", message.payload.size()},
          {"goes_on", !message.fin}};
}

}  // namespace

MessageTally messages_of(const ArchiveReader& reader, const MessageOwner& owner) {
  MessageTally tally;
  for (auto const& place : reader.messages(owner)) {
    auto const message = reader.message(place);
    if (!message || !is_data(message->kind)) continue;
    tally.bytes += message->payload.size();
    if (message->fin) ++tally.count;
  }
  return tally;
}

void print_messages(const ArchiveReader& reader, const MessageOwner& owner) {
  auto const places = reader.messages(owner);
  if (places.empty()) return;
  auto const tally = messages_of(reader, owner);
  std::printf("\nmessages: %llu, %s\n", static_cast<unsigned long long>(tally.count),
              counted(tally.bytes, "byte").c_str());
  for (auto const& place : places.first(std::min(places.size(), kShownMax))) {
    auto const message = reader.message(place);
    if (!message) {
      std::printf("  (damaged)\n");
      continue;
    }
    std::printf("  %s  %s %s %s  %s\n", align_right(milliseconds(message->time), 14).c_str(),
                message->sender == MessageSender::kClient ? ">" : "<",
                align_left(std::string(to_string(message->kind)), 6).c_str(),
                align_right(std::to_string(message->payload.size()), 8).c_str(),
                preview(*message).c_str());
  }
  if (places.size() > kShownMax) {
    std::printf("  ... %zu more; `cat --messages` prints all\n", places.size() - kShownMax);
  }
}

json::array messages_json(const ArchiveReader& reader, const MessageOwner& owner) {
  json::array list;
  for (auto const& place : reader.messages(owner)) {
    auto const message = reader.message(place);
    list.push_back(message ? json::value(json_of(*message)) : json::value());
  }
  return list;
}

int cat_messages(const OpenArchive& archive, const Exchange& exchange, std::size_t number) {
  auto const places = archive.reader->messages({exchange.session, exchange.sequence});
  for (auto const& place : places) {
    auto const message = archive.reader->message(place);
    if (!message) {
      report_damaged(archive, number);
      return kExitArchive;
    }
    auto line = json_of(*message);
    if (is_utf8(text_of(message->payload))) {
      line["text"] = text_of(message->payload);
    } else {
      line["base64"] = base64(message->payload);
    }
    std::printf("%s\n", json::serialize(line).c_str());
  }
  return kExitDone;
}

}  // namespace reprise
