#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <limits>
#include <utility>

#include "pageload/results/fields.h"
#include "pageload/results/metric.h"
#include "pageload/results/result_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

unsigned small(Fields& from, std::string_view name, unsigned missing) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<unsigned>(std::min(from.integer(name, missing), kMost));
}

std::chrono::milliseconds milliseconds(Fields& from, std::string_view name) {
  return std::chrono::milliseconds(from.integer(name));
}

RequestTiming timing_of(Fields from) {
  RequestTiming timing;
  for (auto const& time : kRequestTimes) timing.*time.at_ms = from.time(time.name);
  return timing;
}

PageRequest request_of(Fields from) {
  PageRequest request;
  request.url = from.text("url");
  request.method = from.text("method");
  request.resource_type = from.text("resource_type");
  request.status = static_cast<int>(small(from, "status", 0));
  request.protocol = from.text("protocol");
  request.remote_address = from.text("remote_address");
  request.mime_type = from.text("mime_type");
  request.failure = from.text("failure");
  request.from_cache = from.flag("from_cache");
  request.encoded_bytes = from.integer("encoded_bytes");
  request.decoded_bytes = from.integer("decoded_bytes");
  request.connection = from.integer("connection", -1);
  request.initiator = from.text("initiator");
  request.priority = from.text("priority");
  request.body_sha256 = from.text_if_any("body_sha256");
  request.request_body_sha256 = from.text("request_body_sha256");
  request.start_ms = from.time("start_ms");
  request.response_ms = from.time("response_ms");
  request.end_ms = from.time("end_ms");
  if (from.has("timing")) request.timing = timing_of(from.into("timing"));
  return request;
}

MachineActivity activity_of(Fields from) {
  MachineActivity machine{.span_ms = from.number("span_ms").value_or(0),
                          .processors = std::max(1U, small(from, "processors", 1)),
                          .busy_ms = from.number("busy_ms").value_or(0),
                          .own_ms = from.number("own_ms").value_or(0),
                          .steal_ms = from.number("steal_ms"),
                          .throttled_ms = from.number("throttled_ms"),
                          .cpu_pressure_ms = from.number("cpu_pressure_ms"),
                          .io_pressure_ms = from.number("io_pressure_ms"),
                          .memory_pressure_ms = from.number("memory_pressure_ms"),
                          .frequency_mhz = from.number("frequency_mhz"),
                          .own_waiting_ms = from.number("own_waiting_ms").value_or(0),
                          .own_major_faults = from.number("own_major_faults").value_or(0),
                          .suspended_ms = from.number("suspended_ms").value_or(0),
                          .stopped = from.flag("stopped"),
                          .paused_ms = from.number("paused_ms").value_or(0),
                          .began_ms = from.number("began_ms").value_or(0),
                          .group_ms = from.number("group_ms"),
                          .quota = from.number("quota"),
                          .quota_ms = from.number("quota_ms")};
  machine.own_nice = static_cast<int>(std::clamp(from.signed_number("own_nice"), -20.0, 19.0));
  machine.clock_step_ms = from.signed_number("clock_step_ms");
  return machine;
}

PageLoad page_of(Fields& from) {
  PageLoad page;
  page.outcome = load_outcome(from.text("outcome"));
  page.failure = from.text("failure");
  page.url = from.text("url");
  page.final_url = from.text("final_url");
  from.each("requests", kResultRequestsMax,
            [&](Fields request) { page.requests.push_back(request_of(std::move(request))); });
  page.started_unix_ms = std::max(0.0, from.time("started_unix_ms"));
  for (const Metric& metric : kMetrics) page.*metric.value = from.number(metric.field);
  page.largest_contentful_paint_url = from.text_if_any("largest_contentful_paint_url");
  page.dom_sha256 = from.text_if_any("dom_sha256");
  page.dom = from.text_if_any("dom");
  page.console_errors = from.texts("console_errors");
  page.requests_not_kept = static_cast<std::uint64_t>(from.integer("requests_not_kept"));
  page.remarks = from.texts("remarks");
  if (from.has("browser_requests")) page.browser_requests = from.texts("browser_requests");
  page.trace = from.text("trace");
  page.lateness_ms = from.number("lateness_ms");
  if (from.has("machine")) page.machine = activity_of(from.into("machine"));
  sum_up(page);
  return page;
}

