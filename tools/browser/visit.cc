#include "tools/browser/visit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "tools/browser/figure_text.h"

namespace reprise {
namespace {

std::string summary_of(const PageLoad& load) {
  if (load.outcome != LoadOutcome::kLoaded) {
    return std::string(to_string(load.outcome)) + " " + load.url + ": " + load.failure;
  }
  std::int64_t bytes = 0;
  for (const PageRequest& request : load.requests) bytes += request.encoded_bytes;
  return "loaded " + load.url + ": " + std::to_string(load.requests.size()) + " requests, " +
         size_text(bytes) + ", load event " + ms_text(load.load_event_ms);
}

/// "run 2 of 3, page 4 of 5: ", leaving out what there is only one of.
std::string place_of(const VisitOptions& options, std::size_t page, std::size_t pages) {
  std::string text;
  if (options.runs > 1) {
    text += "run " + std::to_string(options.run) + " of " + std::to_string(options.runs);
  }
  if (pages > 1) {
    text += (text.empty() ? "page " : ", page ") + std::to_string(page) + " of " +
            std::to_string(pages);
  }
  return text.empty() ? text : text + ": ";
}

void say(const std::string& text, bool is_final) {
  bool const live = ::isatty(STDERR_FILENO) != 0;
  if (!live && !is_final) return;
  std::fprintf(stderr, "%s%s%s", live ? "\r\033[K" : "", text.c_str(), is_final ? "\n" : "");
}

}  // namespace

Visit visit_pages(const std::vector<std::string>& urls, const VisitOptions& options) {
  Visit visit;
  std::unique_ptr<Browser> browser;
  std::string cannot_start;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    auto const place = place_of(options, i + 1, urls.size());
    say(place + "loading " + urls[i], false);
    if (browser && !browser->usable()) browser.reset();
    if (!browser && cannot_start.empty()) {
      if (auto started = Browser::start(options.browser, &cannot_start)) {
        browser = std::move(*started);
        visit.browser_version = browser->version();
        visit.browser_flags = browser->flags();
      }
    }
    PageLoad load;
    if (browser) {
      PageOptions page = options.page;
      if (!options.screenshot_folder.empty()) {
        page.screenshot = options.screenshot_folder / ("run-" + std::to_string(options.run) +
                                                       "-page-" + std::to_string(i + 1) + ".png");
      }
      load = browser->load(urls[i], page);
    } else {
      load.url = urls[i];
      load.outcome = LoadOutcome::kBrowserDied;
      load.failure = cannot_start;
    }
    say(place + summary_of(load), true);
    for (const std::string& remark : load.remarks) say("  " + remark, true);
    visit.loads.push_back(std::move(load));
  }
  return visit;
}

}  // namespace reprise
