#include "analysis/spans/span_file.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "analysis/spans/json_values.h"
#include "analysis/spans/otlp.h"
#include "analysis/spans/zipkin.h"

namespace reprise {

std::expected<SpanSet, std::string> read_span_file(std::string_view text) {
  text = without_byte_order_mark(text);
  SpanSet set;
  auto const broken = each_json_value(text, [&set](const boost::json::value& value) {
    if (value.is_array()) {
      read_zipkin(value.get_array(), set);
    } else if (value.is_object() && value.get_object().contains("resourceSpans")) {
      read_otlp(value.get_object(), set);
    } else if (value.is_object() && value.get_object().contains("traceId")) {
      read_zipkin({value}, set);
    } else {
      set.lose("JSON values that are not spans of OpenTelemetry or Zipkin");
    }
  });
  set.lose("lines that are not JSON", broken);
  if (!set.spans.empty()) return set;
  if (set.losses.empty()) return std::unexpected("there are no spans in it");
  const CallLoss& first = set.losses.front();
  return std::unexpected("there are no spans in it (" + first.what + ": " +
                         std::to_string(first.count) + ")");
}

}  // namespace reprise
