#include "tools/predict/processor_slowdown.h"

#include <boost/json.hpp>
#include <cmath>
#include <utility>

#include "base/system/text_file.h"
#include "base/text/formatted.h"
#include "base/text/json_fields.h"
#include "pageload/browser/browser.h"
#include "shaper/packet/awake_processors.h"
#include "tools/load/load_options.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kPredictionBytesMax = 256 << 20;
/// More is no measurement.
constexpr double kSlowdownMax = 10'000;

/// That an earlier prediction between these rates went by.
std::optional<double> kept_slowdown(const std::filesystem::path& folder, double from, double to) {
  auto const text = read_text_file(folder / "prediction.json", kPredictionBytesMax);
  if (!text) return std::nullopt;
  boost::system::error_code malformed;
  auto const value = json::parse(*text, malformed);
  if (malformed || !value.is_object()) return std::nullopt;
  auto const& before = object_at(value.get_object(), "from");
  auto const& after = object_at(value.get_object(), "to");
  bool const is_same =
      number_at(before, "cpu_throttle") == from && number_at(after, "cpu_throttle") == to;
  auto const slowdown = number_at(after, "cpu_slowdown");
  bool const is_measured = slowdown > 1 / kSlowdownMax && slowdown < kSlowdownMax;
  return is_same && is_measured ? std::optional(slowdown) : std::nullopt;
}

/// Measured as in a load: the browser goes before other programs, unless `words` have
/// --no-realtime, and no processor sleeps, since what slows a page has to wake.
std::optional<double> slowdown_at(double rate, const std::string& program,
                                  const std::vector<std::string>& words) {
  if (rate == 1) return 1;
  if (Interruption::was_asked()) return std::nullopt;
  LoadOptions options;
  if (parse_load_words(words, options)) return std::nullopt;
  auto browser_options = options.browsing.browser();
  browser_options.program = program;
  browser_options.favoured = !options.replay_switches.at("--no-realtime");
  auto const browser = Browser::start(browser_options);
  if (!browser) return std::nullopt;
  AwakeProcessors const awake;
  auto const measured = (*browser)->slowdown(rate);
  return measured ? std::optional(*measured) : std::nullopt;
}

}  // namespace

ProcessorSlowdown processor_slowdown(const ExperimentSide& base, const ExperimentSide& changed,
                                     const std::vector<std::string>& words,
                                     const std::filesystem::path& kept) {
  auto const from = base.result().settings.cpu_throttle;
  auto const to = changed.result().settings.cpu_throttle;
  if (from == to) return {};
  auto factor = kept.empty() ? std::nullopt : kept_slowdown(kept, from, to);
  if (!factor && kept.empty()) {
    auto const& program = base.cells().front().configuration.browser;
    auto const after = slowdown_at(to, program, words);
    auto const before = after ? slowdown_at(from, program, words) : std::nullopt;
    // To the digits that a file keeps.
    auto const measured = before ? std::round(*after / *before * 1000) / 1000 : 1;
    // Where other programs use the processors, what slows a page hardly runs.
    bool const is_credible = to > from ? measured > 1 : measured < 1;
    if (is_credible) factor = measured;
  }
  if (!factor) {
    return {.factor = to / from,
            .remark = formatted("the slowdown by --cpu-throttle %s: its own factor is used instead",
                                kept.empty() ? "could not be measured (is the machine busy?)"
                                             : "was not measured with these loads")};
  }
  return {
      .factor = *factor,
      .remark = formatted("--cpu-throttle %g makes pages compute %.1f times as long as %g here, "
                          "as measured in an empty page",
                          to, *factor, from),
      .is_measured = true};
}

}  // namespace reprise
