// HARs as calls: whatever is written, there are trees or a fault, and every tree is normalized.

#include <cstdlib>
#include <string_view>

#include "analysis/contribution/share.h"
#include "analysis/sources/har_calls.h"

using namespace reprise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  importing::MemoryInput input(text);
  importing::InputSource source(input, 0, text.size(), nullptr);
  importing::ByteReader reader(source);
  auto const trees = read_har_calls(reader);
  if (!trees) {
    if (trees.error().empty()) std::abort();
    return 0;
  }
  for (CallTree const& tree : *trees) {
    auto copy = tree;
    normalize(copy);
    if (copy.losses.size() != tree.losses.size()) std::abort();
    share_evenly(tree);
  }
  return 0;
}
