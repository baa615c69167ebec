#include "analysis/trench/trench_json.h"

#include <algorithm>
#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <map>
#include <optional>

#include "base/text/json_fields.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr auto kNone = TrenchNode::kNoCaller;

/// Where the columns with these names are in a row; in this order if the names are missing.
template <std::size_t N>
class Columns {
 public:
  using Cells = std::array<const json::value*, N>;

  Columns(const json::object& object, std::string_view name,
          const std::array<std::string_view, N>& names) {
    const json::array& given = array_at(object, name);
    for (std::size_t i = 0; i < N; ++i) {
      auto const found = std::ranges::find_if(given, [&](const json::value& column) {
        return column.is_string() && std::string_view(column.get_string()) == names[i];
      });
      places_[i] = given.empty() ? i : static_cast<std::size_t>(found - given.begin());
    }
  }

  /// Null where the row has no such cell.
  Cells cells(const json::array& row) const {
    Cells found;
    for (std::size_t i = 0; i < N; ++i) found[i] = row.if_contains(places_[i]);
    return found;
  }

 private:
  std::array<std::size_t, N> places_;
};

std::optional<double> number_in(const json::value* cell) {
  if (cell == nullptr || !cell->is_number()) return std::nullopt;
  return cell->to_number<double>();
}

/// A whole number from 0 to `most`.
std::optional<std::uint64_t> whole_in(const json::value* cell, std::uint64_t most) {
  if (cell == nullptr) return std::nullopt;
  boost::system::error_code error;
  auto const number = cell->to_number<std::uint64_t>(error);
  return error || number > most ? std::nullopt : std::optional(number);
}

/// `name` within kNameBytesMax: a longer one ends in an ellipsis.
std::string cut_name(std::string_view name) {
  constexpr std::string_view kEllipsis = "\u2026";
  if (name.size() <= TrenchTrace::kNameBytesMax) return std::string(name);
  auto const start = utf8_start(name, TrenchTrace::kNameBytesMax - kEllipsis.size());
  return std::string(start).append(kEllipsis);
}

class Reader {
 public:
  explicit Reader(const json::object& object)
      : object_(object), stack_(object, "stackColumns", {"point", "hits", "ms", "children"}) {}

  std::expected<TrenchTrace, std::string> run() {
    if (!read_classes() || !read_points() || !read_rows() || !walk()) {
      return std::unexpected(std::move(error_));
    }
    return std::move(trace_);
  }