/// Older results do not name the replay: it is the one of the same run.
std::optional<std::size_t> replay_of(Fields& from, unsigned run,
                                     const std::vector<ReplayRun>& replays) {
  if (!from.object().contains("replay")) {
    auto const found = std::ranges::find(replays, run, &ReplayRun::run);
    if (found == replays.end()) return std::nullopt;
    return static_cast<std::size_t>(found - replays.begin());
  }
  auto const index = from.number("replay");
  if (!index) return std::nullopt;
  auto const whole = static_cast<std::size_t>(*index);
  if (static_cast<double>(whole) == *index && whole < replays.size()) return whole;
  return from.wrong("replay", "is not an index into replays"), std::nullopt;
}

LoadResult::Load load_of(Fields from, const LoadResult& result) {
  LoadResult::Load load;
  load.run = small(from, "run", 1);
  auto conditions = from.into("configuration");
  load.configuration = {.browser = conditions.text("browser"),
                        .protocol = conditions.text("protocol"),
                        .link = conditions.text("link"),
                        .cache = conditions.text("cache")};
  load.order = small(from, "order", static_cast<unsigned>(result.loads.size() + 1));
  load.warm_up = from.flag("warm_up");
  load.skipped = from.text("skipped");
  load.disturbed = from.text("disturbed");
  load.node = from.text("node");
  load.page = page_of(from);
  load.replay = replay_of(from, load.run, result.replays);
  return load;
}

LoadResult::Browser browser_of(Fields from) {
  return {.name = from.text("name"), .version = from.text("version"), .flags = from.texts("flags")};
}

LinkSummary::Series series_of(Fields from) {
  return {.queue_bytes = from.numbers("queue_bytes"),
          .rate_bps = from.numbers("rate_bps"),
          .delay_mean_ms = from.numbers("delay_mean_ms"),
          .packets = from.numbers("packets"),
          .drops = from.numbers("drops")};
}

LinkSummary::LatenessGrowth growth_of(Fields from) {
  return {.resolution_ms = from.number("resolution_ms").value_or(0),
          .at_ms = from.numbers("at_ms"),
          .cost_ms = from.numbers("cost_ms")};
}

LinkSummary link_of(Fields from) {
  LinkSummary link;
  link.text = from.text("link_text");
  link.shaper = from.text("shaper");
  if (from.has("link_seed")) link.seed = from.whole("link_seed");
  auto check = from.into("self_check");
  link.self_check_ok = check.flag("ok");
  link.self_check_skipped = check.text("skipped");
  link.warnings = from.texts("doubts");
  auto lateness = from.into("lateness");
  link.lateness_cost_ms = lateness.number("cost_ms");
  if (lateness.has("growth")) link.lateness_growth = growth_of(lateness.into("growth"));
  from.each("deviations", Fields::kListMax, [&](Fields each) {
    link.deviations.push_back(
        {.text = each.text("text"), .share = each.number("share").value_or(0)});
  });
  auto profile = from.into("link");
  link.rtt_ms = profile.number("rtt_ms");
  link.down_bps = profile.into("down").number("rate_bps");
  link.up_bps = profile.into("up").number("rate_bps");
  link.down_trace_sha256 = profile.into("down").into("trace").text("sha256");
  link.up_trace_sha256 = profile.into("up").into("trace").text("sha256");
  for (auto const* const direction : {"down", "up"}) {
    auto counters = from.into(direction);
    for (auto const* const drops : {"queue_drops", "aqm_drops"}) {
      link.queue_drops += counters.number(drops).value_or(0);
    }
  }
  if (!from.has("timeline")) return link;
  auto timeline = from.into("timeline");
  link.timeline = {.width_ms = std::max(0.0, timeline.time("width_ms")),
                   .down = series_of(timeline.into("down")),
                   .up = series_of(timeline.into("up"))};
  return link;
}

ReplaySummary summary_of(Fields from) {
  ReplaySummary out;
  out.hits = from.number("hits");
  out.misses = from.number("misses");
  from.each("distinct_misses", kResultRequestsMax, [&](Fields miss) {
    out.distinct_misses.push_back(
        {.method = miss.text("method"), .url = miss.text("url"), .reason = miss.text("reason")});
  });
  from.each("special_answers", Fields::kListMax, [&](Fields answer) {
    out.special_answers.push_back(
        {.kind = answer.text("kind"), .method = answer.text("method"), .url = answer.text("url")});
  });
  for (auto const& name : from.into("dns").into("missing_names").object()) {
    out.missing_names.emplace_back(name.key());
  }
  if (from.has("link")) out.link = link_of(from.into("link"));
  out.whole = from.object();
  return out;
}

ReplayRun replay_run_of(Fields from) {
  ReplayRun replay{.run = small(from, "run", 1),
                   .exit_code = static_cast<int>(small(from, "exit_code", 0))};
  if (from.has("report")) replay.report = summary_of(from.into("report"));
  return replay;
}

