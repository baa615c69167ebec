#include <gmock/gmock.h>

#include "archive/codec.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::IsEmpty;
using namespace std::chrono_literals;

TEST(RoundTrip, EveryMemberOfTheModelComesBack) {
  ScratchFolder folder;
  auto writer = create_archive(folder / "a");
  auto session = a_session();
  session.time_zone = "Europe/Berlin";
  session.injected_clock = {.start = std::chrono::milliseconds(-1), .mode = "step"};
  ASSERT_EQ(*writer->begin_session(session), 1U);
  auto connection = a_connection(2);
  connection.round_trip = 700us;
  ASSERT_TRUE(writer->add_connection(connection));
  ASSERT_TRUE(writer->add_answer(an_answer("example.org")));
  auto exchange = a_full_exchange(*writer, 4);
  add(*writer, exchange);
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->close());

  auto const reader = open_archive(folder / "a");
  EXPECT_TRUE(reader->report().indexed);
  EXPECT_THAT(reader->report().remarks, IsEmpty());
  session.number = 1;
  session.complete = true;
  ASSERT_EQ(reader->sessions().size(), 1U);
  expect_same(reader->sessions()[0], session);
  connection.session = 1;
  ASSERT_EQ(reader->connections().size(), 1U);
  expect_same(reader->connections()[0], connection);
  auto answer = an_answer("example.org");
  answer.session = 1;
  ASSERT_EQ(reader->answers().size(), 1U);
  expect_same(reader->answers()[0], answer);
  exchange.session = 1;
  auto const found = exchanges_of(*reader);
  ASSERT_EQ(found.size(), 1U);
  expect_same(found[0], exchange);
  EXPECT_EQ(load(*reader, found[0].request.body), "name=value");
  EXPECT_EQ(load(*reader, found[0].response.body), "<!doctype html><p>4");
  EXPECT_THAT(problems_of(*reader), IsEmpty());
}

TEST(RoundTrip, AnAnswerThatNeverCameHasNoCodeAndNoTime) {
  ScratchFolder folder;
  auto writer = create_archive(folder / "a");
  ASSERT_TRUE(writer->begin_session({}));
  DnsAnswer answer;
  answer.session = 1;
  answer.host = "dead.example";
  answer.type = 1;
  answer.failure = "no DNS server answered in time";
  ASSERT_TRUE(writer->add_answer(answer));
  ASSERT_TRUE(writer->close());
  auto const reader = open_archive(folder / "a");
  ASSERT_EQ(reader->answers().size(), 1U);
  expect_same(reader->answers()[0], answer);
}

TEST(RoundTrip, AnAnswerOverTheLimitsIsRefusedAndTheArchiveGoesOn) {
  ScratchFolder folder;
  auto writer = create_archive(folder / "a");
  ASSERT_TRUE(writer->begin_session({}));
  auto const size = writer->size_bytes();
  auto answer = an_answer("example.org");
  answer.addresses.resize(kDnsRecordsMax + 1);
  EXPECT_EQ(writer->add_answer(answer).error(), archive_errc::too_large);
  EXPECT_EQ(writer->size_bytes(), size);
  answer.addresses.resize(kDnsRecordsMax);
  EXPECT_TRUE(writer->add_answer(answer));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(open_archive(folder / "a")->answers().size(), 1U);
}

TEST(RoundTrip, AnEmptyArchiveIsClosedAndOpens) {
  ScratchFolder folder;
  ASSERT_TRUE(create_archive(folder / "a")->close());
  auto const reader = open_archive(folder / "a");
  EXPECT_TRUE(reader->report().indexed);
  EXPECT_TRUE(reader->entries().empty());
  EXPECT_TRUE(reader->find_key(42).empty());
  EXPECT_THAT(problems_of(*reader), IsEmpty());
}

TEST(RoundTrip, FourThousandHeadersKeepOrderCaseDuplicatesAndEmptyValues) {
  ScratchFolder folder;
  std::vector<std::string> names;
  for (int i = 0; i < 4000; ++i)
    names.push_back((i % 2 ? "x-Dup-" : "X-dup-") + std::to_string(i % 7));
  std::vector<HeaderView> fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fields.push_back({.name = names[i], .value = i % 3 ? std::string_view(names[i]) : ""});
  }
  auto exchange = an_exchange(1, "/");
  exchange.response.headers = Headers(fields);
  auto writer = create_archive(folder / "a");
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, exchange);
  ASSERT_TRUE(writer->close());
  auto const found = exchanges_of(*open_archive(folder / "a"));
  ASSERT_EQ(found.at(0).response.headers.size(), 4000U);
  EXPECT_TRUE(found[0].response.headers == exchange.response.headers);
}

TEST(RoundTrip, ChunkTimesPastTheLimitAreMergedIntoTheLastOne) {
  ScratchFolder folder;
  auto exchange = an_exchange(1, "/");
  for (std::uint64_t i = 1; i <= 2 * kChunkTimesMax; ++i) {
    exchange.response.chunk_times.push_back({.end_bytes = 10 * i, .time = i * 1us});
  }
  auto writer = create_archive(folder / "a");
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, exchange);
  ASSERT_TRUE(writer->close());
  auto const times = exchanges_of(*open_archive(folder / "a")).at(0).response.chunk_times;
  ASSERT_EQ(times.size(), kChunkTimesMax);
  EXPECT_EQ(times.front(), exchange.response.chunk_times.front());
  EXPECT_EQ(times[kChunkTimesMax - 2], exchange.response.chunk_times[kChunkTimesMax - 2]);
  EXPECT_EQ(times.back(), exchange.response.chunk_times.back());
}

TEST(RoundTrip, HeadsOverTheLimitAreRefusedAndTheArchiveGoesOn) {
  ScratchFolder folder;
  auto writer = create_archive(folder / "a");
  ASSERT_TRUE(writer->begin_session({}));
  std::string const huge(17 << 20, 'x');
  auto exchange = an_exchange(1, "/big");
  exchange.response.headers = {{.name = "X", .value = huge}};
  EXPECT_EQ(writer->add_exchange(exchange).error(), archive_errc::too_large);
  exchange.response.headers = Headers(std::vector<HeaderView>(70'000));
  EXPECT_EQ(writer->add_exchange(exchange).error(), archive_errc::too_large);
  exchange.response.headers = {};
  exchange.interim.resize(2'000);
  EXPECT_EQ(writer->add_exchange(exchange).error(), archive_errc::too_large);
  add(*writer, an_exchange(2, "/small"));
  ASSERT_TRUE(writer->close());
  auto const found = exchanges_of(*open_archive(folder / "a"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].request.target, "/small");
}

TEST(RoundTrip, TheSameInputGivesTheSameBytes) {
  ScratchFolder folder;
  for (auto const* name : {"a", "b"}) {
    auto writer = create_archive(folder / name);
    ASSERT_TRUE(writer->begin_session(a_session()));
    ASSERT_TRUE(writer->add_connection(a_connection(1)));
    ASSERT_TRUE(writer->add_answer(an_answer("example.org")));
    add(*writer, a_full_exchange(*writer, 1));
    ASSERT_TRUE(writer->close());
  }
  EXPECT_EQ(read_file(folder / "a"), read_file(folder / "b"));
}

}  // namespace
}  // namespace reprise
