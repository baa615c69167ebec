// An explanation as JSON: EXPLANATION.md.

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <map>

#include "analysis/contribution/explanation.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kDetailedPointsMax = 200;
constexpr std::size_t kDetailedCallsMax = 2000;

std::int64_t whole(double us) {
  return std::llround(us);
}

double percent(double part, double whole_us) {
  return whole_us > 0 ? std::round(10'000 * part / whole_us) / 100 : 0;
}

json::value number_or_null(const std::optional<std::size_t>& number) {
  return number ? json::value(*number) : json::value();
}

json::object tags_of(const std::vector<Attribute>& tags) {
  json::object object;
  for (auto const& [name, value] : tags) object[as_utf8(name)] = as_utf8(value);
  return object;
}

json::array losses_of(const std::vector<CallLoss>& losses) {
  json::array array;
  for (CallLoss const& loss : losses) {
    array.push_back(json::object{{"what", as_utf8(loss.what)}, {"count", loss.count}});
  }
  return array;
}

/// Each text once, by its place.
class Names {
 public:
  std::size_t place(const std::string& name) {
    auto const [found, is_new] = places_.try_emplace(name, texts_.size());
    if (is_new) texts_.emplace_back(as_utf8(name));
    return found->second;
  }
  json::array take() { return std::move(texts_); }

 private:
  std::map<std::string, std::size_t> places_;
  json::array texts_;
};

class Writer {
 public:
  Writer(const Explanation& explanation, const KindRules& rules)
      : explanation_(explanation), rules_(rules) {}

  json::object slice(const Slice& slice) const {
    json::array shares;
    for (MeanShare const& each : slice.shares) shares.push_back(share(each, slice));
    json::array calls;
    for (CallShare const& call : slice.calls) {
      auto object = share(call.share, slice);
      object["name"] = as_utf8(call.name);
      object["detail"] = as_utf8(call.detail);
      object["count"] = call.count;
      object["longest_us"] = call.longest_us;
      object["bytes"] = whole(call.bytes);
      calls.push_back(std::move(object));
    }
    json::object costs;
    for (std::size_t kind = 0; kind < kCauseKindCount; ++kind) {
      costs[to_string(CauseKind(kind))] = costs_of(slice.costs[kind], slice);
    }
    return {{"tags", tags_of(slice.tags)},
            {"views", slice.views},
            {"window_us",
             {{"mean", whole(slice.mean_us)},
              {"median", slice.median_us},
              {"p90", slice.p90_us},
              {"min", slice.min_us},
              {"max", slice.max_us}}},
            {"shares", std::move(shares)},
            {"calls", std::move(calls)},
            {"costs", std::move(costs)}};
  }

  json::object day(const Slice& day) const {
    auto object = slice(day);
    object["day"] = day.tags.front().second;
    object.erase("tags");
    object.erase("calls");
    object.erase("costs");
    return object;
  }

  json::array points() {
    json::array array;
    for (ExplainedView const& view : explanation_.points) {
      CallTree const& tree = view.given->tree;
      std::vector<std::int64_t> shares(rules_.kinds().size());
      for (std::size_t i = 0; i < tree.calls.size(); ++i) shares[view.kinds[i]] += view.own_us[i];
      shares[rules_.gap_kind()] += view.gap_us;
      bool const detailed =
          array.size() < kDetailedPointsMax && tree.calls.size() <= kDetailedCallsMax;
      array.push_back(
          json::object{{"input", view.given->input},
                       {"load", view.given->load},
                       {"page", names_.place(tree.page)},
                       {"started_unix_ms",
                        tree.started_unix_ms ? json::value(*tree.started_unix_ms) : json::value()},
                       {"window_us", tree.window_us},
                       {"tags", tags_of(tree.tags)},
                       {"slices", json::array(view.slices.begin(), view.slices.end())},
                       {"shares", json::array(shares.begin(), shares.end())},
                       {"calls", detailed ? json::value(calls_of(view)) : json::value()}});
    }
    return array;
  }
  json::array names() { return names_.take(); }

 private:
  json::object share(const MeanShare& share, const Slice& slice) const {
    return {{"kind", as_utf8(rules_.kinds()[share.kind].name)},
            {"us", whole(share.us)},
            {"percent", percent(share.us, slice.mean_us)},
            {"chain_us", whole(share.chain_us)},
            {"chain_percent", percent(share.chain_us, slice.mean_us)}};
  }

  static json::array costs_of(const std::vector<Cost>& costs, const Slice& slice) {
    json::array array;
    for (Cost const& cost : costs) {
      array.push_back(json::object{{"name", as_utf8(cost.name)},
                                   {"us", whole(cost.us)},
                                   {"percent", percent(cost.us, slice.mean_us)},
                                   {"processor_us", whole(cost.processor_us)},
                                   {"bytes", whole(cost.bytes)},
                                   {"requests", cost.requests}});
    }
    return array;
  }

  json::array calls_of(const ExplainedView& view) {
    json::array calls;
    CallTree const& tree = view.given->tree;
    for (std::size_t i = 0; i < tree.calls.size(); ++i) {
      Call const& call = tree.calls[i];
      auto const parent = call.parent == kNoParent ? -1 : static_cast<std::int64_t>(call.parent);
      calls.push_back(json::array{view.kinds[i], names_.place(call.name), call.start_us,
                                  call.end_us, parent, view.own_us[i], view.chain_us[i]});
    }
    return calls;
  }

  const Explanation& explanation_;
  const KindRules& rules_;
  Names names_;
};

}  // namespace

json::object to_json(const Explanation& explanation, const KindRules& rules,
                     const ExplainOptions& options, const ExplanationFacts& facts) {
  Writer writer(explanation, rules);
  json::array inputs;
  for (auto const& input : facts.inputs) {
    inputs.push_back(json::object{{"name", as_utf8(input.name)},
                                  {"views", input.views},
                                  {"in_view", number_or_null(input.in_view)}});
  }
  json::array kinds;
  for (Kind const& kind : rules.kinds()) {
    kinds.push_back(json::object{{"name", as_utf8(kind.name)}, {"fix", as_utf8(kind.fix)}});
  }
  json::array slices;
  for (Slice const& slice : explanation.slices) slices.push_back(writer.slice(slice));
  json::array trend;
  for (Slice const& day : explanation.trend) trend.push_back(writer.day(day));
  auto losses = losses_of(facts.losses);
  for (auto& loss : losses_of(explanation.losses)) losses.push_back(std::move(loss));
  json::array by;
  for (std::string const& name : options.by) by.emplace_back(as_utf8(name));
  auto points = writer.points();
  bool const all = options.slowest_percent >= 100;
  return {{"reprise", REPRISE_VERSION},
          {"inputs", std::move(inputs)},
          {"views", explanation.slices.front().views},
          {"views_read", facts.views_read},
          {"where", facts.where ? json::value(as_utf8(*facts.where)) : json::value()},
          {"slowest_percent", all ? json::value() : json::value(options.slowest_percent)},
          {"by", std::move(by)},
          {"kinds", std::move(kinds)},
          {"slices", std::move(slices)},
          {"trend", std::move(trend)},
          {"points", std::move(points)},
          {"names", writer.names()},
          {"losses", std::move(losses)},
          {"view", facts.view.empty() ? json::value() : json::value(as_utf8(facts.view))}};
}

}  // namespace reprise
