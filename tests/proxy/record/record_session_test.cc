#include "proxy/record/record_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "archive/reader.h"
#include "dns/error.h"
#include "dns/wire.h"
#include "proxy/record/network_dialer.h"
#include "tests/archive/file_size_limit.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

TEST(RecordSession, KeepsAnswersAndFailuresOfDns) {
  auto const path = testing::TempDir() + "reprise_recording." + std::to_string(::getpid());
  auto created = ArchiveWriter::create(path, {});
  ASSERT_TRUE(created) << created.error().message();
  auto& writer = **created;
  ASSERT_TRUE(writer.begin_session({}));
  auto const started = std::chrono::steady_clock::now();
  dns::Svcb const https{.priority = 1, .target = {}, .params = {{.key = 1, .value = "\2h2"}}};
  {
    NetworkDialer dialer({});
    RecordSession session(writer, dialer, started,
                          [](std::error_code error) { ADD_FAILURE() << error.message(); });
    session.keep({.host = "www.example",
                  .type = dns::Type::kHttps,
                  .rcode = dns::Rcode::kNoError,
                  .error = {},
                  .chain = {"cdn.example"},
                  .addresses = {net::ip::make_address("2001:db8::1")},
                  .https = {https},
                  .ttl_s = 30,
                  .asked = started + 2ms,
                  .answered = started + 5ms});
    session.keep({.host = "dead.example",
                  .type = dns::Type::kA,
                  .rcode = {},
                  .error = dns::errc::timed_out,
                  .chain = {},
                  .addresses = {},
                  .https = {},
                  .ttl_s = 0,
                  .asked = started,
                  .answered = started + 6s});
  }
  ASSERT_TRUE(writer.end_session());
  ASSERT_TRUE(writer.close());
  auto const reader = ArchiveReader::open(path, {});
  std::filesystem::remove(path);
  ASSERT_TRUE(reader) << reader.error().message();
  auto const& answers = (*reader)->answers();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].session, 1U);
  EXPECT_EQ(answers[0].host, "www.example");
  EXPECT_EQ(answers[0].type, 65);
  EXPECT_EQ(answers[0].rcode, 0);
  EXPECT_EQ(answers[0].failure, "");
  EXPECT_THAT(answers[0].chain, ElementsAre("cdn.example"));
  EXPECT_THAT(answers[0].addresses, ElementsAre("2001:db8::1"));
  EXPECT_THAT(answers[0].https, ElementsAre(dns::encode_svcb(https).value()));
  EXPECT_EQ(answers[0].ttl_s, 30U);
  EXPECT_EQ(answers[0].asked, 2ms);
  EXPECT_EQ(answers[0].answered, 5ms);
  EXPECT_EQ(answers[1].host, "dead.example");
  EXPECT_EQ(answers[1].rcode, std::nullopt);
  EXPECT_EQ(answers[1].failure, "no DNS server answered in time");
  EXPECT_EQ(answers[1].answered, 6s);
}

TEST(RecordSession, BeginsAgainWithTheConnectionsThatExchangesMayReferTo) {
  ScratchFolder const folder;
  RecordedSession recorded(folder / "a.reprise");
  Event released;
  recorded.dialer.scripts = {
      [](MemoryStream& stream) -> awaitable<void> {
        (void)co_await read_through(stream, "\r\n\r\n");
        (void)co_await stream.write(bytes_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        (void)co_await read_through(stream, "\r\n\r\n");
        stream.abort();
      },
      [&](MemoryStream& stream) -> awaitable<void> {
        (void)co_await read_through(stream, "\r\n\r\n");
        co_await released.wait();
        (void)co_await stream.write(bytes_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        (void)co_await read_all(stream);
      }};
  Received first;
  Received second;
  auto const request = std::string("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  recorded.ask(request + request, {&first, &second});
  recorded.context.poll();
  recorded.session->keep(ConnectionFacts{.host = "over.test"});
  auto const held = recorded.session->keep(ConnectionFacts{.host = "held.test"});
  recorded.session->begin_again({});
  released.set();
  recorded.run();
  EXPECT_TRUE(second.whole);
  auto const reader = recorded.archive();
  EXPECT_THAT(problems_of(*reader), IsEmpty());
  std::vector<std::uint64_t> known;
  for (const ConnectionFacts& facts : reader->connections()) {
    if (facts.session == 2) known.push_back(facts.id);
  }
  EXPECT_THAT(known, ElementsAre(2, held->id));
  auto const kept = exchanges_of(*reader);
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].session, 2U);
  EXPECT_EQ(kept[1].origin_connection_id, 2U);
}

TEST(RecordSession, KeepsNothingMoreIfItCannotBeginAgainOnADiskThatFillsUpAtAnyByte) {
  ScratchFolder const folder;
  std::size_t without_session = 0;
  bool all_fits = false;
  for (std::uint64_t limit = 0; !all_fits && !testing::Test::HasFailure(); ++limit) {
    SCOPED_TRACE(limit);
    RecordedSession recorded(folder / "a.reprise");
    Event released;
    recorded.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
      (void)co_await read_through(stream, "\r\n\r\n");
      co_await released.wait();
      (void)co_await stream.write(bytes_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
      (void)co_await read_all(stream);
    }};
    Received received;
    recorded.ask("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", {&received});
    recorded.context.poll();
    {
      FileSizeLimit const full(recorded.writer->size_bytes() + limit);
      recorded.session->begin_again({});
      if (!recorded.writer->session()) {
        ++without_session;
        recorded.session->begin_again({});
        recorded.session->keep(ConnectionFacts{.host = "b.test"});
        recorded.session->keep(dns::LookUpAnswer{});
      }
      released.set();
      recorded.run();
    }
    all_fits = recorded.archive_errors.empty();
    EXPECT_LE(recorded.archive_errors.size(), 1U);
    if (all_fits) EXPECT_TRUE(received.whole);
    auto const reader = recorded.archive();
    EXPECT_THAT(problems_of(*reader), IsEmpty());
    EXPECT_THAT(exchanges_of(*reader), SizeIs(received.whole ? 1 : 0));
  }
  EXPECT_GT(without_session, 0U);
}

}  // namespace
}  // namespace reprise
