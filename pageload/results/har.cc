#include "pageload/results/har.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <string>

#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// "2026-03-01T12:00:00.123Z"
std::string date_time(double unix_ms) {
  auto const seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  auto const size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%03dZ",
                static_cast<int>(unix_ms - static_cast<double>(seconds) * 1000));
  return text;
}

/// From one time to another, or `missing` where one of them is not known.
double between(double from_ms, double to_ms, double missing = -1) {
  return from_ms < 0 || to_ms < from_ms ? missing : to_ms - from_ms;
}

struct Phases {
  double blocked = -1, dns = -1, connect = -1, ssl = -1, send = 0, wait = 0, receive = 0;
};

Phases phases_of(const json::object& request) {
  auto const& timing = object_at(request, "timing");
  auto const at = [&](const char* name) { return number_at(timing, name, -1); };
  double const start = number_at(request, "start_ms", -1);
  double const sent = std::max(at("send_start_ms"), at("send_end_ms"));
  double const head = std::max(
      at("first_byte_ms"), at("first_byte_ms") < 0 ? number_at(request, "response_ms", -1) : -1);
  Phases phases;
  for (double const first : {at("dns_start_ms"), at("connect_start_ms"), at("send_start_ms")}) {
    if (first < 0) continue;
    phases.blocked = between(start, first);
    break;
  }
  phases.dns = between(at("dns_start_ms"), at("dns_end_ms"));
  phases.connect = between(at("connect_start_ms"), at("connect_end_ms"));
  phases.ssl = between(at("tls_start_ms"), at("connect_end_ms"));
  phases.send = between(at("send_start_ms"), sent, 0);
  phases.wait = between(sent < 0 ? start : sent, head, 0);
  phases.receive = between(head, number_at(request, "end_ms", -1), 0);
  return phases;
}

json::object entry_of(const json::object& request, double started_unix_ms) {
  auto const text = [&](const char* name) { return json::value(text_at(request, name)); };
  auto const phases = phases_of(request);
  double whole = 0;
  for (double const each :
       {phases.blocked, phases.dns, phases.connect, phases.send, phases.wait, phases.receive}) {
    whole += std::max(each, 0.0);
  }
  auto const bytes = integer_at(request, "encoded_bytes");
  json::object entry{
      {"pageref", "page_1"},
      {"startedDateTime",
       date_time(started_unix_ms + std::max(0.0, number_at(request, "start_ms")))},
      {"time", whole},
      {"request",
       {{"method", text("method")},
        {"url", text("url")},
        {"httpVersion", text("protocol")},
        {"cookies", json::array{}},
        {"headers", json::array{}},
        {"queryString", json::array{}},
        {"headersSize", -1},
        {"bodySize", -1}}},
      {"response",
       {{"status", integer_at(request, "status")},
        {"statusText", ""},
        {"httpVersion", text("protocol")},
        {"cookies", json::array{}},
        {"headers", json::array{}},
        {"content",
         {{"size", integer_at(request, "decoded_bytes")}, {"mimeType", text("mime_type")}}},
        {"redirectURL", ""},
        {"headersSize", -1},
        {"bodySize", -1},
        {"_transferSize", bytes},
        {"_error", text("failure")}}},
      {"cache", json::object{}},
      {"timings",
       {{"blocked", phases.blocked},
        {"dns", phases.dns},
        {"connect", phases.connect},
        {"ssl", phases.ssl},
        {"send", phases.send},
        {"wait", phases.wait},
        {"receive", phases.receive}}},
      {"_initiator", text("initiator")},
      {"_priority", text("priority")},
      {"_resourceType", text("resource_type")}};
  if (auto const address = text_at(request, "remote_address"); !address.empty()) {
    entry["serverIPAddress"] = address.substr(0, address.rfind(':'));
  }
  if (auto const connection = number_at(request, "connection", -1); connection >= 0) {
    entry["connection"] = std::to_string(integer_at(request, "connection"));
  }
  return entry;
}

}  // namespace

json::object har_of(const json::object& load, const json::object& browser) {
  double const started_unix_ms = number_at(load, "started_unix_ms");
  json::array entries;
  for (json::value const& request : array_at(load, "requests")) {
    if (request.is_object()) entries.push_back(entry_of(request.get_object(), started_unix_ms));
  }
  auto const time = [&](const char* name) { return number_at(load, name, -1); };
  json::object page{{"startedDateTime", date_time(started_unix_ms)},
                    {"id", "page_1"},
                    {"title", text_at(load, "url")},
                    {"pageTimings",
                     {{"onContentLoad", time("dom_content_loaded_ms")},
                      {"onLoad", time("load_event_ms")},
                      {"_firstContentfulPaint", time("first_contentful_paint_ms")},
                      {"_largestContentfulPaint", time("largest_contentful_paint_ms")}}}};
  return {
      {"log",
       {{"version", "1.2"},
        {"creator", {{"name", "reprise"}, {"version", REPRISE_VERSION}}},
        {"browser", {{"name", text_at(browser, "name")}, {"version", text_at(browser, "version")}}},
        {"pages", json::array{std::move(page)}},
        {"entries", std::move(entries)}}}};
}

}  // namespace reprise
