#include <algorithm>

#include "analysis/beacons/beacon_json.h"

namespace reprise {
namespace {

using simdjson::error_code;

constexpr std::int64_t kUnitUs = 100;  ///< of the lean form's times

std::int64_t lean_time(ondemand::value value, BeaconView& view) {
  constexpr auto kMost = 2 * CallTree::kWindowUsMax / kUnitUs;
  std::int64_t tenths = 0;
  if (value.get_int64().get(tenths) == simdjson::SUCCESS) {
    return std::clamp(tenths, -kMost, kMost) * kUnitUs;
  }
  return beacon_time(beacon_number(value, view), static_cast<double>(kUnitUs));
}

std::int64_t lean_count(ondemand::value value, BeaconView& view) {
  std::int64_t count = 0;
  if (value.get_int64().get(count) != simdjson::SUCCESS) view.lose(kNotANumber);
  return std::clamp<std::int64_t>(count, 0, 1'000'000'000'000'000);
}

/// Calls `use(place, value)` for each value of each list in `lists`, then `end(count)`.
template <class Use, class End>
error_code each_list(ondemand::array lists, BeaconView& view, const Use& use, const End& end) {
  for (auto element : lists) {
    ondemand::value whole;
    if (auto const error = std::move(element).get(whole)) return error;
    ondemand::array list;
    if (auto const error = whole.get_array().get(list)) {
      if (error != simdjson::INCORRECT_TYPE) return error;
      view.lose("entries that are not lists");
      continue;
    }
    std::size_t place = 0;
    for (auto each : list) {
      ondemand::value value;
      if (auto const error = std::move(each).get(value)) return error;
      use(place++, value);
    }
    end(place);
  }
  return simdjson::SUCCESS;
}

constexpr std::size_t kFirstMoment = 5;

}  // namespace

error_code read_lean_requests(ondemand::array requests, BeaconView& view) {
  BeaconRequest request;
  return each_list(
      requests, view,
      [&](std::size_t place, ondemand::value value) {
        switch (place) {
          case 0:
            request.name = beacon_text(value, view);
            break;
          case 1:
            request.initiator = beacon_text(value, view);
            break;
          case 2:
            request.start_us = lean_time(value, view);
            break;
          case 3:
            request.end_us = lean_time(value, view);
            break;
          case 4:
            request.bytes = lean_count(value, view);
            break;
          default:
            if (place >= kFirstMoment + kBeaconMoments) break;
            request.moments_us[place - kFirstMoment] = request.start_us + lean_time(value, view);
        }
      },
      [&](std::size_t count) {
        request.has_moments = count >= kFirstMoment + kBeaconMoments;
        if (view.requests.size() < kBeaconCallsMax) {
          view.requests.push_back(request);
        } else {
          view.lose(kTooMany);
        }
        request = {};
      });
}

error_code read_lean_works(ondemand::array works, CallKind kind, BeaconView& view) {
  BeaconWork work{.kind = kind};
  return each_list(
      works, view,
      [&](std::size_t place, ondemand::value value) {
        if (place == 0) work.name = beacon_text(value, view);
        if (place == 1) work.start_us = lean_time(value, view);
        if (place == 2) work.end_us = lean_time(value, view);
      },
      [&](std::size_t) {
        if (kind == CallKind::kTask) {
          work.url = work.name;
          work.name = "script";
        }
        if (view.works.size() < kBeaconCallsMax) {
          view.works.push_back(work);
        } else {
          view.lose(kTooMany);
        }
        work = {.kind = kind};
      });
}

}  // namespace reprise
