// Files of a mahimahi folder.

#include "archive/import/mahimahi.h"
#include "tests/fuzz/fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::importing;
  CollectingSink sink;
  Collector collector(sink, true);
  std::string_view const file(reinterpret_cast<const char*>(data), size);
  begins_as_mahimahi(file);
  EarliestDate date;
  take_mahimahi_date(file, date);
  import_mahimahi(file, date.get(), collector);
  check_exchanges(sink);
  return 0;
}
