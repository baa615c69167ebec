// Writes an archive of many exchanges and prints, as one line of JSON, what it costs to open it and
// to look something up. Usage: measure_archive_open [EXCHANGES] [BODY_BYTES] [FOLDER]

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "archive/writer.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::uint64_t anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10);
  }
  return 0;
}

std::string number_or_null(double value) {
  return value < 0 ? "null" : std::to_string(static_cast<std::int64_t>(value));
}

/// Instructions of this thread in user mode, where the machine counts them.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    fd_ = static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~InstructionCounter() {
    if (fd_ >= 0) ::close(fd_);
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  /// -1 when they cannot be counted.
  std::int64_t now() const {
    std::int64_t count = -1;
    if (fd_ < 0 || ::read(fd_, &count, sizeof count) != sizeof count) return -1;
    return count;
  }

 private:
  int fd_ = -1;
};

std::string target_of(std::size_t i) {
  return "/path/" + std::to_string(i % 1000) + "?n=" + std::to_string(i);
}

Exchange exchange_of(std::size_t i) {
  Exchange exchange;
  exchange.sequence = i + 1;
  exchange.origin_connection_id = i / 10 + 1;
  exchange.request.method = "GET";
  exchange.request.scheme = Scheme::kHttps;
  exchange.request.host = "host" + std::to_string(i % 50) + ".example.org";
  exchange.request.port = 443;
  exchange.request.target = target_of(i);
  exchange.request.version = HttpVersion::kHttp11;
  exchange.request.headers = {{.name = "Host", .value = exchange.request.host},
                              {.name = "User-Agent", .value = "Mozilla/5.0 (X11; Linux x86_64)"},
                              {.name = "Accept", .value = "*/*"},
                              {.name = "Accept-Encoding", .value = "gzip, deflate, br, zstd"}};
  exchange.response.status = 200;
  exchange.response.reason = "OK";
  exchange.response.version = HttpVersion::kHttp11;
  exchange.response.headers = {{.name = "Content-Type", .value = "application/octet-stream"},
                               {.name = "Cache-Control", .value = "max-age=3600"},
                               {.name = "Date", .value = "Sat, 21 Nov 2026 02:00:00 GMT"}};
  return exchange;
}

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "measure_archive_open: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void write(const std::filesystem::path& path, std::size_t count, std::size_t body_bytes) {
  auto writer = ArchiveWriter::create(path, {});
  check(writer.has_value(), "cannot make the archive");
  check((*writer)->begin_session({}).has_value(), "cannot begin the session");
  std::string body(std::max<std::size_t>(body_bytes, sizeof(std::size_t)), 'x');
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 10 == 0) {
      ConnectionFacts facts;
      facts.id = i / 10 + 1;
      facts.scheme = Scheme::kHttps;
      facts.host = "host" + std::to_string(i % 50) + ".example.org";
      facts.certificate_names = {facts.host, "*.example.org", "example.org"};
      check((*writer)->add_connection(facts).has_value(), "cannot add a connection");
    }
    std::memcpy(body.data(), &i, sizeof i);
    BodyWriter stored(**writer);
    check(stored.append(std::as_bytes(std::span(body))).has_value(), "cannot add a body");
    auto exchange = exchange_of(i);
    auto finished = stored.finish();
    check(finished.has_value(), "cannot add a body");
    exchange.response.body = *finished;
    check((*writer)->add_exchange(std::move(exchange)).has_value(), "cannot add an exchange");
  }
  check((*writer)->end_session().has_value(), "cannot end the session");
  check((*writer)->close().has_value(), "cannot close");
}

struct Lookup {
  double instructions = -1;
  double nanoseconds = 0;
};

