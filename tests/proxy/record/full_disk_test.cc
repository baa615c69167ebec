// What a client has whole the archive has, wherever in the archive the disk fills up.

#include <gmock/gmock.h>

#include <set>

#include "tests/archive/file_size_limit.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Asked {
  std::string name;
  std::string request;
  std::string answer;
};

std::string request_of(const std::string& name, const std::string& rest = "\r\n") {
  return "PUT /" + name + " HTTP/1.1\r\nHost: a.test\r\n" + rest;
}

class FullDisk : public testing::Test {
 protected:
  struct Run {
    std::set<std::string> client_has;
    std::set<std::string> archive_has;
    std::uint64_t start_bytes = 0;  ///< of the archive, before anything was asked
    std::uint64_t bytes = 0;        ///< when the session is over
  };

  /// Asks for each, on a connection of its own, while no file may grow past `limit_bytes` behind
  /// the start of the archive.
  Run run(const std::vector<Asked>& all,
          std::uint64_t limit_bytes = std::numeric_limits<std::int32_t>::max()) {
    RecordedSession session(path_, *inject::InjectedScript::create({.document = {"ours()"}}));
    Run run{.start_bytes = session.writer->size_bytes()};
    {
      FileSizeLimit const full(run.start_bytes + limit_bytes);
      for (const Asked& asked : all) {
        session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
          co_await read_bytes(stream, asked.request.size());
          (void)co_await stream.write(bytes_of(asked.answer));
          (void)co_await read_all(stream);
        }};
        Received received;
        session.ask(asked.request, {&received});
        session.run();
        if (received.whole && received.status == 200) run.client_has.insert("/" + asked.name);
      }
      EXPECT_EQ(session.archive_errors.size(), run.client_has.size() < all.size() ? 1U : 0U);
      run.bytes = session.writer->size_bytes();
    }
    auto const reader = session.archive();
    EXPECT_THAT(problems_of(*reader), IsEmpty());
    for (const Exchange& exchange : exchanges_of(*reader)) {
      if (exchange.outcome == Outcome::kComplete) run.archive_has.insert(exchange.request.target);
    }
    return run;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
};

TEST_F(FullDisk, AtEachByteWithholdsTheEndOfWhatCannotBeKept) {
  std::vector<Asked> const all = {
      {"length", request_of("length"), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"},
      {"chunked", request_of("chunked", "Content-Length: 5\r\n\r\nshort"),
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nother\r\n0\r\nX-Sum: 1\r\n\r\n"},
      {"document", request_of("document", "Accept: text/html\r\n\r\n"),
       "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\n<title>"},
      {"empty", request_of("empty"), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}};
  auto const whole = run(all);
  ASSERT_THAT(whole.client_has, SizeIs(all.size()));
  ASSERT_EQ(whole.client_has, whole.archive_has);
  auto const bytes = whole.bytes - whole.start_bytes;
  for (std::uint64_t limit = 0; limit < bytes && !HasFailure(); ++limit) {
    SCOPED_TRACE(limit);
    auto const cut = run(all, limit);
    EXPECT_EQ(cut.client_has, cut.archive_has);
  }
}

TEST_F(FullDisk, InsideALargeBodyWithholdsItsEnd) {
  auto const upload = noise((1 << 20) + (300 << 10), 1);
  auto const download = noise((1 << 20) + (400 << 10), 2);
  std::vector<Asked> const all = {
      {"upload", request_of("upload", "Content-Length: 1355776\r\n\r\n" + upload),
       "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
      {"download", request_of("download"),
       "HTTP/1.1 200 OK\r\nContent-Length: 1458176\r\n\r\n" + download}};
  auto const whole = run(all);
  ASSERT_EQ(whole.client_has, whole.archive_has);
  ASSERT_THAT(whole.client_has, SizeIs(all.size()));
  constexpr std::uint64_t kStep = 100'003;  // chunks are of 256 KiB
  for (std::uint64_t limit = 0; limit < whole.bytes - whole.start_bytes; limit += kStep) {
    SCOPED_TRACE(limit);
    auto const cut = run(all, limit);
    EXPECT_EQ(cut.client_has, cut.archive_has);
  }
}

}  // namespace
}  // namespace reprise
