#include <array>
#include <string>
#include <vector>

#include "shaper/profile.h"

namespace reprise {
namespace {

/// As in the sources: bit/s, and the round trip in ms.
struct Row {
  const char* id;
  std::uint32_t down_bps;
  std::uint32_t up_bps;
  std::uint32_t rtt_ms;
};

struct Source {
  const char* name_space;
  const char* text;
  std::vector<Row> rows;
};

const std::array<Source, 4>& sources() {
  static const std::array<Source, 4> all{{
      {"wpt",
       "WebPageTest, connectivity.ini.sample",
       {{"dial", 49'000, 30'000, 120},
        {"edge", 240'000, 200'000, 840},
        {"2g", 280'000, 256'000, 800},
        {"3gslow", 400'000, 400'000, 400},
        {"3g", 1'600'000, 768'000, 300},
        {"3gfast", 1'600'000, 768'000, 150},
        {"4g", 9'000'000, 9'000'000, 170},
        {"4gfast", 10'240'000, 10'240'000, 40},
        {"lte", 12'000'000, 12'000'000, 70},
        {"dsl", 1'500'000, 384'000, 50},
        {"cable", 5'000'000, 1'000'000, 28},
        {"fios", 20'000'000, 5'000'000, 4}}},
      {"sitespeed",
       "sitespeed.io throttle, connectivity profiles",
       {{"dial", 49'000, 30'000, 60},
        {"edge", 240'000, 200'000, 420},
        {"2g", 280'000, 256'000, 400},
        {"3gslow", 400'000, 400'000, 200},
        {"3g", 1'600'000, 768'000, 150},
        {"3gfast", 1'600'000, 768'000, 75},
        {"4g", 9'000'000, 9'000'000, 85},
        {"lte", 12'000'000, 12'000'000, 35},
        {"dsl", 1'500'000, 384'000, 25},
        {"cable", 5'000'000, 1'000'000, 14},
        {"fios", 20'000'000, 5'000'000, 2}}},
      {"lighthouse",
       "Lighthouse, throttling constants (what it simulates, not what DevTools applies)",
       {{"slow4g", 1'638'400, 750'000, 150}, {"desktop", 10'240'000, 10'240'000, 40}}},
      {"telemetry",
       "Chromium telemetry, traffic settings",
       {{"gprs", 50'000, 20'000, 500},
        {"regular2g", 250'000, 50'000, 300},
        {"good2g", 450'000, 150'000, 150},
        {"regular3g", 750'000, 250'000, 100},
        {"good3g", 1'536'000, 750'000, 40},
        {"regular4g", 4'096'000, 3'072'000, 20},
        {"dsl", 2'048'000, 1'024'000, 5},
        {"wifi", 30'720'000, 15'360'000, 2}}},
  }};
  return all;
}

LinkProfile profile_of(const Source& source, const Row& row) {
  std::chrono::nanoseconds const rtt = std::chrono::milliseconds(row.rtt_ms);
  LinkProfile profile{.id = std::string(source.name_space) + ":" + row.id, .source = source.text};
  profile.down = {.rate_bps = row.down_bps, .delay = rtt / 2};
  profile.up = {.rate_bps = row.up_bps, .delay = rtt / 2};
  profile.down.queue.packets = default_queue_packets(row.down_bps, rtt);
  profile.up.queue.packets = default_queue_packets(row.up_bps, rtt);
  return profile;
}

std::vector<LinkProfile> all_profiles() {
  std::vector<LinkProfile> profiles;
  for (const Source& source : sources()) {
    for (const Row& row : source.rows) profiles.push_back(profile_of(source, row));
  }
  return profiles;
}

}  // namespace

std::span<const LinkProfile> known_profiles() {
  static const std::vector<LinkProfile> profiles = all_profiles();
  return profiles;
}

}  // namespace reprise
