// Prints how long transfers take by the stream model: a table over profiles and sizes, cold (from
// the SYN to the last byte, and from the request) and warm (a second one on the same connection).

#include <chrono>
#include <cstdio>
#include <vector>

#include "shaper/stream/model_transfers.h"

using namespace reprise;
using Time = StreamNetwork::Time;

namespace {

double ms(Time time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> links(argv + 1, argv + argc);
  if (links.empty()) links = {"wpt:4g", "wpt:lte", "wpt:3gfast", "wpt:cable", "wpt:fios"};
  std::printf("%-24s %10s %12s %14s %10s\n", "link", "bytes", "cold ms", "of request ms",
              "warm ms");
  for (const char* const link : links) {
    auto const profile = parse_link(link);
    if (!profile) {
      std::fprintf(stderr, "measure_stream: %s\n", profile.error().c_str());
      return 2;
    }
    for (std::uint64_t const bytes : {14'000ULL, 50'000ULL, 200'000ULL, 1'000'000ULL}) {
      ModelTransfers transfers(*profile, 1);
      transfers.connect();
      auto const cold = transfers.fetch(bytes);
      auto const total = transfers.now();
      auto const warm = transfers.fetch(bytes);
      std::printf("%-24s %10llu %12.1f %14.1f %10.1f\n", link,
                  static_cast<unsigned long long>(bytes), ms(total), ms(cold), ms(warm));
    }
  }
  return 0;
}
