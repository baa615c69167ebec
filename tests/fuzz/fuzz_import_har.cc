// HARs.

#include "archive/import/har.h"
#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  fuzz_reader(data, size, [](ByteReader& from, Collector& collector) {
    import_har(from, no_attachment, collector);
  });
  return 0;
}
