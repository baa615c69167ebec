// Values of Banky-Trace fields, one a line: a trace that is read comes back as it was when it is
// written and read again. The same text as the JSON of a trace.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "analysis/trench/trench_fields.h"
#include "analysis/trench/trench_json.h"
#include "tests/analysis/trench/trench_field_values.h"

using namespace reprise;

namespace {

void check_comes_back(const TrenchTrace& trace) {
  auto const values = trench_field_values(trace);
  std::vector<HeaderView> fields;
  for (auto const& value : values) fields.push_back({.name = kTrenchField, .value = value});
  auto const again = read_trench_fields(fields);
  if (!again || again->trace != trace) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  std::vector<HeaderView> fields;
  for (auto rest = text; !rest.empty();) {
    auto const end = rest.find('\n');
    fields.push_back({.name = kTrenchField, .value = rest.substr(0, end)});
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  auto const read = read_trench_fields(fields);
  if (!read && read.error().empty()) std::abort();
  if (read && read->trace) check_comes_back(*read->trace);

  auto const trace = read_trench_json(text);
  if (!trace && trace.error().empty()) std::abort();
  if (trace) check_comes_back(*trace);
  return 0;
}