 private:
  /// A row of the stack, at its own place or inside its caller's.
  struct Row {
    const json::array* cells = nullptr;
    std::uint32_t top = 0;  ///< the place of the row that it is inside of, or its own
    std::uint32_t caller = kNone;
    std::vector<std::uint32_t> called = {};
    TrenchNode node = {};
  };

  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }
  std::string name_of(std::uint32_t row) const {
    auto const place = "stack[" + std::to_string(rows_[row].top) + "]";
    return rows_[row].top == row ? place : "a row in " + place;
  }

  bool read_classes() {
    Columns<1> const columns(object_, "classesColumns", {"name"});
    for (const json::value& entry : array_at(object_, "classes")) {
      if (classes_.size() == TrenchTrace::kNodesMax) return fail("more than 1,000,000 classes");
      const json::value* name = &entry;
      if (entry.is_array()) {
        name = columns.cells(entry.get_array())[0];
        if (name == nullptr) name = entry.get_array().if_contains(0);
      }
      if (name == nullptr || !name->is_string()) {
        return fail("classes[" + std::to_string(classes_.size()) + "] must have a name");
      }
      classes_.push_back(cut_name(name->get_string()));
    }
    return true;
  }

  bool read_points() {
    Columns<3> const columns(object_, "pointsColumns", {"class", "method", "line"});
    std::size_t names_bytes = 0;
    for (const json::value& entry : array_at(object_, "points")) {
      if (trace_.points.size() == TrenchTrace::kNodesMax) {
        return fail("more than 1,000,000 points");
      }
      auto const at = "points[" + std::to_string(trace_.points.size()) + "]";
      if (!entry.is_array()) return fail(at + " must be an array");
      auto const [of, method, line] = columns.cells(entry.get_array());
      auto const found = whole_in(of, kNone);
      if (!found || *found >= classes_.size()) return fail(at + " has a class that is not there");
      if (method == nullptr || !method->is_string()) return fail(at + " must have a method");
      TrenchPoint point{.class_name = classes_[*found], .method = cut_name(method->get_string())};
      names_bytes += point.class_name.size() + point.method.size();
      if (names_bytes > TrenchTrace::kAllNamesBytesMax) {
        return fail("the names of its points are longer than 128 MiB together");
      }
      if (auto const known = whole_in(line, std::uint64_t{1} << 53)) {
        point.line = static_cast<std::int64_t>(*known);
      }
      trace_.points.push_back(std::move(point));
    }
    return true;
  }

  bool read_rows() {
    for (const json::value& entry : array_at(object_, "stack")) {
      auto const place = static_cast<std::uint32_t>(rows_.size());
      if (!add_row(entry, place)) return false;
    }
    top_rows_ = rows_.size();
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      if (!read_row(i)) return false;
    }
    return true;
  }

  bool add_row(const json::value& entry, std::uint32_t top) {
    if (rows_.size() == TrenchTrace::kNodesMax) return fail("more than 1,000,000 rows");
    if (!entry.is_array()) return fail("stack[" + std::to_string(top) + "] must be an array");
    rows_.push_back({.cells = &entry.get_array(), .top = top});
    return true;
  }

  bool read_row(std::uint32_t row) {
    auto const [point, hits, ms, children] = stack_.cells(*rows_[row].cells);
    TrenchNode& node = rows_[row].node;
    auto const found = whole_in(point, kNone);
    if (!found || *found >= trace_.points.size()) {
      return fail(name_of(row) + " has a point that is not there");
    }
    node.point = static_cast<std::uint32_t>(*found);
    auto const count = whole_in(hits, std::uint64_t{1} << 53);
    if (!count) return fail(name_of(row) + ": hits must be a whole number");
    node.hits = *count;
    auto const time = number_in(ms);
    if (!time || !(*time >= 0 && *time <= TrenchTrace::kTimeUsMax / 1000)) {
      return fail(name_of(row) + ": ms must be a number from 0 to a day");
    }
    node.inclusive_us = std::llround(*time * 1000);
    if (children == nullptr || children->is_null()) return true;
    if (!children->is_array()) return fail(name_of(row) + ": children must be an array");
    for (const json::value& child : children->get_array()) {
      if (!read_child(row, child)) return false;
    }
    return true;
  }

  bool read_child(std::uint32_t row, const json::value& child) {
    auto called = static_cast<std::uint32_t>(rows_.size());
    if (child.is_array()) {
      if (!add_row(child, rows_[row].top)) return false;
    } else {
      auto const place = whole_in(&child, kNone);
      if (!place || *place >= top_rows_) {
        return fail(name_of(row) + " has a child that is not there");
      }
      called = static_cast<std::uint32_t>(*place);
    }
    if (rows_[called].caller != kNone) {
      return fail(name_of(called) + " is called by " + name_of(rows_[called].caller) + " and by " +
                  name_of(row));
    }
    rows_[called].caller = row;
    rows_[row].called.push_back(called);
    return true;
  }

  /// Puts the rows into the order of the trace, from those without a caller on.
  bool walk() {
    struct Visit {
      std::uint32_t row;
      std::uint32_t caller;  ///< its node
      std::size_t depth;
    };
    std::vector<Visit> waiting;
    auto const wait_for = [&waiting](auto const& rows, std::uint32_t caller, std::size_t depth) {
      for (auto i = rows.size(); i-- > 0;) waiting.push_back({rows[i], caller, depth});
    };
    std::vector<std::uint32_t> outermost;
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].caller == kNone) outermost.push_back(i);
    }
    wait_for(outermost, kNone, 1);
    std::vector<bool> visited(rows_.size());
    trace_.nodes.reserve(rows_.size());
    while (!waiting.empty()) {
      auto const [row, caller, depth] = waiting.back();
      waiting.pop_back();
      if (depth > TrenchTrace::kDepthMax) {
        return fail(name_of(row) + " is nested deeper than 512 rows");
      }
      visited[row] = true;
      auto const place = static_cast<std::uint32_t>(trace_.nodes.size());
      trace_.nodes.push_back(rows_[row].node);
      trace_.nodes.back().caller = caller;
      wait_for(rows_[row].called, place, depth + 1);
    }
    auto const missed = std::ranges::find(visited, false);
    if (missed == visited.end()) return true;
    return fail(name_of(static_cast<std::uint32_t>(missed - visited.begin())) +
                " is its own caller");
  }

  const json::object& object_;
  Columns<4> stack_;
  std::vector<std::string> classes_;
  std::vector<Row> rows_;
  std::size_t top_rows_ = 0;
  TrenchTrace trace_;
  std::string error_;
};

