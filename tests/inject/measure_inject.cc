// What rewriting costs, printed: the two figures that matter are the throughput of a large page
// without compression, and the first use of a page of 100 KB with gzip.
//
//   build/release/measure_inject [FILE...]   a generated page, or these

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "inject/deterministic.h"
#include "inject/rewrite.h"
#include "tests/inject/find_place.h"
#include "tests/inject/sample_page.h"

using namespace reprise;
using namespace reprise::inject;

namespace {

// Milliseconds of processor time, of the median of `runs` calls: other programs do not count.
template <class Work>
double median_ms(int runs, const Work& work) {
  auto const now_ms = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
  };
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    auto const start = now_ms();
    work();
    times.push_back(now_ms() - start);
  }
  std::ranges::nth_element(times, times.begin() + runs / 2);
  return times[static_cast<std::size_t>(runs) / 2];
}

struct Form {
  const char* name;
  std::vector<coding::Coding> codings;
  int runs;
};

void measure(const InjectedScript& script, const std::string& page, const Form& form) {
  coding::Effort const effort = form.codings.empty() ? 0 : default_effort(form.codings.front());
  coding::Buffer coded;
  coding::Encoder(form.codings, effort).write(bytes_of(page), coding::Until::kEnd, coded);
  std::vector<HeaderView> headers{{.name = "Content-Type", .value = "text/html; charset=utf-8"}};
  if (!form.codings.empty()) headers.push_back({.name = "Content-Encoding", .value = form.name});
  RewriteOptions const options{.effort = effort, .limits = {}};
  std::int64_t added = 0;
  auto const ms = median_ms(form.runs, [&] {
    added = rewrite(script, 200, headers, coded, options).report.added_wire_bytes;
  });
  double fit_ms = 0;
  if (!form.codings.empty()) {
    fit_ms = median_ms(5, [&] { (void)fit_effort(form.codings, coded); });
  }
  std::printf("| %zu KB | %s | %.3f | %.0f | %.1f | %lld |\n", page.size() / 1000, form.name, ms,
              static_cast<double>(page.size()) / 1000 / ms, fit_ms, static_cast<long long>(added));
}

}  // namespace

int main(int argc, char** argv) {
  auto const text = deterministic_script({.time = std::chrono::years(50), .seed = 1});
  auto const script = InjectedScript::create({.document = {text.document}, .worker = text.worker});
  if (!script) return 1;
  std::vector<std::string> pages;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    pages.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (pages.empty()) pages = {sample_page(100'000), sample_page(1'000'000)};
  std::printf("| page | coding | rewrite, ms | MB/s | fit_effort, ms | added bytes |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const std::string& page : pages) {
    measure(*script, page, {"identity", {}, 200});
    measure(*script, page, {"gzip", {coding::Coding::kGzip}, 50});
    measure(*script, page, {"br", {coding::Coding::kBrotli}, 20});
    measure(*script, page, {"zstd", {coding::Coding::kZstd}, 50});
  }
}
