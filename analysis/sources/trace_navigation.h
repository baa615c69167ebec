#pragma once

// Where a trace of Chromium has the load of a page. Pure.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/http/url_parts.h"

namespace reprise {

/// The first navigation of an outermost frame to one of `urls`: to the first of them that has one.
/// Fragments do not count. `events` are sorted by time. Null: no such navigation.
template <class Event>
const Event* find_navigation(const std::vector<Event>& events, std::span<const std::string> urls) {
  for (const std::string& each : urls) {
    auto const url = without_fragment(each);
    if (url.empty()) continue;
    auto const found = std::ranges::find_if(events, [url](const Event& event) {
      return event.name == "navigationStart" && event.outermost &&
             without_fragment(event.url) == url;
    });
    if (found != events.end()) return &*found;
  }
  return nullptr;
}

/// The same to the last of `urls` that has one. Where a script of the page led to another site, its
/// work is in another process than the first navigation.
template <class Event>
const Event* find_last_navigation(const std::vector<Event>& events,
                                  std::span<const std::string> urls) {
  std::vector<std::string> const last_first(urls.rbegin(), urls.rend());
  return find_navigation(events, last_first);
}

}  // namespace reprise
