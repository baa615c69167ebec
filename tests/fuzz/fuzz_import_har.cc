// HARs.

#include "archive/import/har.h"
#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  fuzz_reader(data, size, [](ByteReader& from, Collector& collector) {
    AttachmentReader attachments(collector, no_attachment);
    import_har(from, attachments, collector);
  });
  return 0;
}
