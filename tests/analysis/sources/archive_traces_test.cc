#include "analysis/sources/archive_traces.h"

#include <gmock/gmock.h>

#include "analysis/sources/archive_calls.h"
#include "analysis/trench/trench_fields.h"
#include "tests/analysis/trench/trench_field_values.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kShopJson =
    R"({"stack":[[0,1,20,[]]],"classes":["shop.Cart"],"points":[[0,"tax",7]]})";

Exchange traced(std::uint64_t sequence, std::string_view path, const std::string& trace_line) {
  auto exchange = an_exchange(sequence, path);
  exchange.client_connection_id = 1;
  exchange.timings = {.queued = 1ms, .request_sent = 2ms, .first_byte = 92ms, .end = 100ms};
  if (!trace_line.empty()) {
    exchange.response.headers = {{.name = "Banky-Trace", .value = trace_line}};
  }
  return exchange;
}

/// An archive of these, and of a trace that the recorder fetched from `target`.
std::unique_ptr<ArchiveReader> archive_of(const std::filesystem::path& path,
                                          std::vector<Exchange> exchanges,
                                          std::string_view trace = kShopJson,
                                          std::string_view target = "/trace") {
  auto const writer = create_archive(path);
  EXPECT_TRUE(writer->begin_session(a_session()));
  for (auto& exchange : exchanges) add(*writer, std::move(exchange));
  auto fetched = traced(100, target, "");
  fetched.client_connection_id = 0;
  fetched.response.body = store(*writer, trace);
  add(*writer, std::move(fetched));
  EXPECT_TRUE(writer->close());
  return open_archive(path);
}

TEST(ArchiveTraces, AreFoundByTheirUrl) {
  ScratchFolder const folder;
  for (auto const* const url :
       {"/trace", "trace", "https://example.org/trace#x", "//example.org/trace"}) {
    auto const reader =
        archive_of(folder / "a.reprise", {traced(1, "/page", std::string("url=") + url)});
    ArchiveTraces traces(*reader);
    auto const exchanges = exchanges_of(*reader);
    EXPECT_FALSE(traces.was_fetched(exchanges[1]));  // not known yet
    auto const found = traces.of(exchanges[0]);
    ASSERT_TRUE(found.trace) << url << ": " << found.error;
    EXPECT_EQ(found.trace->points[0], (TrenchPoint{"shop.Cart", "tax", 7}));
    EXPECT_FALSE(traces.was_fetched(exchanges[0]));
    EXPECT_TRUE(traces.was_fetched(exchanges[1]));
    std::filesystem::remove(folder / "a.reprise");
  }
}

struct Reference {
  std::string_view page;       ///< target of the request
  std::string_view reference;  ///< in its response
  std::string_view target;     ///< that the recorder asks for
};

TEST(ArchiveTraces, AreFoundWhereTheRecorderAskedForThem) {
  ScratchFolder const folder;
  for (auto const& [page, reference, target] :
       std::initializer_list<Reference>{{"/a/b?c", "?x", "/a/b?x"},
                                        {"/a/b/c", "../t", "/a/t"},
                                        {"/a/b/c", "./t/./u/../1", "/a/b/t/1"},
                                        {"/", "https://example.org:443/t", "/t"},
                                        {"/", "HTTPS://Example.ORG/T", "/T"},
                                        {"/", "//example.org?t", "/?t"},
                                        {"/", "/a b\\c?d e", "/a%20b/c?d%20e"},
                                        {"/", "/%7e\xC3\xA9", "/%7e%C3%A9"},
                                        {"/", " /t#f", "/t"},
                                        {"/go?to=http://b.test/", "t", "/t"},
                                        {"/", "/t?to=http://b.test/", "/t?to=http://b.test/"}}) {
    auto const reader =
        archive_of(folder / "a.reprise", {traced(1, page, "url=" + std::string(reference))},
                   kShopJson, target);
    ArchiveTraces traces(*reader);
    auto const exchanges = exchanges_of(*reader);
    auto const found = traces.of(exchanges[0]);
    EXPECT_TRUE(found.trace) << reference << ": " << found.error;
    EXPECT_TRUE(traces.was_fetched(exchanges[1])) << reference;
    std::filesystem::remove(folder / "a.reprise");
  }
}

TEST(ArchiveTraces, AreReadFromFields) {
  ScratchFolder const folder;
  TrenchTrace const trace{.points = {{"A", "a", 1}}, .nodes = {{.hits = 1, .inclusive_us = 5}}};
  auto exchange = traced(1, "/page", "");
  auto const values = trench_field_values(trace);
  std::vector<HeaderView> fields;
  for (auto const& value : values) fields.push_back({.name = "Banky-Trace", .value = value});
  exchange.response.trailers = Headers(fields);
  auto const reader = archive_of(folder / "a.reprise", {std::move(exchange)});
  auto const found = ArchiveTraces(*reader).of(exchanges_of(*reader)[0]);
  ASSERT_TRUE(found.trace);
  EXPECT_EQ(*found.trace, trace);
}

TEST(ArchiveTraces, AreReadOnceForResponsesThatNameOneUrl) {
  ScratchFolder const folder;
  auto const reader = archive_of(folder / "a.reprise",
                                 {traced(1, "/1", "url=/trace"), traced(2, "/2", "url=/trace")});
  ArchiveTraces traces(*reader);
  auto const exchanges = exchanges_of(*reader);
  auto const first = traces.of(exchanges[0]).trace;
  ASSERT_TRUE(first);
  EXPECT_EQ(traces.of(exchanges[1]).trace, first);
}

TEST(ArchiveTraces, SayWhatIsWrong) {
  ScratchFolder const folder;
  auto const reader = archive_of(folder / "a.reprise",
                                 {traced(1, "/1", ""), traced(2, "/2", "url=/none"),
                                  traced(3, "/3", "url=/trace"), traced(4, "/4", "base64lines=1")},
                                 "{");
  ArchiveTraces traces(*reader);
  auto const exchanges = exchanges_of(*reader);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(traces.of(exchanges[i]).trace);
  EXPECT_EQ(traces.of(exchanges[0]).error, "");
  EXPECT_EQ(traces.of(exchanges[1]).error, "");
  EXPECT_TRUE(traces.of(exchanges[1]).is_missing);
  EXPECT_FALSE(traces.of(exchanges[0]).is_missing);
  EXPECT_THAT(traces.of(exchanges[2]).error, HasSubstr("its JSON: not JSON"));
  EXPECT_EQ(traces.of(exchanges[3]).error, "base64bytes is missing");
}

TEST(ArchiveTraces, AreCallsOfTheirRequestAndNoRequests) {
  ScratchFolder const folder;
  auto const reader = archive_of(folder / "a.reprise", {traced(1, "/page", "url=/trace")});
  std::vector<CallLoss> losses;
  auto const trees = calls_of(*reader, losses);
  ASSERT_THAT(trees, SizeIs(1));
  std::vector<std::string> names;
  for (Call const& call : trees[0].tree.calls) names.push_back(call.name);
  EXPECT_THAT(names, Contains("shop.Cart.tax"));
  EXPECT_THAT(names, Not(Contains("https://example.org/trace")));
}

}  // namespace
}  // namespace reprise
