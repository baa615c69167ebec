// Lines of calls: whatever is written, it is a tree or a fault; a tree comes back as it was, and
// its shares sum to its window.

#include <cstdlib>
#include <numeric>
#include <string_view>

#include "analysis/calls/call_lines.h"
#include "analysis/contribution/chain.h"
#include "analysis/contribution/explanation.h"
#include "analysis/contribution/share.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto tree = read_call_line({reinterpret_cast<const char*>(data), size});
  if (!tree) {
    check(!tree.error().empty());
    return 0;
  }
  auto const line = call_line(*tree);
  auto const again = read_call_line(line);
  check(again && call_line(*again) == line);
  auto const shares = share_evenly(*tree);
  check(std::accumulate(shares.calls.begin(), shares.calls.end(), shares.gap_us) ==
        tree->window_us);
  auto const chain = share_chain(*tree);
  check(std::accumulate(chain.calls.begin(), chain.calls.end(), chain.gap_us) == tree->window_us);
  std::vector<GivenView> views(1);
  views[0].tree = std::move(*tree);
  auto const& rules = KindRules::standard();
  ExplainOptions const options{.by = {"page"}, .trend = true};
  auto const explanation = explain(views, rules, Entities(), options);
  check(explanation.slices.size() == 2);
  check(!to_json(explanation, rules, options, {}).empty());
  return 0;
}
