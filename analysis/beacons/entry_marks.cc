#include "analysis/beacons/entry_fields.h"

namespace reprise {
namespace {

/// Calls `read(key)` for each field of each object of a list, as long as it returns true, and
/// `end()` after each object.
template <class Read, class End>
bool each_marked_object(JsonMarks& marks, const Read& read, const End& end) {
  if (!marks.take('[')) return false;
  if (marks.take(']')) return true;
  do {
    if (!marks.take('{')) return false;
    do {
      std::string_view key;
      if (!marks.text(key) || !marks.take(':') || !read(key)) return false;
    } while (marks.take(','));
    if (!marks.take('}') || !end()) return false;
  } while (marks.take(','));
  return marks.take(']');
}

bool read_server_timing(JsonMarks& marks, BeaconView& view) {
  BeaconServerTime time{.request = static_cast<std::uint32_t>(view.requests.size())};
  return each_marked_object(
      marks,
      [&](std::string_view key) {
        if (key == "name") return marks.text(time.name);
        if (key == "description") return marks.text(time.description);
        if (key == "duration") return marks.thousandths(time.duration_us);
        return marks.skip();
      },
      [&] {
        if (view.server_times.size() == kBeaconCallsMax) return false;
        view.server_times.push_back(time);
        time = {.request = time.request};
        return true;
      });
}

bool read_scripts(JsonMarks& marks, BeaconView& view) {
  BeaconWork work{.name = "script"};
  double start = 0, duration = 0;
  return each_marked_object(
      marks,
      [&](std::string_view key) {
        if (key == "startTime") return marks.number(start);
        if (key == "duration") return marks.number(duration);
        if (key == "sourceURL") return marks.text(work.url);
        if (key == "sourceFunctionName") return marks.text(work.function);
        return marks.skip();
      },
      [&] {
        if (view.works.size() == kBeaconCallsMax) return false;
        work.start_us = beacon_time(start, 1000);
        work.end_us = beacon_time(start + duration, 1000);
        view.works.push_back(work);
        work = {.name = "script"};
        return true;
      });
}

}  // namespace

bool EntryReader::read(JsonMarks& marks, BeaconView& view) {
  if (!marks.take('[')) return false;
  if (marks.take(']')) return true;
  do {
    if (view.requests.size() == kBeaconCallsMax || !read_entry(marks, view)) return false;
  } while (marks.take(','));
  return marks.take(']');
}

bool EntryReader::read_entry(JsonMarks& marks, BeaconView& view) {
  Entry entry;
  double start = 0, duration = 0;
  entry.works_before = view.works.size();
  entry.server_times_before = view.server_times.size();
  auto walk = marks;
  auto const list = [&](bool (&read)(JsonMarks&, BeaconView&)) {
    marks = walk;
    bool const taken = read(marks, view);
    walk = marks;
    return taken;
  };
  if (!walk.take('{')) return false;
  std::size_t place = 0;
  do {
    const char* key = nullptr;
    if (!walk.key(key)) return false;
    auto const field = field_at(place++, key);
    bool taken = true;
    switch (field) {
      case Field::kUnused:
        taken = walk.skip();
        break;
      case Field::kName:
        taken = walk.text(entry.name);
        break;
      case Field::kEntryType:
        taken = walk.text(entry.type);
        break;
      case Field::kInitiator:
        taken = walk.text(entry.initiator);
        break;
      case Field::kDelivery:
        taken = walk.text(entry.delivery);
        break;
      case Field::kProtocol:
        taken = walk.text(entry.protocol);
        break;
      case Field::kMime:
        taken = walk.text(entry.mime);
        break;
      case Field::kServerTiming:
        taken = list(read_server_timing);
        break;
      case Field::kScripts:
        taken = list(read_scripts);
        break;
      case Field::kStart:
        taken = walk.number(start);
        entry.set(field, beacon_time(start, 1000));
        break;
      case Field::kDuration:
        taken = walk.number(duration);
        break;
      default: {
        std::int64_t number = 0;
        taken = is_count(field) ? walk.count(number) : walk.thousandths(number);
        entry.set(field, number);
      }
    }
    if (!taken) return false;
  } while (walk.take(','));
  if (!walk.take('}')) return false;
  marks = walk;
  entry.end_us = beacon_time(start + duration, 1000);
  add(entry, view);
  return true;
}

}  // namespace reprise
