// HARs.

#include "archive/import/har.h"
#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  HarFacts facts;
  fuzz_reader(data, size, [&facts](ByteReader& from, Collector&) { facts = find_har_facts(from); });
  fuzz_reader(data, size, [&facts](ByteReader& from, Collector& collector) {
    AttachmentReader attachments(collector, no_attachment);
    import_har(from, facts, attachments, collector);
  });
  return 0;
}
