#include "analysis/beacons/beacon_view.h"

#include <algorithm>

namespace reprise {
namespace {

/// What a request does until each moment, and after the last one, by place in kBeaconPhaseNames.
constexpr std::array<std::uint8_t, kBeaconMoments + 1> kPhases = {0, 1, 0, 2, 0, 3, 4, 0, 5, 6};

}  // namespace

BeaconPhases phases_of(const BeaconRequest& request) {
  BeaconPhases phases;
  if (!request.has_moments) return phases;
  auto at = request.start_us;
  auto const end = std::max(request.start_us, request.end_us);
  auto moments = request.moments_us;
  auto const moment = [&moments](BeaconMoment which) -> std::int64_t& {
    return moments[static_cast<std::size_t>(which)];
  };
  if (moment(BeaconMoment::kTlsStart) < moment(BeaconMoment::kConnectStart)) {
    moment(BeaconMoment::kTlsStart) = moment(BeaconMoment::kConnectEnd);
  }
  if (moment(BeaconMoment::kResponse) < moment(BeaconMoment::kRequest)) {
    moment(BeaconMoment::kResponse) = end;
  }
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    auto const until = i < kBeaconMoments ? std::clamp(moments[i], at, end) : end;
    if (until == at) continue;
    if (phases.count > 0 && phases.list[phases.count - 1].which == kPhases[i]) {
      phases.list[phases.count - 1].end_us = until;
    } else {
      phases.list[phases.count++] = {.which = kPhases[i], .start_us = at, .end_us = until};
    }
    at = until;
  }
  return phases;
}

void BeaconView::clear() {
  page = {};
  started_unix_ms.reset();
  load_us = 0;
  tags.clear();
  requests.clear();
  works.clear();
  server_times.clear();
  losses.clear();
}

void BeaconView::start_at(double unix_ms) {
  if (unix_ms <= 0) return;
  // Not a number is in no order.
  if (!(unix_ms <= kStartedUnixMsMax)) return lose("starts out of range, taken as missing");
  started_unix_ms = unix_ms;
}

void BeaconView::add_tag(std::string_view name, std::string_view value) {
  if (tags.size() == kTagsMax || name.size() > kTagBytesMax || value.size() > kTagBytesMax) {
    lose("tags beyond the first 32, or longer than 400 bytes");
  } else {
    tags.emplace_back(name, value);
  }
}

void BeaconView::lose(std::string_view what, std::uint64_t count) {
  auto const found = std::ranges::find(losses, what, [](auto const& loss) { return loss.first; });
  if (found != losses.end()) {
    found->second += count;
  } else {
    losses.emplace_back(what, count);
  }
}

std::int64_t BeaconView::window_us() const {
  auto window = load_us;
  if (window <= 0) {
    for (BeaconRequest const& request : requests) window = std::max(window, request.end_us);
    for (BeaconWork const& work : works) window = std::max(window, work.end_us);
  }
  return std::clamp<std::int64_t>(window, 0, CallTree::kWindowUsMax);
}

}  // namespace reprise
