#include "analysis/sources/archive_calls.h"

#include <gmock/gmock.h>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;

Exchange timed(std::uint64_t sequence, std::string_view path, SessionTime queued) {
  auto exchange = an_exchange(sequence, path);
  exchange.origin_connection_id = 7;
  exchange.timings = {.queued = queued,
                      .request_sent = queued + 60ms,
                      .first_byte = queued + 90ms,
                      .end = queued + 100ms};
  return exchange;
}

TEST(ArchiveCalls, AreTheExchangesOfASession) {
  ScratchFolder const folder;
  {
    auto const writer = create_archive(folder / "a.reprise");
    auto info = a_session();
    info.pages = {"https://example.org/start"};
    ASSERT_TRUE(writer->begin_session(info));
    auto connection = a_connection(7);
    connection.dns_start = 1010ms;
    connection.connect_start = 1020ms;
    connection.tls_start = 1035ms;
    connection.ready = 1055ms;
    ASSERT_TRUE(writer->add_connection(connection));
    auto first = timed(1, "/start", 1000ms);
    first.request.headers = {{.name = "Sec-Fetch-Dest", .value = "document"}};
    auto second = timed(2, "/api", 1200ms);
    second.request.headers = {{.name = "Sec-Fetch-Dest", .value = "empty"},
                              {.name = "Referer", .value = "https://example.org/start"}};
    second.response.trailers = {{.name = "Server-Timing", .value = "db;dur=30"}};
    auto timeless = an_exchange(3, "/lost");
    timeless.timings = {};
    for (auto const& each : {first, second, timeless}) add(*writer, each);
    ASSERT_TRUE(writer->close());
  }
  auto const reader = open_archive(folder / "a.reprise");
  std::vector<CallLoss> losses;
  auto const trees = calls_of(*reader, losses);
  ASSERT_EQ(trees.size(), 1u);
  CallTree const& tree = trees[0].tree;
  EXPECT_EQ(tree.page, "https://example.org/start");
  EXPECT_EQ(tree.window_us, 300'000);
  std::vector<std::string> names;
  for (Call const& call : tree.calls) {
    names.push_back(call.name + " " + std::to_string(call.start_us / 1000) + "-" +
                    std::to_string(call.end_us / 1000));
  }
  EXPECT_THAT(names, ElementsAre("https://example.org/start 0-100", "queued 0-10", "dns 10-20",
                                 "connect 20-35", "tls 35-55", "queued 55-60", "wait 60-90",
                                 "receive 90-100", "https://example.org/api 200-300",
                                 "wait 200-290", "receive 290-300", "db 230-260"));
  EXPECT_EQ(tree.calls[0].attribute("type"), "Document");
  EXPECT_EQ(tree.calls[8].attribute("type"), "Fetch");
  EXPECT_EQ(tree.calls[8].attribute("initiator"), "https://example.org/start");
  EXPECT_EQ(tree.calls[8].attribute("protocol"), "http/1.1");
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 1)));
}

TEST(ArchiveCalls, HaveTheAlpnIdOfTheirProtocol) {
  ScratchFolder const folder;
  std::vector<std::string> protocols;
  {
    auto const writer = create_archive(folder / "a.reprise");
    ASSERT_TRUE(writer->begin_session(a_session()));
    int number = 0;
    for (auto const version : {HttpVersion::kHttp10, HttpVersion::kHttp11, HttpVersion::kH2,
                               HttpVersion::kH3, HttpVersion::kUnknown}) {
      ++number;
      auto exchange = timed(static_cast<std::uint64_t>(number), "/", number * 200ms);
      exchange.response.version = version;
      add(*writer, exchange);
    }
    ASSERT_TRUE(writer->close());
  }
  auto const reader = open_archive(folder / "a.reprise");
  std::vector<CallLoss> losses;
  auto const trees = calls_of(*reader, losses);
  ASSERT_EQ(trees.size(), 1u);
  for (Call const& call : trees[0].tree.calls) {
    if (call.parent == kNoParent) protocols.emplace_back(call.attribute("protocol"));
  }
  EXPECT_THAT(protocols, ElementsAre("http/1.0", "http/1.1", "h2", "h3", "unknown"));
}

TEST(ArchiveCalls, KnowThePlaceOfTheirSessionAmongAllOfThem) {
  ScratchFolder const folder;
  {
    auto const writer = create_archive(folder / "a.reprise");
    auto timeless = an_exchange(1, "/lost");
    timeless.timings = {};
    ASSERT_TRUE(writer->begin_session(a_session()));
    add(*writer, timeless);
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->begin_session(a_session()));
    add(*writer, timed(1, "/kept", 10ms));
    ASSERT_TRUE(writer->close());
  }
  auto const reader = open_archive(folder / "a.reprise");
  std::vector<CallLoss> losses;
  auto const trees = calls_of(*reader, losses);
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_EQ(trees[0].place, 1u);
  EXPECT_THAT(losses, ElementsAre(Field(&CallLoss::count, 1)));
}

}  // namespace
}  // namespace reprise
