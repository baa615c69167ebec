#include <algorithm>

#include "analysis/beacons/entry_fields.h"

namespace reprise {

using simdjson::error_code;

namespace {

/// The texts of a list of objects go to `use(key, value)`, then `end()` is called for each.
template <class Use, class End>
error_code each_object(ondemand::value value, BeaconView& view, const Use& use, const End& end) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    view.lose("lists of an entry that are not lists");
    return simdjson::SUCCESS;
  }
  for (auto element : array) {
    ondemand::value whole;
    if (auto const error = std::move(element).get(whole)) return error;
    ondemand::object object;
    if (auto const error = whole.get_object().get(object)) {
      if (error != simdjson::INCORRECT_TYPE) return error;
      view.lose("parts of an entry that are not objects");
      continue;
    }
    for (auto field : object) {
      ondemand::raw_json_string key;
      ondemand::value inner;
      if (auto const error = field.key().get(key)) return error;
      if (auto const error = field.value().get(inner)) return error;
      use(key, inner);
    }
    end();
  }
  return simdjson::SUCCESS;
}

error_code read_server_timing(ondemand::value value, BeaconView& view) {
  BeaconServerTime time{.request = static_cast<std::uint32_t>(view.requests.size())};
  return each_object(
      value, view,
      [&](ondemand::raw_json_string key, ondemand::value inner) {
        if (key == "name") time.name = beacon_text(inner, view);
        if (key == "description") time.description = beacon_text(inner, view);
        if (key == "duration") time.duration_us = beacon_time(beacon_number(inner, view), 1000);
      },
      [&] {
        if (view.server_times.size() < kBeaconCallsMax) {
          view.server_times.push_back(time);
        } else {
          view.lose(kTooMany);
        }
        time = {.request = time.request};
      });
}

void add_work(const BeaconWork& work, BeaconView& view) {
  if (view.works.size() < kBeaconCallsMax) {
    view.works.push_back(work);
  } else {
    view.lose(kTooMany);
  }
}

error_code read_scripts(ondemand::value value, BeaconView& view) {
  BeaconWork work{.name = "script"};
  double start = 0, duration = 0;
  return each_object(
      value, view,
      [&](ondemand::raw_json_string key, ondemand::value inner) {
        if (key == "startTime") start = beacon_number(inner, view);
        if (key == "duration") duration = beacon_number(inner, view);
        if (key == "sourceURL") work.url = beacon_text(inner, view);
        if (key == "sourceFunctionName") work.function = beacon_text(inner, view);
      },
      [&] {
        work.start_us = beacon_time(start, 1000);
        work.end_us = beacon_time(start + duration, 1000);
        add_work(work, view);
        work = {.name = "script"};
      });
}

}  // namespace

error_code EntryReader::read(ondemand::array entries, BeaconView& view) {
  for (auto element : entries) {
    ondemand::value value;
    if (auto const error = std::move(element).get(value)) return error;
    ondemand::object object;
    if (auto const error = value.get_object().get(object)) {
      if (error != simdjson::INCORRECT_TYPE) return error;
      view.lose("entries that are not objects");
      continue;
    }
    if (auto const error = read_entry(object, view)) return error;
  }
  return simdjson::SUCCESS;
}

error_code EntryReader::read_entry(ondemand::object object, BeaconView& view) {
  Entry entry;
  double start = 0, duration = 0;
  entry.works_before = view.works.size();
  entry.server_times_before = view.server_times.size();
  std::size_t place = 0;
  for (auto each : object) {
    ondemand::raw_json_string key;
    ondemand::value value;
    if (auto const error = each.key().get(key)) return error;
    if (auto const error = each.value().get(value)) return error;
    auto const field = field_at(place++, key.raw());
    auto error = simdjson::SUCCESS;
    switch (field) {
      case Field::kUnused:
        break;
      case Field::kName:
        entry.name = beacon_text(value, view);
        break;
      case Field::kEntryType:
        entry.type = beacon_text(value, view);
        break;
      case Field::kInitiator:
        entry.initiator = beacon_text(value, view);
        break;
      case Field::kDelivery:
        entry.delivery = beacon_text(value, view);
        break;
      case Field::kProtocol:
        entry.protocol = beacon_text(value, view);
        break;
      case Field::kMime:
        entry.mime = beacon_text(value, view);
        break;
      case Field::kServerTiming:
        error = read_server_timing(value, view);
        break;
      case Field::kScripts:
        error = read_scripts(value, view);
        break;
      default: {
        auto const number = beacon_number(value, view);
        if (field == Field::kStart) start = number;
        if (field == Field::kDuration) duration = number;
        entry.set(field, is_count(field) ? static_cast<std::int64_t>(std::clamp(number, 0., 1e15))
                                         : beacon_time(number, 1000));
      }
    }
    if (error) return error;
  }
  entry.end_us = beacon_time(start + duration, 1000);
  add(entry, view);
  return simdjson::SUCCESS;
}

void EntryReader::add(const Entry& entry, BeaconView& view) {
  auto const start = entry.number(Field::kStart);
  auto const end = entry.end_us;
  bool const is_navigation = entry.type == "navigation";
  bool const is_frame = entry.type == "long-animation-frame";
  bool const is_request = is_navigation || entry.type == "resource";
  if (!is_frame) view.works.resize(entry.works_before);
  if (!is_request) view.server_times.resize(entry.server_times_before);

  if (is_request) {
    if (is_navigation) {
      view.load_us = entry.number(Field::kLoad);
      if (view.page.empty()) view.page = entry.name;
    }
    if (view.requests.size() == kBeaconCallsMax) {
      view.server_times.resize(entry.server_times_before);
      return view.lose(kTooMany);
    }
    BeaconRequest& request = view.requests.emplace_back();
    request.name = entry.name;
    request.initiator = is_navigation ? std::string_view("navigation") : entry.initiator;
    request.start_us = start;
    // A navigation lasts until after its load event.
    request.end_us =
        entry.number(Field::kResponseEnd) > 0 ? entry.number(Field::kResponseEnd) : end;
    // Without Timing-Allow-Origin all of them are 0.
    request.has_moments = entry.number(Field::kRequest) > 0;
    if (request.has_moments) {
      std::ranges::copy(std::span(entry.numbers).first(kBeaconMoments), request.moments_us.begin());
      // The response begins with an interim one, if there is one.
      auto& response = request.moments_us[static_cast<std::size_t>(BeaconMoment::kResponse)];
      response = std::max(response, entry.number(Field::kFinalResponse));
    }
    request.bytes = entry.number(Field::kTransferSize);
    request.decoded_bytes = entry.number(Field::kDecodedSize);
    request.status = entry.number(Field::kStatus);
    request.protocol = entry.protocol;
    request.mime = entry.mime;
    request.delivery = entry.delivery;
  } else if (is_frame) {
    auto const layout = entry.number(Field::kLayoutStart);
    if (layout > 0) add_work({.name = "layout", .start_us = layout, .end_us = end}, view);
  } else if (entry.type == "measure" || entry.type == "mark" || entry.type == "paint") {
    add_work({.kind = CallKind::kMeasure, .name = entry.name, .start_us = start, .end_us = end},
             view);
  } else if (entry.type == "largest-contentful-paint") {
    add_work({.kind = CallKind::kMeasure, .name = entry.type, .start_us = start, .end_us = start},
             view);
  } else {
    view.lose("entries of types that are not read");
  }
}

}  // namespace reprise
