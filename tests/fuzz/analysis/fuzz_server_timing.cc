// Values of Server-Timing fields, one a line, as calls in the wait of a request.

#include <string_view>

#include "analysis/spans/server_calls.h"
#include "tests/fuzz/fuzz_spans.h"

using namespace reprise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<HeaderView> fields;
  for (std::string_view rest(reinterpret_cast<const char*>(data), size); !rest.empty();) {
    auto const end = rest.find('\n');
    fields.push_back({.name = "Server-Timing", .value = rest.substr(0, end)});
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  CallTree view{.window_us = 1'000'000};
  view.calls = {{.kind = CallKind::kRequest, .end_us = 900'000},
                {.kind = CallKind::kPhase, .name = "wait", .end_us = 500'000, .parent = 0}};
  TraceNames names;
  add_server_calls(view, 0, wait_of(view, 0), names, fields);
  check_tree(view);
  for (const Call& call : view.calls) {
    if (call.kind == CallKind::kSpan && call.end_us > 500'000) std::abort();
  }
  return 0;
}
