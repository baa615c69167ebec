#include "analysis/dependency/observed_page.h"

#include <algorithm>
#include <cmath>

#include "analysis/sources/load_calls.h"

namespace reprise {

std::vector<ObservedPage> observed_pages(const LoadResult& result, std::vector<CallLoss>& losses) {
  std::vector<ObservedPage> pages;
  for (LoadCalls& load : calls_of(result, losses)) {
    PageLoad const& page = result.loads[load.load].page;
    auto const us = [](std::optional<double> ms) -> std::optional<std::int64_t> {
      if (!ms) return std::nullopt;
      return std::llround(std::clamp(*ms * 1000, 0.0, static_cast<double>(CallTree::kWindowUsMax)));
    };
    pages.push_back(
        {.calls = std::move(load.tree),
         .milestones = {us(page.first_contentful_paint_ms), us(page.largest_contentful_paint_ms),
                        us(page.load_event_ms), us(page.last_load_ms)},
         .largest_url = page.largest_contentful_paint_url,
         .load = load.load});
  }
  return pages;
}

}  // namespace reprise
