#include "analysis/spans/zipkin.h"

#include "base/http/headers.h"
#include "base/text/json_fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// Zipkin's times are in us.
std::int64_t ns_of(std::int64_t us) {
  constexpr std::int64_t kEdge = Span::kTimeNsMax / 1000;
  return us < 0 || us > kEdge ? Span::kTimeNsMax + 1 : us * 1000;
}

std::vector<Attribute> tags_of(const json::object& object) {
  std::vector<Attribute> tags;
  for (auto const& [name, value] : object_at(object, "tags")) {
    if (value.is_string()) tags.emplace_back(name, value.get_string());
  }
  return tags;
}

}  // namespace

void read_zipkin(const json::array& list, SpanSet& set) {
  for (const json::value& entry : list) {
    if (entry.is_array()) {
      read_zipkin(entry.get_array(), set);
      continue;
    }
    if (!entry.is_object()) {
      set.lose("entries of a list of spans that are not objects");
      continue;
    }
    const json::object& object = entry.get_object();
    const json::object& endpoint = object_at(object, "localEndpoint");
    auto const start_ns = ns_of(integer_at(object, "timestamp"));
    auto const length_ns = ns_of(integer_at(object, "duration"));
    Span span{.trace_id = std::string(text_at(object, "traceId")),
              .span_id = std::string(text_at(object, "id")),
              .parent_id = std::string(text_at(object, "parentId")),
              .name = std::string(text_at(object, "name")),
              .kind = lower_case(text_at(object, "kind")),
              .service = std::string(text_at(endpoint, "serviceName")),
              .host = std::string(text_at(endpoint, "ipv4")),
              .start_ns = start_ns,
              .end_ns = start_ns + length_ns,
              .failed = object_at(object, "tags").contains("error"),
              .attributes = tags_of(object)};
    span.place = span.first_of({"cloud.availability_zone", "cloud.region"});
    set.add(std::move(span));
  }
}

}  // namespace reprise
