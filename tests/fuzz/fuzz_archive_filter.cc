// Filter texts: whatever is written, it is a filter or a fault with a place, and a filter answers.

#include <cstdlib>
#include <string_view>

#include "archive/edit/filter.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

Exchange sample() {
  Exchange exchange;
  exchange.session = 1;
  exchange.request.method = "GET";
  exchange.request.scheme = Scheme::kHttps;
  exchange.request.host = "www.example.org";
  exchange.request.port = 443;
  exchange.request.target = "/a/b.html?q=1";
  exchange.response.status = 404;
  exchange.response.version = HttpVersion::kH2;
  exchange.response.headers = {{.name = "content-type", .value = "text/html"}};
  exchange.response.body.size_bytes = 1500;
  exchange.timings.queued = std::chrono::milliseconds(2500);
  return exchange;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Exchange kSample = sample();
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  auto const filter = Filter::parse(text);
  if (!filter) {
    check(filter.error().position <= text.size());
    check(!filter.error().what.empty());
    check(caret_text(text, filter.error()).ends_with("^"));
    return 0;
  }
  // In parentheses, and in two nots, it means the same.
  bool const taken = filter->takes(kSample, 17);
  auto const wrapped = Filter::parse("!(!(" + std::string(text) + "))");
  check(!wrapped || wrapped->takes(kSample, 17) == taken);
  return 0;
}
