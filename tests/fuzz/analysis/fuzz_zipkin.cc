// Lists of Zipkin's spans.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string_view>

#include "analysis/spans/zipkin.h"
#include "tests/fuzz/fuzz_spans.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  boost::system::error_code error;
  auto const value = boost::json::parse({reinterpret_cast<const char*>(data), size}, error);
  if (error || !value.is_array()) return 0;
  reprise::SpanSet set;
  reprise::read_zipkin(value.get_array(), set);
  reprise::check_spans(set);
  return 0;
}
