#pragma once

// Views of beacons by chance, as hostile as a page can make them.

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>

#include "analysis/beacons/beacon_view.h"

namespace reprise {

/// A view and the texts that it borrows.
class RandomView {
 public:
  explicit RandomView(std::mt19937_64& random) : random_(random) {
    view.page = text("https://www.shop" + std::to_string(below(3)) + ".test/p?q");
    if (below(4) > 0) view.started_unix_ms = 1.795e12 + 8.64e7 * static_cast<double>(below(3));
    if (below(4) > 0) view.load_us = below(2000);
    if (below(2) > 0) view.add_tag("network", text(below(2) > 0 ? "4g" : "3g|\t\n%\xff"));
    auto const requests = below(25);
    for (std::int64_t i = 0; i < requests; ++i) add_request();
    auto const works = below(6);
    for (std::int64_t i = 0; i < works; ++i) add_work();
  }
  RandomView(const RandomView&) = delete;

  BeaconView view;

 private:
  std::int64_t below(std::uint64_t limit) { return static_cast<std::int64_t>(random_() % limit); }
  std::string_view text(std::string made) { return texts_.emplace_back(std::move(made)); }
  /// Few different times, so that many are equal; some far outside.
  std::int64_t time() {
    switch (below(12)) {
      case 0:
        return -below(500);
      case 1:
        return below(2 * CallTree::kWindowUsMax);
      default:
        return below(below(2) > 0 ? 2500 : 30);
    }
  }

  void add_request() {
    static constexpr std::array<std::string_view, 6> kHosts = {
        "www.shop1.test", "shop2.test", "cdn.net", "ads.example", "doubleclick.net", "a.co.uk"};
    static constexpr std::array<std::string_view, 7> kInitiators = {
        "navigation", "script", "img", "link", "xmlhttprequest", "fetch", ""};
    static constexpr std::array<std::string_view, 4> kFiles = {"a.js", "b.css?x=1.png", "c", ""};
    BeaconRequest& request = view.requests.emplace_back();
    request.name = text("https://" + std::string(kHosts[random_() % kHosts.size()]) + "/" +
                        std::string(kFiles[random_() % kFiles.size()]));
    request.initiator = kInitiators[random_() % kInitiators.size()];
    request.start_us = time();
    request.end_us = below(8) == 0 ? time() : request.start_us + below(900);
    request.has_moments = below(2) > 0;
    auto at = request.start_us;
    for (auto& moment : request.moments_us) {
      at = below(10) == 0 ? time() : at + below(100);
      moment = request.has_moments ? at : 0;
    }
    request.bytes = below(3000);
    request.status = below(5) == 0 ? 302 : 200;
  }

  void add_work() {
    view.works.push_back({.kind = below(2) > 0 ? CallKind::kTask : CallKind::kMeasure,
                          .name = below(2) > 0 ? "script" : "layout",
                          .url = below(2) > 0 ? "https://ads.example/x.js" : "",
                          .start_us = time(),
                          .end_us = time()});
  }

  std::mt19937_64& random_;
  std::deque<std::string> texts_;
};

}  // namespace reprise
