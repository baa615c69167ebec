#include <algorithm>

#include "analysis/beacons/beacon_json.h"

namespace reprise {
namespace {

using simdjson::error_code;

constexpr std::int64_t kUnitUs = 100;  ///< of the lean form's times
constexpr std::int64_t kMostTenths = 2 * CallTree::kWindowUsMax / kUnitUs;

std::int64_t lean_time(ondemand::value value, BeaconView& view) {
  std::int64_t tenths = 0;
  if (value.get_int64().get(tenths) == simdjson::SUCCESS) {
    return std::clamp(tenths, -kMostTenths, kMostTenths) * kUnitUs;
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

/// A request with all its moments, or without.
bool read_lean_request(JsonMarks& marks, BeaconRequest& request) {
  auto const time = [&marks](std::int64_t& us) {
    std::int64_t tenths = 0;
    if (!marks.take(',') || !marks.count(tenths)) return false;
    us = std::min(tenths, kMostTenths) * kUnitUs;
    return true;
  };
  if (!marks.take('[') || !marks.text(request.name) || !marks.take(',') ||
      !marks.text(request.initiator) || !time(request.start_us) || !time(request.end_us) ||
      !marks.take(',') || !marks.count(request.bytes)) {
    return false;
  }
  request.has_padding = true;
  if (marks.take(']')) return true;
  request.has_moments = true;
  for (auto& moment : request.moments_us) {
    if (!time(moment)) return false;
    moment += request.start_us;
  }
  return marks.take(']');
}

bool read_lean_work(JsonMarks& marks, BeaconWork& work) {
  std::int64_t start = 0, end = 0;
  if (!marks.take('[') || !marks.text(work.name) || !marks.take(',') || !marks.count(start) ||
      !marks.take(',') || !marks.count(end) || !marks.take(']')) {
    return false;
  }
  work.start_us = std::min(start, kMostTenths) * kUnitUs;
  work.end_us = std::min(end, kMostTenths) * kUnitUs;
  if (work.kind == CallKind::kTask) {
    work.url = work.name;
    work.name = "script";
  }
  return true;
}

/// Calls `read(walk)` for each value of a list, as long as it returns true.
template <class Read>
bool each_marked(JsonMarks& marks, const Read& read) {
  auto walk = marks;
  if (!walk.take('[')) return false;
  if (!walk.take(']')) {
    do {
      if (!read(walk)) return false;
    } while (walk.take(','));
    if (!walk.take(']')) return false;
  }
  marks = walk;
  return true;
}

}  // namespace

bool read_lean_requests(JsonMarks& marks, BeaconView& view) {
  return each_marked(marks, [&](JsonMarks& walk) {
    return view.requests.size() < kBeaconCallsMax &&
           read_lean_request(walk, view.requests.emplace_back());
  });
}

bool read_lean_works(JsonMarks& marks, CallKind kind, BeaconView& view) {
  return each_marked(marks, [&](JsonMarks& walk) {
    return view.works.size() < kBeaconCallsMax &&
           read_lean_work(walk, view.works.emplace_back(BeaconWork{.kind = kind}));
  });
}

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
