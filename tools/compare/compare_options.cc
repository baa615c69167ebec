#include "tools/compare/compare_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cstdio>

#include "analysis/metric.h"
#include "base/system/private_file.h"
#include "tools/commands.h"
#include "tools/compare/comparison_junit.h"
#include "tools/compare/comparison_text.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

/// "1%", "5ms", or both: "1%,5ms". A missing part is zero for times; shares apply to all metrics.
std::expected<void, std::string> read_minimum_effect(std::string_view text,
                                                     CompareOptions& options) {
  while (true) {
    auto const comma = text.find(',');
    auto const part = text.substr(0, comma);
    double value = 0;
    auto const [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    std::string_view const unit(end, part.data() + part.size());
    bool const sound = error == std::errc() && value >= 0 && value <= 1e6;
    if (sound && unit == "%") {
      options.least_relative = value / 100;
      options.least_of_times->relative = value / 100;
    } else if (sound && unit == "ms") {
      options.least_of_times->absolute = value;
    } else {
      return std::unexpected(
          "--min-effect must be a percentage or a time, such as 1% or 5ms, not '" +
          std::string(part) + "'");
    }
    if (comma == text.npos) return {};
    text.remove_prefix(comma + 1);
  }
}

/// Prints why it could not; false then.
bool write_text(const std::string& text, const std::filesystem::path& path) {
  auto const written = write_private_file(text, path);
  if (!written) {
    std::fprintf(stderr, "reprise: %s: cannot be written: %s\n", path.c_str(),
                 written.error().message().c_str());
  }
  return written.has_value();
}

}  // namespace

void add_compare_flags(CLI::App& command, CompareFlags& flags, ComparedMetrics metrics) {
  bool const one = metrics == ComparedMetrics::kOne;
  command
      .add_option("--metric", flags.metrics,
                  std::string(one ? "Use this metric" : "Compare these metrics") +
                      ": load, last-load, fcp, lcp, dcl, cls, requests, bytes " +
                      (one ? "[load]" : "[all]"))
      ->allow_extra_args(false);
  command
      .add_option("--min-effect", flags.minimum_effects,
                  "Ignore differences smaller than this: 1%, 5ms, or both as 1%,5ms [1%,2ms]")
      ->allow_extra_args(false);
  command
      .add_option("--alpha", flags.alpha,
                  "Probability of reporting a difference when A and B are equal [0.05]")
      ->check(numbers_between(1e-6, 0.5));
  command
      .add_option("--allow", flags.allowed,
                  "Allow these differences between A and B: pages, browser, protocol, link, cache, "
                  "archive, requests, misses, calibration, what-if, status")
      ->allow_extra_args(false);
  auto* const json = command.add_flag("--json", flags.json, "Write JSON");
  command.add_flag("--markdown", flags.markdown, "Write Markdown")->excludes(json);
}

std::expected<CompareOptions, std::string> compare_options(const CompareFlags& flags) {
  CompareOptions options{.alpha = flags.alpha};
  for (const std::string& names : flags.metrics) {
    auto const metrics = parse_metrics(names);
    if (!metrics) return std::unexpected(metrics.error());
    for (std::size_t const each : *metrics) {
      if (std::ranges::find(options.metrics, each) == options.metrics.end()) {
        options.metrics.push_back(each);
      }
    }
  }
  if (!flags.minimum_effects.empty()) {
    options.least_of_times.emplace();
  }
  for (const std::string& text : flags.minimum_effects) {
    if (auto const read = read_minimum_effect(text, options); !read) {
      return std::unexpected(read.error());
    }
  }
  for (const std::string& names : flags.allowed) {
    auto const differences = parse_differences(names);
    if (!differences) return std::unexpected(differences.error());
    options.allowed.insert(differences->begin(), differences->end());
  }
  return options;
}

void tell_comparison(const Comparison& comparison, const CompareOptions& options,
                     const CompareFlags& flags) {
  auto const text = flags.json ? boost::json::serialize(comparison_json(comparison, options)) + "\n"
                    : flags.markdown ? comparison_markdown(comparison, options)
                                     : comparison_text(comparison, options);
  bool const refused = !comparison.refusals.empty();
  std::fputs(text.c_str(), refused && !flags.json && !flags.markdown ? stderr : stdout);
}

void add_verdict_flags(CLI::App& command, CompareFlags& flags) {
  command
      .add_option("--fail-on", flags.fail_on,
                  "different: exit with 5 if B is slower or faster; slower: only if it is slower")
      ->check(CLI::IsMember({"different", "slower"}))
      ->capture_default_str();
  command.add_option("--junit", flags.junit,
                     "Write JUnit XML to this file, with a test case for each metric of each page");
}

bool write_junit(const Comparison& comparison, const CompareOptions& options,
                 const CompareFlags& flags, const std::vector<BudgetFinding>& budgets) {
  return flags.junit.empty() ||
         write_text(comparison_junit(comparison, options, flags.fail_on == "slower", budgets),
                    flags.junit);
}

void write_junit_error(const std::string& why, const CompareFlags& flags) {
  if (!flags.junit.empty()) write_text(error_junit(why), flags.junit);
}

int exit_code_of(const Comparison& comparison) {
  if (!comparison.refusals.empty()) return kExitFailed;
  switch (comparison.verdict) {
    case Verdict::kSame:
      return kExitDone;
    case Verdict::kDifferent:
      return kExitGate;
    case Verdict::kUndecided:
      break;
  }
  return kExitUndecided;
}

int exit_code_of(const Comparison& comparison, const CompareFlags& flags) {
  auto const code = exit_code_of(comparison);
  if (code != kExitGate || flags.fail_on != "slower" || is_worse(comparison)) return code;
  return has_undecided(comparison) ? kExitUndecided : kExitDone;
}

}  // namespace reprise
