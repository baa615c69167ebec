#include "analysis/spans/otlp.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "base/http/headers.h"
#include "base/text/json_fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 6> kKinds = {"",       "internal", "server",
                                                    "client", "producer", "consumer"};

std::string text_of_value(const json::object& value) {
  for (auto const& [type, inner] : value) {
    if (inner.is_string()) return std::string(inner.get_string());
    if (!inner.is_null()) return json::serialize(inner);
  }
  return {};
}

std::vector<Attribute> attributes_of(const json::object& owner) {
  std::vector<Attribute> attributes;
  for (const json::value& entry : array_at(owner, "attributes")) {
    if (!entry.is_object()) continue;
    attributes.emplace_back(text_at(entry.get_object(), "key"),
                            text_of_value(object_at(entry.get_object(), "value")));
  }
  return attributes;
}

/// A time in ns: a text of digits, or a number; 0 if it is neither.
std::int64_t time_at(const json::object& span, std::string_view name) {
  auto const* const value = span.if_contains(name);
  if (value == nullptr) return 0;
  std::int64_t time = 0;
  if (auto const* const text = value->if_string()) {
    auto const* const end = text->data() + text->size();
    auto const [stop, error] = std::from_chars(text->data(), end, time);
    return stop == end && error == std::errc() ? time : 0;
  }
  boost::system::error_code error;
  time = value->to_number<std::int64_t>(error);
  return error ? 0 : time;
}

/// "server" of 2, "SERVER" and "SPAN_KIND_SERVER"; empty if it is unknown or unspecified.
std::string kind_of(const json::object& span) {
  constexpr std::string_view kPrefix = "SPAN_KIND_";
  auto name = text_at(span, "kind");
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (!name.empty()) {
    auto kind = lower_case(name);
    return std::ranges::find(kKinds, kind) == kKinds.end() ? std::string() : kind;
  }
  auto const number = integer_at(span, "kind");
  return number > 0 && number < std::ssize(kKinds)
             ? std::string(kKinds[static_cast<std::size_t>(number)])
             : std::string();
}

/// 2 or "STATUS_CODE_ERROR".
bool has_failed(const json::object& span) {
  auto const& status = object_at(span, "status");
  return integer_at(status, "code") == 2 || text_at(status, "code") == "STATUS_CODE_ERROR";
}

}  // namespace

void read_otlp(const json::object& request, SpanSet& set) {
  for (const json::value& each : array_at(request, "resourceSpans")) {
    if (!each.is_object()) continue;
    // What all spans of this resource have.
    Span resource;
    resource.attributes = attributes_of(object_at(each.get_object(), "resource"));
    resource.service = resource.attribute("service.name");
    resource.host = resource.first_of({"host.name", "host.id", "k8s.pod.name"});
    resource.place = resource.first_of({"cloud.availability_zone", "cloud.region"});
    resource.attributes.clear();
    for (auto* const text : {&resource.service, &resource.host, &resource.place}) set.limit(*text);
    for (const json::value& scope : array_at(each.get_object(), "scopeSpans")) {
      if (!scope.is_object()) continue;
      for (const json::value& entry : array_at(scope.get_object(), "spans")) {
        if (!entry.is_object()) continue;
        const json::object& object = entry.get_object();
        Span span = resource;
        span.trace_id = text_at(object, "traceId");
        span.span_id = text_at(object, "spanId");
        span.parent_id = text_at(object, "parentSpanId");
        span.name = text_at(object, "name");
        span.kind = kind_of(object);
        span.start_ns = time_at(object, "startTimeUnixNano");
        span.end_ns = time_at(object, "endTimeUnixNano");
        span.failed = has_failed(object);
        span.attributes = attributes_of(object);
        set.add(std::move(span));
      }
    }
  }
}

}  // namespace reprise
