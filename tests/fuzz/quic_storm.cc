// Random inputs for fuzz_quic.cc, until connections were given so many datagrams: as they are,
// damaged, twice, or of random bytes. Without sanitizers, so that 10 million take minutes.
//
// usage: quic_storm DATAGRAMS SEED
// Prints one JSON object: what was sent, and how much memory grew after the first tenth.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/quic_datagrams.h"

namespace {

constexpr std::size_t kInputBytesMax = 40'000;

std::uint64_t resident_kb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t value = 0;
  while (status >> word) {
    if (word == "VmRSS:" && status >> value) break;
  }
  return value;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: quic_storm DATAGRAMS SEED\n");
    return 2;
  }
  auto const datagrams = std::strtoull(arguments[1], nullptr, 10);
  std::mt19937_64 random(std::strtoull(arguments[2], nullptr, 10));
  std::uint64_t connections = 0;
  std::uint64_t before_kb = 0;
  std::vector<unsigned char> input;
  while (reprise::fuzzed_quic_datagrams < datagrams) {
    input.resize(random() % kInputBytesMax);
    for (auto& octet : input) octet = static_cast<unsigned char>(random());
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++connections;
    if (before_kb == 0 && reprise::fuzzed_quic_datagrams * 10 >= datagrams) {
      before_kb = resident_kb();
    }
  }
  auto const grown_kb = static_cast<std::int64_t>(resident_kb() - before_kb);
  std::printf("{\"datagrams\": %llu, \"connections\": %llu, \"grown_kb\": %lld}\n",
              static_cast<unsigned long long>(reprise::fuzzed_quic_datagrams),
              static_cast<unsigned long long>(connections), static_cast<long long>(grown_kb));
}
