#include "archive/import/mitmproxy_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "archive/import/collect/field_list.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kHeldBytesMax = 16 << 20;

/// A body that may come before the headers with its coding: held until they are known, or until it
/// is too long.
class HeldBody {
 public:
  explicit HeldBody(Collector& collector) : collector_(collector) {}

  void append(std::string_view bytes, const Fields& fields) {
    known_ = true;
    if (feed_) {
      collector_.took(feed_->append(bytes));
      return;
    }
    held_ += bytes;
    if (held_.size() > kHeldBytesMax) let_go(fields);
  }
  void mark_known() { known_ = true; }
  FoundBody finish(const Fields& fields) {
    if (!known_) return {.kept = false};
    if (!feed_) let_go(fields);
    auto found = feed_->finish();
    return collector_.took(found) ? std::move(*found) : FoundBody{};
  }

 private:
  void let_go(const Fields& fields) {
    auto const* const coding = find_field(fields, "Content-Encoding");
    feed_.emplace(collector_.sink(), false, coding == nullptr ? "" : *coding);
    collector_.took(feed_->append(held_));
    held_ = {};
  }

  Collector& collector_;
  std::string held_;
  std::optional<BodyFeed> feed_;
  bool known_ = false;
};

Fields read_fields(TnetReader& tnet, ImportReport& report) {
  FieldList fields(report);
  if (!tnet.open()) return {};
  while (tnet.more()) {
    if (!tnet.open()) break;
    bool is_cut = false;
    Field field{.name = tnet.text_up_to(kFlowTextBytesMax, is_cut).value_or(""),
                .value = tnet.text_up_to(kFlowTextBytesMax, is_cut).value_or("")};
    tnet.close();
    fields.add(std::move(field), is_cut);
  }
  tnet.close();
  return fields.take();
}

/// Null means a body that was not kept, unlike an empty one.
void read_body(TnetReader& tnet, const Fields& fields, HeldBody& body) {
  if (!tnet.open()) return;
  tnet.read([&](std::string_view piece) { body.append(piece, fields); });
  if (tnet.close() != '~') body.mark_known();
}

/// Takes one member. False if the member is unknown.
bool read_part(TnetReader& tnet, ImportReport& report, const std::string& key,
               FlowMessage& message) {
  auto const text = [&tnet, &report] { return read_flow_text(tnet, report); };
  if (key == "http_version" || key == "httpversion") {
    message.first_line_version = text();
  } else if (key == "timestamp_start") {
    message.start = parse_flow_time(text());
  } else if (key == "timestamp_end") {
    message.end = parse_flow_time(text());
  } else if (key == "method") {
    message.method = text();
  } else if (key == "scheme") {
    message.scheme = text();
  } else if (key == "host") {
    message.host = text();
  } else if (key == "port") {
    message.port = parse_flow_number(text());
  } else if (key == "path") {
    message.path = tnet.text_up_to(kFlowTextBytesMax, message.is_path_cut).value_or("");
  } else if (key == "authority") {
    message.authority = text();
  } else if (key == "status_code" || key == "code") {
    message.status = parse_flow_number(text());
  } else if (key == "reason" || key == "msg") {
    message.reason = text();
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string read_flow_text(TnetReader& tnet, ImportReport& report) {
  bool is_cut = false;
  auto text = tnet.text_up_to(kFlowTextBytesMax, is_cut).value_or("");
  if (!is_cut) return text;
  report.remark(std::string(kLongTextRemark));
  return {};
}

bool lacks_body(const FlowMessage& request) {
  if (request.body.kept) return false;
  if (find_field(request.fields, "Content-Length") != nullptr) {
    return announces_content(request.fields);
  }
  constexpr std::array<std::string_view, 6> kWithout = {"",        "GET",    "HEAD",
                                                        "OPTIONS", "DELETE", "TRACE"};
  return std::ranges::find(kWithout, request.method) == kWithout.end();
}

UnixTime parse_flow_time(const std::string& text) {
  double seconds = 0;
  auto const read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || !(seconds > 0) || seconds > 7e9) return std::nullopt;
  return static_cast<std::int64_t>(seconds * 1e6) * 1000;
}

std::uint16_t parse_flow_number(const std::string& text) {
  std::uint16_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

FlowMessage read_flow_message(TnetReader& tnet, Collector& collector,
                              std::span<const FlowPart> parts) {
  FlowMessage message;
  if (!tnet.open()) return message;
  HeldBody body(collector);
  Fields trailers;
  std::size_t found = 0;
  std::string key;
  while (tnet.next_key(key) && !collector.failed()) {
    found += static_cast<std::size_t>(std::ranges::count_if(
        parts, [&key](const FlowPart& part) { return key == part.name || key == part.old_name; }));
    if (key == "headers") {
      message.fields = read_fields(tnet, collector.report());
    } else if (key == "trailers") {
      trailers = read_fields(tnet, collector.report());
    } else if (key == "content") {
      read_body(tnet, message.fields, body);
    } else if (!read_part(tnet, collector.report(), key, message)) {
      tnet.skip();
    }
  }
  if (collector.failed()) return message;
  message.is_there = tnet.close_dictionary();
  if (!message.is_there) return message;
  message.lacks_part = found < parts.size();
  message.body = body.finish(message.fields);
  message.body.trailers = std::move(trailers);
  return message;
}

}  // namespace reprise::importing
