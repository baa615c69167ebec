// What rewriting costs, printed: the two figures that matter are the throughput of a large page
// without compression, and the first use of a page of 100 KB with gzip.
//
//   build/release/measure_inject

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "find_place.h"
#include "inject/rewrite.h"
#include "sample_page.h"

using namespace reprise;
using namespace reprise::inject;

namespace {

// Milliseconds of the median of `runs` calls.
template <class Work>
double median_ms(int runs, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    auto const start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::nth_element(times, times.begin() + runs / 2);
  return times[static_cast<std::size_t>(runs) / 2];
}

struct Form {
  const char* name;
  std::vector<Coding> codings;
  int runs;
};

void measure(const InjectedScript& script, std::size_t page_bytes, const Form& form) {
  auto const page = sample_page(page_bytes);
  Effort const effort = form.codings.empty() ? 0 : default_effort(form.codings.front());
  Buffer coded;
  Encoder(form.codings, effort).write(bytes_of(page), Until::kEnd, coded);
  std::vector<HeaderView> headers{{.name = "Content-Type", .value = "text/html; charset=utf-8"}};
  if (!form.codings.empty()) headers.push_back({.name = "Content-Encoding", .value = form.name});
  std::int64_t added = 0;
  auto const ms = median_ms(form.runs, [&] {
    added = rewrite(script, 200, headers, coded, {.effort = effort, .limits = {}})
                .report.added_wire_bytes;
  });
  double fit_ms = 0;
  if (!form.codings.empty()) {
    fit_ms = median_ms(5, [&] { (void)fit_effort(form.codings, coded); });
  }
  std::printf("| %zu KB | %s | %.3f | %.0f | %.1f | %lld |\n", page_bytes / 1000, form.name, ms,
              static_cast<double>(page_bytes) / 1000 / ms, fit_ms, static_cast<long long>(added));
}

}  // namespace

int main() {
  auto const script = InjectedScript::create("(function(){" + std::string(12'000, ' ') +
                                             "/* as long as the real one */})();");
  if (!script) return 1;
  std::printf("| page | coding | rewrite, ms | MB/s | fit_effort, ms | added bytes |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (std::size_t const size : {std::size_t{100'000}, std::size_t{1'000'000}}) {
    measure(*script, size, {"identity", {}, 200});
    measure(*script, size, {"gzip", {Coding::kGzip}, 50});
    measure(*script, size, {"br", {Coding::kBrotli}, 20});
    measure(*script, size, {"zstd", {Coding::kZstd}, 50});
  }
}