LoadSettings settings_of(Fields from) {
  std::optional<std::vector<std::string>> replay_options;
  if (from.has("replay_options")) replay_options = from.texts("replay_options");
  return {.timeout = milliseconds(from, "timeout_ms"),
          .quiet = milliseconds(from, "quiet_ms"),
          .settle = milliseconds(from, "settle_ms"),
          .width = static_cast<int>(small(from, "width", 0)),
          .height = static_cast<int>(small(from, "height", 0)),
          .cpu_throttle = from.number("cpu_throttle").value_or(1),
          .device = from.text("device"),
          .steps = from.texts("steps"),
          .replay_options = std::move(replay_options)};
}

WhatIfMade what_if_of(Fields from) {
  WhatIfMade made{.text = from.text("text"),
                  .selected = from.whole("selected"),
                  .changed = from.whole("changed"),
                  .places = {},
                  .remarks = from.texts("remarks")};
  from.each("places", Fields::kListMax, [&](Fields place) {
    made.places.push_back({.where = place.text("where"), .what = place.text("what")});
  });
  return made;
}

LoadResult result_of(Fields from) {
  LoadResult result;
  auto const schema = from.text("schema");
  if (schema.empty()) from.wrong("schema", "is missing");
  if (schema != "reprise-load/1") {
    from.wrong("schema", "is '" + schema.substr(0, 40) + "', not reprise-load/1");
    return result;
  }
  result.reprise = from.text("reprise");
  result.archive = from.text("archive");
  result.archive_sha256 = from.text("archive_sha256");
  auto machine = from.into("machine");
  result.machine = {.cpu = machine.text("cpu"),
                    .cores = small(machine, "cores", 0),
                    .kernel = machine.text("kernel"),
                    .memory_bytes = machine.whole("memory_bytes")};
  result.seed = from.whole("seed");
  from.each("browsers", kResultLoadsMax,
            [&](Fields browser) { result.browsers.push_back(browser_of(std::move(browser))); });
  // Older results have only one.
  if (!from.has("browsers") && from.has("browser")) {
    result.browsers.push_back(browser_of(from.into("browser")));
  }
  result.settings = settings_of(from.into("settings"));
  from.each("what_ifs", Fields::kListMax,
            [&](Fields what_if) { result.what_ifs.push_back(what_if_of(std::move(what_if))); });
  from.each("replays", kResultLoadsMax,
            [&](Fields replay) { result.replays.push_back(replay_run_of(std::move(replay))); });
  from.each("loads", kResultLoadsMax,
            [&](Fields load) { result.loads.push_back(load_of(std::move(load), result)); });
  return result;
}

/// Returns the result of `read(Fields)` for a JSON object, or an error. Parses the text in one
/// piece: stream_parser (Boost 1.81) marks an interruption by the address after itself, and
/// mistakes a buffer that the compiler placed there for the mark.
template <class Read>
auto read_object(std::string_view text, const Read& read)
    -> std::expected<decltype(read(std::declval<Fields>())), std::string> {
  json::monotonic_resource memory;
  json::error_code malformed;
  auto const parsed = json::parse(text, malformed, &memory);  // at most 32 deep
  if (malformed) return std::unexpected("it is not JSON: " + malformed.message());
  if (!parsed.is_object()) return std::unexpected("it is not a JSON object");
  std::string error;
  auto out = read(Fields(parsed.get_object(), "", error));
  if (!error.empty()) return std::unexpected(error);
  return out;
}

template <class Read>
auto read_file(const std::filesystem::path& path, const Read& read)
    -> std::expected<decltype(read(std::declval<Fields>())), std::string> {
  std::error_code error;
  auto const size = std::filesystem::file_size(path, error);
  if (error) return std::unexpected(error.message());
  if (size > kResultBytesMax) {
    return std::unexpected("it is larger than 512 MiB; `load` without --dom writes less");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) {
    return std::unexpected("it cannot be read");
  }
  return read_object(text, read);
}

PageReport report_of(Fields from) {
  auto page = from.into("page");
  return {.browser = browser_of(from.into("browser")), .page = page_of(page)};
}

}  // namespace

std::expected<LoadResult, std::string> read_result(std::string_view text) {
  return read_object(text, result_of);
}

std::expected<LoadResult, std::string> read_result_file(const std::filesystem::path& path) {
  return read_file(path, result_of);
}

std::expected<PageReport, std::string> read_page_report(const std::filesystem::path& path) {
  return read_file(path, report_of);
}

std::expected<ReplaySummary, std::string> read_replay_report(const std::filesystem::path& path) {
  return read_file(path, summary_of);
}

}  // namespace reprise
