#include "tools/predict/kept_loads.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "analysis/measurements.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/load/load_options.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

std::string texts_of(const std::vector<WhatIfMade>& what_ifs) {
  std::string all;
  for (WhatIfMade const& each : what_ifs) all += (all.empty() ? "" : "; ") + each.text;
  return all;
}

/// In what they differ from the loads that `side` would make.
struct Difference {
  std::string what, kept, wanted;
};

std::optional<Difference> difference(const LoadResult& kept, const ExperimentSide& side) {
  LoadCell const& cell = side.cells().front();
  LoadResult const& wanted = side.result();
  std::vector<Difference> compared = {
      {"archive (SHA-256)", kept.archive_sha256, wanted.archive_sha256},
      {"what-if", texts_of(kept.what_ifs), texts_of(wanted.what_ifs)}};
  auto const before = settings_of(kept.settings);
  for (auto const& [option, value] : settings_of(wanted.settings)) {
    auto const found = before.find(option);
    if (found != before.end()) compared.push_back({option, found->second, value});
  }
  for (LoadResult::Load const& load : kept.loads) {
    auto const& made = load.configuration;
    auto const& asked = cell.configuration;
    compared.insert(compared.end(), {{"page", load.page.url, cell.url},
                                     {"--browser", made.browser, asked.browser},
                                     {"--protocol", made.protocol, asked.protocol},
                                     {"--link", made.link, asked.link},
                                     {"--cache", made.cache, asked.cache}});
  }
  auto const found = std::ranges::find_if(
      compared, [](const Difference& each) { return each.kept != each.wanted; });
  if (found == compared.end()) return std::nullopt;
  return std::move(*found);
}

/// "--inject" of "--inject=none".
std::string name_of_option(const std::string& word) {
  return word.substr(0, word.find('='));
}

/// Adds options to words of load, unless these give them.
class AddedOptions {
 public:
  AddedOptions(const std::vector<std::string>& words, const LoadOptions& given) {
    for (auto const& word : words) {
      if (word == "--") break;
      given_.insert(name_of_option(word));
    }
    for (auto const& option : given.replay_options().value_or(std::vector<std::string>())) {
      given_.insert(name_of_option(option));
    }
    known_to_.add_to(*load_);
  }

  bool is_given(const std::string& option) const { return given_.contains(option); }

  void add(const std::string& option, const std::string& value) {
    if (!is_given(option) && !value.empty()) added_.push_back(option + "=" + value);
  }

  /// One of the replays, as LoadSettings has it.
  void add_of_replay(const std::string& option) {
    auto const name = name_of_option(option);
    if (is_given(name)) return;
    auto const* const known = load_->get_option_no_throw(name);
    // A value of its own word is another entry.
    bool const is_whole = option.contains('=') || (known && known->get_expected_max() == 0);
    added_.push_back(known && is_whole ? option : "--replay-flag=" + option);
  }

  void add_page(const std::string& url) { added_.push_back(url); }

  const std::vector<std::string>& all() const { return added_; }

 private:
  std::set<std::string> given_;
  std::vector<std::string> added_;
  LoadOptions known_to_;
  std::unique_ptr<CLI::App> load_ = make_command_line("", "load");
};

}  // namespace

std::expected<std::vector<std::string>, std::string> with_kept_options(
    std::vector<std::string> words, const std::filesystem::path& file) {
  LoadOptions given;
  if (parse_load_words(words, given)) return words;  // refused when a side is made of them
  auto const kept = read_result_file(file);
  if (!kept) return std::unexpected(file.string() + ": " + kept.error());
  if (kept->loads.empty()) return words;

  AddedOptions options(words, given);
  LoadResult::Load const& load = kept->loads.front();
  options.add("--browser", load.configuration.browser);
  options.add("--protocol", load.configuration.protocol);
  options.add("--link", load.configuration.link);
  options.add("--cache", load.configuration.cache);
  auto const& settings = kept->settings;
  auto const values = settings_of(settings);
  options.add("--cpu-throttle", values.at("--cpu-throttle"));
  // Each excludes the other.
  bool const has_size = options.is_given("--viewport") || options.is_given("--device");
  if (!has_size && !settings.device.empty()) {
    options.add("--device", settings.device);
  } else if (!has_size && settings.width > 0) {
    options.add("--viewport", values.at("--viewport"));
  }
  if (settings.width > 0 && settings.timeout.count() > 0) {
    auto const timeout = std::chrono::ceil<std::chrono::seconds>(settings.timeout);
    options.add("--timeout", std::to_string(timeout.count()));
    options.add("--quiet", values.at("--quiet"));
    options.add("--settle", std::to_string(settings.settle.count()));
  }
  for (auto const& option : settings.replay_options.value_or(std::vector<std::string>())) {
    options.add_of_replay(option);
  }
  if (given.urls().empty() && !load.page.url.empty()) options.add_page(load.page.url);
  words.insert(std::ranges::find(words, "--"), options.all().begin(), options.all().end());
  return words;
}

std::optional<std::string> take_kept_loads(ExperimentSide& side,
                                           const std::filesystem::path& file) {
  auto kept = read_result_file(file);
  if (!kept) return file.string() + ": " + kept.error();
  if (kept->loads.empty()) return file.string() + " has no loads";
  auto const has_no_trace = [](const LoadResult::Load& load) { return load.page.trace.empty(); };
  if (std::ranges::all_of(kept->loads, has_no_trace)) {
    return file.string() + " has no traces: it is not of `reprise predict -o`";
  }
  if (auto const other = difference(*kept, side)) {
    return file.string() + " was loaded with " +
           (other->what.ends_with('s') ? "other " : "another ") + other->what + ": \"" +
           printable(other->kept) + "\", not \"" + printable(other->wanted) +
           "\"; use the options that it was loaded with";
  }
  side.result() = std::move(*kept);
  return std::nullopt;
}

}  // namespace reprise
