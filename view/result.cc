#include <boost/json.hpp>
#include <cmath>
#include <cstdint>

#include "base/text/printable.h"
#include "pageload/results/metric.h"
#include "view/inputs.h"
#include "view/page.h"
#include "view/visuals.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kListMax = 200;  ///< of console errors, misses and the like, per load
constexpr std::size_t kLinkSpansMax = 4096;

/// In short form: whole numbers without a fraction.
json::value number_value(std::optional<double> number) {
  if (!number || !std::isfinite(*number)) return {};
  bool const whole = *number == std::trunc(*number) && std::abs(*number) <= 1e15;
  return whole ? json::value(static_cast<std::int64_t>(*number)) : json::value(*number);
}

/// 0 means unknown.
json::value size_value(double number) {
  return number > 0 ? number_value(number) : json::value();
}

json::array texts_of(const std::vector<std::string>& from) {
  json::array texts;
  for (const std::string& each : from) {
    if (texts.size() == kListMax) break;
    texts.emplace_back(as_utf8(each));
  }
  return texts;
}

json::object settings_of(const LoadResult& result) {
  auto const version = result.browsers.empty() ? "" : result.browsers.front().version;
  return {{"archive", result.archive},
          {"archive_sha256", result.archive_sha256},
          {"browser", version},
          {"width", size_value(result.settings.width)},
          {"height", size_value(result.settings.height)},
          {"cpu", result.machine.cpu},
          {"cores", size_value(result.machine.cores)},
          {"kernel", result.machine.kernel}};
}

json::object metrics_of(const PageLoad& page) {
  json::object metrics;
  for (const Metric& metric : kMetrics) metrics[metric.field] = number_value(page.*metric.value);
  return metrics;
}

json::array misses_of(const ReplaySummary& report) {
  json::array misses;
  for (const ReplaySummary::Miss& miss : report.distinct_misses) {
    if (misses.size() == kListMax) break;
    misses.push_back(json::array{miss.method, miss.url, miss.reason});
  }
  return misses;
}

json::array numbers_of(const std::vector<double>& from) {
  json::array numbers;
  for (double const each : from) {
    if (numbers.size() == kLinkSpansMax) break;
    numbers.push_back(number_value(each));
  }
  return numbers;
}

json::object series_of(const LinkSummary::Series& series) {
  return {{"queue_bytes", numbers_of(series.queue_bytes)},
          {"rate_bps", numbers_of(series.rate_bps)},
          {"delay_mean_ms", numbers_of(series.delay_mean_ms)},
          {"packets", numbers_of(series.packets)},
          {"drops", numbers_of(series.drops)}};
}

json::value timeline_of(const std::optional<LinkSummary::Timeline>& timeline) {
  if (!timeline) return {};
  return json::object{{"width_ms", number_value(timeline->width_ms)},
                      {"down", series_of(timeline->down)},
                      {"up", series_of(timeline->up)}};
}

/// The settings and the behaviour of the link; null if the load had none.
json::value link_of(const ReplaySummary& report) {
  if (!report.link) return {};
  const LinkSummary& link = *report.link;
  return json::object{{"text", link.text},
                      {"shaper", link.shaper},
                      {"rtt_ms", number_value(link.rtt_ms)},
                      {"down_bps", number_value(link.down_bps)},
                      {"up_bps", number_value(link.up_bps)},
                      {"doubts", texts_of(link.warnings)},
                      {"timeline", timeline_of(link.timeline)}};
}

/// The report of the replay that served a load, or empty.
const ReplaySummary& report_of(const LoadResult& result, const LoadResult::Load& load) {
  static const ReplaySummary kNone;
  if (!load.replay || !result.replays[*load.replay].report) return kNone;
  return *result.replays[*load.replay].report;
}

json::object facts_of(const LoadResult& result, const LoadResult::Load& load) {
  const PageLoad& page = load.page;
  const ReplaySummary& report = report_of(result, load);
  return {{"url", page.url},
          {"final_url", page.final_url},
          {"run", load.run},
          {"order", load.order},
          {"warm_up", load.warm_up},
          {"started_unix_ms", number_value(page.started_unix_ms)},
          {"outcome", to_string(page.outcome)},
          {"failure", page.failure},
          {"configuration",
           {{"browser", load.configuration.browser},
            {"protocol", load.configuration.protocol},
            {"link", load.configuration.link},
            {"cache", load.configuration.cache}}},
          {"metrics", metrics_of(page)},
          {"link", link_of(report)},
          {"misses", misses_of(report)},
          {"console_errors", texts_of(page.console_errors)},
          {"remarks", texts_of(page.remarks)}};
}

double known(double time_ms) {
  return time_ms < 0 ? kUnknown : time_ms;
}

void add_page_request(const PageRequest& request, ViewModel& model) {
  auto const connection = request.connection < 0 ? "" : std::to_string(request.connection);
  auto const at = request.timing.value_or(RequestTiming());
  auto const head_ms = at.first_byte_ms < 0 ? request.response_ms : at.first_byte_ms;
  model.add_request({.url = request.url,
                     .method = request.method,
                     .type = request.resource_type,
                     .protocol = request.protocol,
                     .address = request.remote_address,
                     .connection = connection,
                     .mime_type = request.mime_type,
                     .priority = request.priority,
                     .initiator = request.initiator,
                     .failure = request.failure,
                     .status = static_cast<double>(request.status),
                     .from_cache = request.from_cache,
                     .encoded_bytes = static_cast<double>(request.encoded_bytes),
                     .decoded_bytes = static_cast<double>(request.decoded_bytes),
                     .start_ms = known(request.start_ms),
                     .dns_start_ms = known(at.dns_start_ms),
                     .dns_end_ms = known(at.dns_end_ms),
                     .connect_start_ms = known(at.connect_start_ms),
                     .tls_start_ms = known(at.tls_start_ms),
                     .connect_end_ms = known(at.connect_end_ms),
                     .send_start_ms = known(at.send_start_ms),
                     .send_end_ms = known(at.send_end_ms),
                     .first_byte_ms = known(head_ms),
                     .end_ms = known(request.end_ms)});
}

}  // namespace

void add_result(const LoadResult& result, std::string_view name, ViewModel& model,
                const VisualsOf& visuals_of) {
  model.add_input({{"kind", "result"}, {"name", name}, {"settings", settings_of(result)}});
  for (const LoadResult::Load& load : result.loads) {
    model.begin_load(facts_of(result, load));
    for (const PageRequest& request : load.page.requests) add_page_request(request, model);
    auto const visuals = visuals_of ? visuals_of(load.page) : std::nullopt;
    if (visuals) {
      model.end_load({{"visuals", add_visuals(*visuals, model)}});
    } else {
      model.end_load();
    }
  }
}

Result<void> learn_secrets(const LoadResult& result, Redaction& redaction) {
  for (const LoadResult::Load& load : result.loads) {
    for (const PageRequest& request : load.page.requests) {
      if (auto const learnt = redaction.learn(request.url); !learnt) return learnt;
    }
  }
  return {};
}

Result<std::string> results_page(std::span<const NamedResult> results, const DependencyGraph* graph,
                                 const VisualsOf& visuals_of) {
  Redaction redaction;
  for (const NamedResult& each : results) {
    if (auto const learnt = learn_secrets(each.result, redaction); !learnt) {
      return fail(learnt.error());
    }
  }
  ViewModel model(&redaction);
  model.use_dependencies(graph);
  for (const NamedResult& each : results) {
    add_result(each.result, each.name, model, visuals_of);
  }
  return view_page(std::move(model).text());
}

}  // namespace reprise
