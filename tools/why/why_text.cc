#include "tools/why/why_text.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <utility>

#include "analysis/metric.h"
#include "base/text/counted.h"
#include "base/text/markdown.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kListedMax = 10;   // groups or differences of one list
constexpr std::size_t kEvidenceMax = 8;  // rows of the waterfalls, for each cause

Metric::Unit unit_of(const WhyRun& run) {
  return kMetrics[run.options().compare.metrics.front()].unit;
}

/// One line. Causes count from 1, in the order of WhyRun::causes().
std::string pair_text(const WhyRun& run, const CausePair& pair) {
  auto const one = run.causes()[pair.first].effect.estimate;
  auto const other = run.causes()[pair.second].effect.estimate;
  return std::to_string(pair.first + 1) + " and " + std::to_string(pair.second + 1) + " " +
         interaction_text(one, other, pair.effect, unit_of(run));
}

/// "+27.5 ms (-16.7 ms to +71.8 ms)".
std::string effect_text(const EstimatedEffect& of, Metric::Unit unit) {
  auto const value = [unit](double each) { return metric_text(unit, each, true); };
  return value(of.estimate) + " (" + value(of.low) + " to " + value(of.high) + ")";
}

class Text {
 public:
  Text(const WhyRun& run, bool markdown) : run_(run), unit_(unit_of(run)), markdown_(markdown) {}

  std::string all() && {
    text_ = (markdown_ ? "### " : "") +
            total_text(run_.options(), run_.effects().total, run_.rows().size()) + "\n\n";
    if (run_.interrupted()) text_ += "Interrupted: more loads would tell more.\n\n";
    std::size_t number = 0;
    for (const Cause& cause : run_.causes()) add_cause(++number, cause);
    if (number == 0) text_ += "No difference could be shown to be a cause.\n";
    add_pairs();
    text_ += "\nUnexplained: " + effect(run_.effects().unexplained) + "\n";
    add_others();
    add_not_measured();
    return std::move(text_);
  }

 private:
  std::string effect(const EstimatedEffect& of) const { return effect_text(of, unit_); }
  std::string foreign(const std::string& text) const { return safe_text(text, markdown_); }

  void add_cause(std::size_t number, const Cause& cause) {
    auto const& groups = run_.differences().groups;
    auto const bold = markdown_ ? "**" : "";
    text_ += std::to_string(number) + ". " + bold + effect(cause.effect) + bold + " ";
    for (std::size_t i = 0; i < cause.groups.size() && i < kListedMax; ++i) {
      text_ += (i == 0 ? "" : "\n   or ") + foreign(groups[cause.groups[i]].title);
    }
    if (cause.groups.size() > kListedMax) {
      text_ += "\n   or " + counted(cause.groups.size() - kListedMax, "other");
    }
    text_ += "\n";
    for (std::size_t i = 0; i < std::min(cause.rows.size(), kEvidenceMax); ++i) {
      const AlignedRow& row = run_.aligned_rows().all()[cause.rows[i]];
      text_ += std::string(markdown_ ? "   - " : "     ") + foreign(row.url()) + ": A " +
               span(row.a) + ", B " + span(row.b) + "\n";
    }
  }

  void add_pairs() {
    if (!run_.pairs().empty()) text_ += "\n";
    for (const CausePair& pair : run_.pairs()) {
      text_ += (markdown_ ? "- " : "") + pair_text(run_, pair) + "\n";
    }
  }

  static std::string span(const std::optional<PageRequest>& request) {
    if (!request) return "nothing";
    char text[64];
    std::snprintf(text, sizeof text, "%.0f to %.0f ms", request->start_ms, request->end_ms);
    return text;
  }

  void add_others() {
    auto const& groups = run_.differences().groups;
    if (run_.others().empty()) return;
    std::size_t count = 0;
    for (const Cause& each : run_.others()) count += each.groups.size();
    text_ += "\nWithout an effect that could be shown: " + counted(count, "difference") + "\n";
    if (markdown_) text_ += "\n";
    std::size_t told = 0;
    for (const Cause& each : run_.others()) {
      if (++told > kListedMax) break;
      text_ += "- " + effect(each.effect) + " " + foreign(groups[each.groups.front()].title);
      if (each.groups.size() > 1) {
        text_ += ", and " + counted(each.groups.size() - 1, "more", "more") + " together";
      }
      text_ += "\n";
    }
  }

  void add_not_measured() {
    auto const left = run_.not_measured();
    if (left.empty()) return;
    text_ += "\nNot measured, since a replay of A cannot have it: " +
             counted(left.size(), "difference") + "\n";
    if (markdown_) text_ += "\n";
    for (std::size_t i = 0; i < left.size() && i < kListedMax; ++i) {
      text_ += "- " + foreign(run_.differences().groups[left[i]].title) + "\n";
    }
  }

  const WhyRun& run_;
  Metric::Unit unit_;
  bool markdown_;
  std::string text_;
};

json::object effect_json(const EstimatedEffect& of) {
  return {{"estimate", of.estimate}, {"low", of.low}, {"high", of.high}};
}

json::object group_json(const Differences& all, std::size_t number) {
  auto const& group = all.groups[number];
  return {{"group", number},
          {"title", as_utf8(group.title)},
          {"differences", differences_json(all, group)}};
}

