#include "analysis/campaign/page_failure.h"

#include <algorithm>
#include <utility>

#include "base/text/printable.h"

namespace reprise {
namespace {

constexpr std::size_t kLinesMax = 20;

}  // namespace

std::vector<PageFailure> failures_of(const LoadResult& result, std::size_t page,
                                     std::string_view side) {
  struct Page {
    PageFailure failure;
    bool loaded = false;
  };
  std::vector<Page> pages;
  for (const LoadResult::Load& load : result.loads) {
    if (!load.was_asked_for()) continue;
    auto found = std::ranges::find_if(
        pages, [&](const Page& each) { return each.failure.url == load.page.url; });
    if (found == pages.end()) {
      found = pages.insert(
          found, Page{.failure = {.page = page, .side = std::string(side), .url = load.page.url}});
    }
    if (load.page.outcome == LoadOutcome::kLoaded) found->loaded = true;
    if (found->failure.loads++ == 0) found->failure.why = why_not_loaded(load.page);
  }
  std::vector<PageFailure> out;
  for (Page& each : pages) {
    if (!each.loaded) out.push_back(std::move(each.failure));
  }
  return out;
}

boost::json::object failure_json(const PageFailure& failure) {
  return {{"side", as_utf8(failure.side)},
          {"url", as_utf8(failure.url)},
          {"loads", failure.loads},
          {"why", as_utf8(failure.why)}};
}

std::string failure_text(const PageFailure& failure) {
  auto where = failure.url;
  if (!failure.side.empty()) where += (where.empty() ? "side " : ", side ") + failure.side;
  if (!where.empty()) where = " (" + where + ")";
  return printable("page " + failure.name + where +
                   (failure.loads > 1 ? " failed in every load: " : " failed: ") + failure.why);
}

std::string failures_text(std::span<const std::string> lines) {
  std::string text;
  auto const shown = std::min(lines.size(), kLinesMax);
  for (const std::string& line : lines.first(shown)) text += line + "\n";
  if (lines.size() > shown) {
    text += "and " + std::to_string(lines.size() - shown) + " more failures of pages\n";
  }
  return text;
}

}  // namespace reprise
