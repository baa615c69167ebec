// WARCs and ARCs, plain and compressed.

#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  fuzz_file(data, size);
  return 0;
}
