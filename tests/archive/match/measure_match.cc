// Writes an archive whose exchanges all have one path and other queries, and prints, as one line of
// JSON, what it costs to find one, the best of what is not the same, and what came near.
// Usage: measure_match [EXCHANGES] [FOLDER]

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "archive/match/build.h"
#include "archive/match/match.h"
#include "archive/reader.h"
#include "archive/writer.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLookUps = 20'000;
constexpr std::size_t kMisses = 2'000;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "measure_match: %s\n", what);
  std::exit(1);
}

std::string target_of(std::size_t i, std::size_t version, std::uint64_t time) {
  return "/api/items?id=item-" + std::to_string(i) + "&lang=" + (i % 2 == 0 ? "de" : "en") +
         "&page=" + std::to_string(i % 40) + "&fmt=json&v=" + std::to_string(version) +
         "&_=" + std::to_string(1'700'000'000'000 + time);
}

StoredRequest request_to(std::string target) {
  StoredRequest request;
  request.method = "GET";
  request.scheme = Scheme::kHttps;
  request.host = "api.example.org";
  request.port = 443;
  request.target = std::move(target);
  request.headers = {{.name = "Accept", .value = "*/*"},
                     {.name = "Accept-Language", .value = "en-US,en;q=0.9"}};
  return request;
}

void write(const std::filesystem::path& path, std::size_t count) {
  auto writer = ArchiveWriter::create(path, {});
  check(writer.has_value(), "cannot make the archive");
  check((*writer)->begin_session({}).has_value(), "cannot begin the session");
  for (std::size_t i = 0; i < count; ++i) {
    Exchange exchange;
    exchange.sequence = i + 1;
    exchange.request = request_to(target_of(i, 1, i));
    exchange.response.status = 200;
    auto const text = "item " + std::to_string(i);
    BodyWriter body(**writer);
    check(body.append(std::as_bytes(std::span(text))).has_value(), "cannot add a body");
    exchange.response.body = *body.finish();
    check((*writer)->add_exchange(std::move(exchange)).has_value(), "cannot add an exchange");
  }
  check((*writer)->end_session().has_value(), "cannot end the session");
  check((*writer)->close().has_value(), "cannot close");
}

struct Times {
  double p50_us = 0;
  double p99_us = 0;
};

Times times_of(std::vector<double> all) {
  std::ranges::sort(all);
  return {.p50_us = all[all.size() / 2], .p99_us = all[all.size() * 99 / 100]};
}

/// Decides each of `targets` and takes the time, decoding what is looked at included.
Times measure(const ArchiveReader& reader, const Matcher& matcher,
              const std::vector<std::string>& targets, MatchKind expected) {
  SequenceCursors cursors(reader.entries().size());
  std::vector<double> all;
  StoredRequest decoded;
  Matcher::RequestOf const request_of = [&](std::uint32_t ordinal) -> const StoredRequest* {
    auto exchange = reader.exchange(ordinal);
    if (!exchange) return nullptr;
    decoded = std::move(exchange->request);
    return &decoded;
  };
  for (auto const& target : targets) {
    auto const request = request_to(target);
    auto const start = Clock::now();
    auto const decision = matcher.decide(asked_as(request, {}), cursors, request_of);
    all.push_back(microseconds_since(start));
    check(decision.kind == expected, "an unexpected decision");
  }
  return times_of(std::move(all));
}

Times measure_nearest(const Matcher& matcher, const std::vector<std::string>& targets) {
  std::vector<double> all;
  for (auto const& target : targets) {
    auto const request = request_to(target);
    auto const start = Clock::now();
    auto const misses = matcher.nearest(asked_as(request, {}));
    all.push_back(microseconds_since(start));
    check(!misses.empty(), "nothing came near");
  }
  return times_of(std::move(all));
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  auto const count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000ULL;
  auto const folder =
      argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path();
  check(count >= 1000, "at least 1000 exchanges");
  auto const path = folder / ("measure-" + std::to_string(::getpid()) + ".reprise");
  auto start = Clock::now();
  write(path, count);
  auto const write_ms = microseconds_since(start) / 1000;
  auto const reader = ArchiveReader::open(path, {});
  check(reader.has_value(), "cannot open the archive");
  start = Clock::now();
  Matcher const matcher(**reader, 0);
  auto const matcher_ms = microseconds_since(start) / 1000;
  start = Clock::now();
  auto const rebuilt = build_match_index(**reader);
  auto const build_ms = microseconds_since(start) / 1000;

  std::mt19937_64 random(7);
  std::vector<std::string> exact;
  std::vector<std::string> other_time;
  std::vector<std::string> other_version;
  std::vector<std::string> other_item;
  for (std::size_t n = 0; n < kLookUps; ++n) {
    auto const i = random() % count;
    exact.push_back(target_of(i, 1, i));
    other_time.push_back(target_of(i, 1, count + n));
    other_version.push_back(target_of(i, 2 + n, count + n));
    if (n < kMisses) other_item.push_back(target_of(count + n, 1, count + n));
  }
  auto const line = [](const char* name, Times times) {
    std::printf(",\"%s_p50_us\":%.2f,\"%s_p99_us\":%.2f", name, times.p50_us, name, times.p99_us);
  };
  std::printf("{\"exchanges\":%llu,\"write_ms\":%.0f,\"matcher_ms\":%.1f,\"build_index_ms\":%.0f",
              static_cast<unsigned long long>(count), write_ms, matcher_ms, build_ms);
  std::printf(",\"match_index_bytes\":%zu", rebuilt.size());
  line("exact", measure(**reader, matcher, exact, MatchKind::kExact));
  line("fuzzy_time", measure(**reader, matcher, other_time, MatchKind::kFuzzy));
  line("fuzzy_version", measure(**reader, matcher, other_version, MatchKind::kFuzzy));
  line("miss", measure(**reader, matcher, other_item, MatchKind::kMiss));
  line("nearest", measure_nearest(matcher, other_item));
  std::printf("}\n");
  std::filesystem::remove(path);
  return 0;
}
