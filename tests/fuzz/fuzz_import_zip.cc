// Zips: WACZ, and HARs with their attachments.

#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  fuzz_file(data, size);
  return 0;
}
