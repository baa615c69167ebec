// Web Page Replay archives, unzipped.

#include "archive/import/wprgo.h"
#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  fuzz_reader(data, size, [](ByteReader& from, Collector&) { find_wprgo_date(from); });
  fuzz_reader(data, size, [](ByteReader& from, Collector& collector) {
    import_wprgo(from, std::nullopt, collector);
  });
  return 0;
}
