#include "analysis/calls/call_lines.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>

#include "base/text/printable.h"
#include "pageload/results/fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

std::vector<Attribute> read_attributes(Fields fields, std::string_view name) {
  std::vector<Attribute> attributes;
  Fields const texts = fields.into(name);
  for (auto const& [key, value] : texts.object()) {
    if (!value.is_string()) {
      fields.wrong(std::string(name) + "." + std::string(key), "must be a text");
      break;
    }
    attributes.emplace_back(key, value.get_string());
  }
  return attributes;
}

/// A time in us, of any sign; normalize() cuts it.
std::int64_t read_time(Fields& fields, std::string_view name) {
  return std::llround(fields.signed_number(name));
}

Call read_call(Fields& fields) {
  Call call;
  auto const kind = fields.text("kind");
  if (auto const known = call_kind(kind)) {
    call.kind = *known;
  } else {
    fields.wrong("kind", "must be request, phase, span, task or measure");
  }
  call.name = fields.text("name");
  call.start_us = read_time(fields, "start_us");
  call.end_us = read_time(fields, "end_us");
  if (fields.has("parent")) {
    // A parent beyond all calls is mended by normalize().
    auto const parent = fields.integer("parent");
    call.parent = static_cast<std::uint32_t>(std::min<std::int64_t>(parent, kNoParent - 1));
  }
  if (fields.has("attributes")) call.attributes = read_attributes(fields, "attributes");
  return call;
}

json::object object_of(const std::vector<Attribute>& attributes) {
  json::object object;
  for (auto const& [name, value] : attributes) object[as_utf8(name)] = as_utf8(value);
  return object;
}

json::object object_of(const Call& call) {
  json::object object = {{"kind", to_string(call.kind)},
                         {"name", as_utf8(call.name)},
                         {"start_us", call.start_us},
                         {"end_us", call.end_us}};
  if (call.parent != kNoParent) object["parent"] = call.parent;
  if (!call.attributes.empty()) object["attributes"] = object_of(call.attributes);
  return object;
}

}  // namespace

std::expected<CallTree, std::string> read_call_line(std::string_view line) {
  if (line.size() > kCallLineBytesMax) return std::unexpected("the line is longer than 64 MiB");
  boost::system::error_code error;
  auto const value = json::parse(line, error);
  if (error) return std::unexpected("not JSON: " + error.message());
  if (!value.is_object()) return std::unexpected("not a JSON object");
  std::string wrong;
  Fields fields(value.get_object(), "", wrong);
  CallTree tree;
  tree.page = fields.text("page");
  tree.started_unix_ms = fields.number("started_unix_ms");
  if (fields.has("tags")) tree.tags = read_attributes(fields, "tags");
  fields.each("calls", Fields::kListMax,
              [&](Fields call) { tree.calls.push_back(read_call(call)); });
  fields.each("losses", Fields::kListMax, [&](Fields loss) {
    auto const what = loss.text("what");
    tree.lose(what, loss.whole("count"));
  });
  if (fields.has("window_us")) {
    tree.window_us = read_time(fields, "window_us");
  } else {
    for (Call const& call : tree.calls) tree.window_us = std::max(tree.window_us, call.end_us);
  }
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  normalize(tree);
  return tree;
}

std::string call_line(const CallTree& tree) {
  json::object object = {{"page", as_utf8(tree.page)}};
  if (tree.started_unix_ms) object["started_unix_ms"] = *tree.started_unix_ms;
  object["window_us"] = tree.window_us;
  if (!tree.tags.empty()) object["tags"] = object_of(tree.tags);
  json::array calls;
  calls.reserve(tree.calls.size());
  for (Call const& call : tree.calls) calls.push_back(object_of(call));
  object["calls"] = std::move(calls);
  if (!tree.losses.empty()) {
    json::array losses;
    for (CallLoss const& loss : tree.losses) {
      losses.push_back(json::object{{"what", as_utf8(loss.what)}, {"count", loss.count}});
    }
    object["losses"] = std::move(losses);
  }
  return json::serialize(object) + "\n";
}

}  // namespace reprise