json::value span_json(const std::optional<PageRequest>& request) {
  if (!request) return nullptr;
  return json::object{{"start_ms", request->start_ms}, {"end_ms", request->end_ms}};
}

json::array causes_json(const WhyRun& run, const std::vector<Cause>& causes) {
  json::array all;
  for (const Cause& cause : causes) {
    json::array groups;
    for (auto const group : cause.groups) groups.push_back(group_json(run.differences(), group));
    json::array evidence;
    auto const shown = cause.effect.is_shown() ? std::min(cause.rows.size(), kEvidenceMax) : 0;
    for (std::size_t i = 0; i < shown; ++i) {
      const AlignedRow& row = run.aligned_rows().all()[cause.rows[i]];
      evidence.push_back(
          {{"url", as_utf8(row.url())}, {"a", span_json(row.a)}, {"b", span_json(row.b)}});
    }
    auto object = effect_json(cause.effect);
    object["groups"] = std::move(groups);
    object["evidence"] = std::move(evidence);
    object["rows"] = json::array(cause.rows.begin(), cause.rows.end());
    all.push_back(std::move(object));
  }
  return all;
}

json::array pairs_json(const WhyRun& run) {
  json::array all;
  for (const CausePair& pair : run.pairs()) {
    auto object = effect_json(pair.effect);
    object["causes"] = json::array{pair.first, pair.second};
    object["text"] = pair_text(run, pair);
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace

std::string interaction_text(double one, double other, const EstimatedEffect& together,
                             Metric::Unit unit) {
  bool const saves = one < 0 && other < 0;
  bool const is_mask = one * other > 0 && one * together.estimate < 0;
  std::string text = is_mask           ? "mask each other"
                     : one * other < 0 ? "act on each other"
                     : saves           ? "strengthen each other"
                                       : "make each other worse";
  auto const value = [unit](double of) { return metric_text(unit, std::abs(of)); };
  bool const is_less = (together.estimate < 0) != saves;
  auto [least, most] = std::minmax({std::abs(together.low), std::abs(together.high)});
  text += std::string(": together they ") + (saves ? "save " : "cost ") + value(together.estimate) +
          (is_less ? " less (" : " more (") + value(least) + " to " + value(most) +
          ") than the sum of what each " + (saves ? "saves" : "costs") + " without the other.";
  return is_mask && !saves ? text + " Undo both." : text;
}

std::string total_text(const WhyOptions& options, const EstimatedEffect& total, std::size_t loads) {
  auto const& metric = kMetrics[options.compare.metrics.front()];
  auto const by = " by " + counted(loads, "load");
  auto const what = std::string(metric.title) + " " + effect_text(total, metric.unit) + ",";
  if (total.is_shown()) {
    return std::string("B is ") + (total.estimate < 0 ? "faster" : "slower") + " than A: " + what +
           by;
  }
  std::string found;
  if (options.gate_loads > 0) {
    found = " (" + metric_text(metric.unit, options.gate_shift, true) + " by " +
            counted(options.gate_loads, "load") + " a side)";
  }
  return "The gate found B different" + found + "; the later loads do not show it: " + what + by;
}

std::string why_text(const WhyRun& run, bool markdown) {
  return Text(run, markdown).all();
}

json::object why_json(const WhyRun& run) {
  json::array not_measured;
  for (auto const group : run.not_measured()) {
    not_measured.push_back(group_json(run.differences(), group));
  }
  json::array loads;
  for (auto const& each : run.rows()) {
    json::array in;
    for (std::size_t i = 0; i < run.candidates().size(); ++i) {
      if (each.row.in[i]) in.push_back(run.candidates()[i]);
    }
    loads.push_back({{"is_b", each.row.is_b},
                     {"groups", std::move(in)},
                     {"value", each.row.value},
                     {"counts", each.counts}});
  }
  auto traces_a = run.traces(0);
  auto traces_b = run.traces(1);
  json::object traces{{"a", std::move(traces_a.list)}, {"b", std::move(traces_b.list)}};
  json::object skipped{{"a", traces_a.skipped()}, {"b", traces_b.skipped()}};
  auto const& metric = kMetrics[run.options().compare.metrics.front()];
  return {{"schema", "reprise-why/1"},
          {"reprise", REPRISE_VERSION},
          {"sides", json::array{as_utf8(run.name(0)), as_utf8(run.name(1))}},
          {"measured", true},
          {"interrupted", run.interrupted()},
          {"metric", metric.name},
          {"metric_title", metric.title},
          {"unit", unit_name(metric.unit)},
          {"base", run.effects().base},
          {"alpha", run.options().compare.alpha},
          {"seed", run.options().seed},
          {"total", effect_json(run.effects().total)},
          {"causes", causes_json(run, run.causes())},
          {"pairs", pairs_json(run)},
          {"unexplained", effect_json(run.effects().unexplained)},
          {"no_effect_shown", causes_json(run, run.others())},
          {"not_measured", std::move(not_measured)},
          {"rows", rows_json(run.aligned_rows().all())},
          {"traces", std::move(traces)},
          {"traces_skipped", std::move(skipped)},
          {"loads", std::move(loads)}};
}

}  // namespace reprise
