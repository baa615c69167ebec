// Prints how long transfers take by the stream model: a table over profiles and sizes, cold (from
// the SYN to the last byte, and from the request) and warm (a second one on the same connection).

#include <chrono>
#include <cstdio>
#include <vector>

#include "shaper/stream/stream_network.h"

using namespace reprise;
using Time = StreamNetwork::Time;

namespace {

constexpr std::uint64_t kRequestBytes = 300;

/// One client that asks and one server that answers at once.
class Transfers {
 public:
  Transfers(const LinkProfile& profile, std::uint64_t seed) : network_(profile, seed, Time(0)) {
    connection_ = network_.open(Time(0));
    while (!connected_) step();
  }

  /// From the request to the last byte of an answer.
  Time fetch(std::uint64_t bytes) {
    auto const begin = now_;
    asked_ += kRequestBytes;
    network_.write(connection_, Direction::up, kRequestBytes, now_);
    while (network_.delivered(connection_, Direction::up) < asked_) step();
    answered_ += bytes;
    network_.write(connection_, Direction::down, bytes, now_);
    while (network_.delivered(connection_, Direction::down) < answered_) step();
    return now_ - begin;
  }

  Time now() const { return now_; }

 private:
  void step() {
    now_ = *network_.next_event();
    events_.clear();
    network_.advance(now_, events_);
    for (const StreamEvent& event : events_) {
      connected_ |= event.kind == StreamEvent::Kind::connected;
    }
  }

  StreamNetwork network_;
  Time now_{0};
  std::uint64_t connection_ = 0;
  bool connected_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<StreamEvent> events_;
};

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
      Transfers transfers(*profile, 1);
      auto const cold = transfers.fetch(bytes);
      auto const total = transfers.now();
      auto const warm = transfers.fetch(bytes);
      std::printf("%-24s %10llu %12.1f %14.1f %10.1f\n", link,
                  static_cast<unsigned long long>(bytes), ms(total), ms(cold), ms(warm));
    }
  }
  return 0;
}
