#include "pageload/results/har.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <string>

#include "base/http/headers.h"
#include "base/text/printable.h"

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

/// The time between two times, or `missing` if one of them is unknown.
double between(double from_ms, double to_ms, double missing = -1) {
  return from_ms < 0 || to_ms < from_ms ? missing : to_ms - from_ms;
}

struct Phases {
  double blocked = -1, dns = -1, connect = -1, ssl = -1, send = 0, wait = 0, receive = 0;
};

Phases phases_of(const PageRequest& request) {
  auto const at = request.timing.value_or(RequestTiming());
  double const sent = std::max(at.send_start_ms, at.send_end_ms);
  double const head = at.first_byte_ms < 0 ? request.response_ms : at.first_byte_ms;
  Phases phases;
  for (double const first : {at.dns_start_ms, at.connect_start_ms, at.send_start_ms}) {
    if (first < 0) continue;
    phases.blocked = between(request.start_ms, first);
    break;
  }
  phases.dns = between(at.dns_start_ms, at.dns_end_ms);
  phases.connect = between(at.connect_start_ms, at.connect_end_ms);
  phases.ssl = between(at.tls_start_ms, at.connect_end_ms);
  phases.send = between(at.send_start_ms, sent, 0);
  phases.wait = between(sent < 0 ? request.start_ms : sent, head, 0);
  phases.receive = between(head, request.end_ms, 0);
  return phases;
}

json::object entry_of(const PageRequest& request, double started_unix_ms) {
  auto const phases = phases_of(request);
  double whole = 0;
  for (double const each :
       {phases.blocked, phases.dns, phases.connect, phases.send, phases.wait, phases.receive}) {
    whole += std::max(each, 0.0);
  }
  auto const protocol = as_utf8(request.protocol);
  json::object entry{
      {"pageref", "page_1"},
      {"startedDateTime", date_time(started_unix_ms + std::max(0.0, request.start_ms))},
      {"time", whole},
      {"request",
       {{"method", as_utf8(request.method)},
        {"url", as_utf8(request.url)},
        {"httpVersion", protocol},
        {"cookies", json::array{}},
        {"headers", json::array{}},
        {"queryString", json::array{}},
        {"headersSize", -1},
        {"bodySize", -1}}},
      {"response",
       {{"status", request.status},
        {"statusText", ""},
        {"httpVersion", protocol},
        {"cookies", json::array{}},
        {"headers", json::array{}},
        {"content", {{"size", request.decoded_bytes}, {"mimeType", as_utf8(request.mime_type)}}},
        {"redirectURL", ""},
        {"headersSize", -1},
        {"bodySize", -1},
        {"_transferSize", request.encoded_bytes},
        {"_error", as_utf8(request.failure)}}},
      {"cache", json::object{}},
      {"timings",
       {{"blocked", phases.blocked},
        {"dns", phases.dns},
        {"connect", phases.connect},
        {"ssl", phases.ssl},
        {"send", phases.send},
        {"wait", phases.wait},
        {"receive", phases.receive}}},
      {"_priority", as_utf8(request.priority)},
      // As Chromium's DevTools write them, unlike their protocol.
      {"_resourceType", lower_case(as_utf8(request.resource_type))}};
  if (!request.initiator.empty()) {
    entry["_initiator"] = {{"type", "other"}, {"url", as_utf8(request.initiator)}};
  }
  // Which of its caches it was is unknown.
  if (request.from_cache) entry["_fromCache"] = "disk";
  if (auto const address = as_utf8(request.remote_address); !address.empty()) {
    auto ip = address.substr(0, address.rfind(':'));
    if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
    entry["serverIPAddress"] = std::move(ip);
  }
  if (request.connection >= 0) entry["connection"] = std::to_string(request.connection);
  return entry;
}

}  // namespace

json::object har_of(const PageLoad& load, const LoadResult::Browser& browser) {
  json::array entries;
  for (const PageRequest& request : load.requests) {
    entries.push_back(entry_of(request, load.started_unix_ms));
  }
  json::object page{{"startedDateTime", date_time(load.started_unix_ms)},
                    {"id", "page_1"},
                    {"title", as_utf8(load.url)},
                    {"pageTimings",
                     {{"onContentLoad", load.dom_content_loaded_ms.value_or(-1)},
                      {"onLoad", load.load_event_ms.value_or(-1)},
                      {"_firstContentfulPaint", load.first_contentful_paint_ms.value_or(-1)},
                      {"_largestContentfulPaint", load.largest_contentful_paint_ms.value_or(-1)}}}};
  return {{"log",
           {{"version", "1.2"},
            {"creator", {{"name", "reprise"}, {"version", REPRISE_VERSION}}},
            {"browser", {{"name", as_utf8(browser.name)}, {"version", as_utf8(browser.version)}}},
            {"pages", json::array{std::move(page)}},
            {"entries", std::move(entries)}}}};
}

}  // namespace reprise
