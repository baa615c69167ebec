#include "analysis/campaign/nodes.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <cstdio>
#include <optional>

#include "analysis/campaign/file_name.h"
#include "analysis/rank_test.h"
#include "analysis/shift.h"
#include "analysis/verdict.h"
#include "base/text/printable.h"
#include "pageload/results/fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::string_view kNodeSchema = "reprise-node/1";

json::array lines_of(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(as_utf8(text));
  return out;
}

/// The node that differs most from the rest, if one does. Of two, the slower one.
struct Odd {
  std::size_t at = 0;
  double relative = 0;
};
std::optional<Odd> odd_one_of(const std::vector<const NodeCheck*>& nodes) {
  std::optional<Odd> found;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    auto const& own = nodes[at]->load_events_ms;
    std::vector<double> rest;
    for (const NodeCheck* other : nodes) {
      if (other == nodes[at]) continue;
      rest.insert(rest.end(), other->load_events_ms.begin(), other->load_events_ms.end());
    }
    if (own.empty() || rest.empty()) continue;
    double const usual = median(rest);
    auto const p = rank_test(rest, own).p * static_cast<double>(nodes.size());
    double const relative = shift_between(rest, own, 0.05).estimate / usual;
    if (usual <= 0 || p > kNodeAlpha || std::abs(relative) < kNodeShift) continue;
    bool const more =
        !found || (nodes.size() == 2 ? relative > found->relative
                                     : std::abs(relative) > std::abs(found->relative));
    if (more) found = Odd{.at = at, .relative = relative};
  }
  return found;
}

}  // namespace

json::object to_json(const NodeCheck& check) {
  json::array values;
  for (double const value : check.load_events_ms) values.push_back(value);
  return {{"schema", kNodeSchema},
          {"plan", check.plan},
          {"node", as_utf8(check.node)},
          {"machine",
           {{"cpu", as_utf8(check.machine.cpu)},
            {"cores", check.machine.cores},
            {"kernel", as_utf8(check.machine.kernel)},
            {"memory_bytes", check.machine.memory_bytes}}},
          {"browsers", lines_of(check.browsers)},
          {"problems", lines_of(check.problems)},
          {"load_events_ms", std::move(values)},
          {"clock_ahead_s", check.clock_ahead_s}};
}

std::expected<NodeCheck, std::string> read_node_check(std::string_view text) {
  boost::system::error_code malformed;
  auto const parsed = json::parse(text, malformed);
  if (malformed || !parsed.is_object()) return std::unexpected("it is not a JSON object");
  std::string error;
  Fields from(parsed.get_object(), "", error);
  if (from.text("schema") != kNodeSchema) from.wrong("schema", "is not reprise-node/1");
  auto machine = from.into("machine");
  NodeCheck check{.plan = from.text("plan"),
                  .node = from.text("node"),
                  .machine = {.cpu = machine.text("cpu"),
                              .cores = static_cast<unsigned>(machine.integer("cores")),
                              .kernel = machine.text("kernel"),
                              .memory_bytes = machine.whole("memory_bytes")},
                  .browsers = from.texts("browsers"),
                  .problems = from.texts("problems"),
                  .load_events_ms = from.numbers("load_events_ms"),
                  .clock_ahead_s = from.signed_number("clock_ahead_s")};
  if (!is_file_name(check.node)) from.wrong("node", kFileNameRule);
  if (!error.empty()) return std::unexpected(error);
  return check;
}

std::vector<RefusedNode> refused_nodes(std::span<const NodeCheck> checks) {
  std::vector<RefusedNode> refused;
  std::vector<const NodeCheck*> able;
  for (const NodeCheck& check : checks) {
    if (check.problems.empty()) {
      able.push_back(&check);
    } else {
      refused.push_back({.node = check.node, .why = check.problems.front()});
    }
  }
  while (auto const odd = odd_one_of(able)) {
    char why[160];
    std::snprintf(why, sizeof why,
                  "its load events differ from those of the other nodes by %+.1f %% (A/A)",
                  100 * odd->relative);
    refused.push_back({.node = able[odd->at]->node, .why = why});
    able.erase(able.begin() + static_cast<std::ptrdiff_t>(odd->at));
  }
  std::ranges::sort(refused, {}, &RefusedNode::node);
  return refused;
}

}  // namespace reprise