/// The mean over 1,000 keys, spread over the archive, each asked once before.
Lookup measure_lookup(const ArchiveReader& reader, std::size_t count) {
  constexpr std::size_t kLookups = 1000;
  Matcher const matcher(reader, 0);
  SequenceCursors cursors(reader.entries().size());
  std::vector<StoredRequest> requests;
  for (std::size_t i = 0; i < kLookups; ++i) {
    requests.push_back(exchange_of(i * (count / kLookups)).request);
    auto const exchange = reader.exchange(static_cast<std::uint32_t>(i * (count / kLookups)));
    requests.back() = exchange->request;
  }
  auto const ask_all = [&] {
    std::size_t hits = 0;
    for (auto const& request : requests) {
      auto const decision =
          matcher.match(key_of(request), {}, cursors, [](std::uint32_t) { return true; });
      hits += decision.kind == MatchKind::kExact ? 1 : 0;
    }
    check(hits == kLookups, "a look-up missed");
  };
  ask_all();
  InstructionCounter const counter;
  auto const instructions = counter.now();
  auto const start = Clock::now();
  ask_all();
  Lookup lookup;
  lookup.nanoseconds = milliseconds_since(start) * 1e6 / kLookups;
  if (instructions >= 0) {
    lookup.instructions = static_cast<double>(counter.now() - instructions) / kLookups;
  }
  return lookup;
}

struct Measured {
  std::uint64_t file_bytes = 0;
  double write_ms = 0;
  double open_ms = 0;
  double open_unclosed_ms = 0;
  std::uint64_t open_anonymous_kib = 0;
  std::uint64_t open_unclosed_anonymous_kib = 0;
  Lookup lookup;
};

Measured measure(const std::filesystem::path& path, std::size_t count, std::size_t body_bytes) {
  Measured measured;
  std::filesystem::remove(path);
  auto start = Clock::now();
  // In a process of its own, so that none of its memory is counted, or used again, when opening.
  auto const writer = ::fork();
  check(writer >= 0, "cannot fork");
  if (writer == 0) {
    write(path, count, body_bytes);
    ::_exit(0);
  }
  int status = 0;
  check(::waitpid(writer, &status, 0) == writer && status == 0, "the writer failed");
  measured.write_ms = milliseconds_since(start);
  measured.file_bytes = std::filesystem::file_size(path);
  auto const open = [&](double& ms, std::uint64_t& kib) {
    auto const before = anonymous_kib();
    start = Clock::now();
    auto reader = ArchiveReader::open(path, {});
    ms = milliseconds_since(start);
    check(reader && (*reader)->entries().size() == count, "cannot open the archive");
    auto const after = anonymous_kib();
    kib = after > before ? after - before : 0;
    return std::move(*reader);
  };
  auto records_end = std::uint64_t{0};
  {
    auto const reader = open(measured.open_ms, measured.open_anonymous_kib);
    measured.lookup = measure_lookup(*reader, count);
    records_end = reader->records_end();
  }
  std::filesystem::resize_file(path, records_end);
  open(measured.open_unclosed_ms, measured.open_unclosed_anonymous_kib);
  std::filesystem::remove(path);
  return measured;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  auto const count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000ULL;
  auto const body_bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000ULL;
  auto const folder =
      argc > 3 ? std::filesystem::path(argv[3]) : std::filesystem::temp_directory_path();
  if (count < 1000) {
    std::fprintf(stderr,
                 "usage: measure_archive_open [EXCHANGES, at least 1000] [BODY_BYTES] "
                 "[FOLDER]\n");
    return 2;
  }
  auto const path = folder / ("measure-" + std::to_string(::getpid()) + ".reprise");
  auto const few = reprise::measure(path, 1000, body_bytes);
  auto const many = reprise::measure(path, count, body_bytes);
  std::printf(
      "{\"exchanges\":%llu,\"body_bytes\":%llu,\"file_bytes\":%llu,\"write_ms\":%.1f,"
      "\"open_ms\":%.1f,\"open_anonymous_kib\":%llu,\"open_unclosed_ms\":%.1f,"
      "\"open_unclosed_anonymous_kib\":%llu,\"lookup_instructions\":%s,"
      "\"lookup_instructions_of_1000\":%s,\"lookup_ns\":%.0f,\"lookup_ns_of_1000\":%.0f}\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(body_bytes),
      static_cast<unsigned long long>(many.file_bytes), many.write_ms, many.open_ms,
      static_cast<unsigned long long>(many.open_anonymous_kib), many.open_unclosed_ms,
      static_cast<unsigned long long>(many.open_unclosed_anonymous_kib),
      reprise::number_or_null(many.lookup.instructions).c_str(),
      reprise::number_or_null(few.lookup.instructions).c_str(), many.lookup.nanoseconds,
      few.lookup.nanoseconds);
  return 0;
}
