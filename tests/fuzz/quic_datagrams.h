#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise {

/// How many datagrams fuzz_quic.cc has given to connections.
extern std::uint64_t fuzzed_quic_datagrams;

}  // namespace reprise

/// The fuzz target; aborts if an assertion of the libraries failed.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