void append_ms(std::string& out, std::int64_t us) {
  out += std::to_string(us / 1000);
  if (us % 1000 == 0) return;
  auto decimals = std::to_string(1000 + us % 1000);
  decimals[0] = '.';
  out += decimals.substr(0, decimals.find_last_not_of('0') + 1);
}

std::string json_text(std::string_view text) {
  return json::serialize(json::string(as_utf8(text)));
}

}  // namespace

std::expected<TrenchTrace, std::string> read_trench_json(std::string_view text) {
  if (text.size() > kTrenchJsonBytesMax) return std::unexpected("the JSON is longer than 16 MiB");
  json::monotonic_resource memory;
  boost::system::error_code error;
  // A nested row is two levels.
  json::parse_options options;
  options.max_depth = 2 * TrenchTrace::kDepthMax + 8;
  auto const value = json::parse(text, error, &memory, options);
  if (error == json::error::too_deep) return std::unexpected("nested deeper than 512 rows");
  if (error) return std::unexpected("not JSON: " + error.message());
  if (!value.is_object()) return std::unexpected("not a JSON object");
  return Reader(value.get_object()).run();
}

std::string trench_json(const TrenchTrace& trace) {
  std::vector<std::vector<std::uint32_t>> called(trace.nodes.size());
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    if (trace.nodes[i].caller != kNone) called[trace.nodes[i].caller].push_back(i);
  }
  std::string out = R"({"version":1,"stackColumns":["point","hits","ms","children"],"stack":[)";
  auto const separate = [&out] {
    if (out.back() != '[') out += ',';
  };
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const TrenchNode& node = trace.nodes[i];
    separate();
    out += "[" + std::to_string(node.point) + "," + std::to_string(node.hits) + ",";
    append_ms(out, node.inclusive_us);
    out += ",[";
    for (auto const child : called[i]) {
      separate();
      out += std::to_string(child);
    }
    out += "]]";
  }
  out += R"(],"classesColumns":["name"],"classes":[)";
  std::map<std::string_view, std::size_t> classes;
  for (const TrenchPoint& point : trace.points) {
    if (!classes.emplace(point.class_name, classes.size()).second) continue;
    separate();
    out += "[" + json_text(point.class_name) + "]";
  }
  out += R"(],"pointsColumns":["class","method","line"],"points":[)";
  for (const TrenchPoint& point : trace.points) {
    separate();
    out += "[" + std::to_string(classes.at(point.class_name)) + "," + json_text(point.method) +
           "," + std::to_string(point.line) + "]";
  }
  return out + "]}";
}

}  // namespace reprise
