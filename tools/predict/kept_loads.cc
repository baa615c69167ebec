#include "tools/predict/kept_loads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/measurements.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"

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

}  // namespace

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
