// Requests and their calls from spans.

#include <gmock/gmock.h>

#include "analysis/service/service_request.h"
#include "analysis/spans/span_file.h"
#include "tests/analysis/spans/span_fixture.h"

namespace reprise {
namespace {

Span call_of(unsigned id, unsigned parent, double start_ms, double end_ms, std::string system,
             std::string name) {
  auto span = span_of(id, parent, start_ms, end_ms, std::move(name), "client");
  span.attributes = {{"db.system", std::move(system)}};
  return span;
}

SpanSet set_of(std::vector<Span> spans) {
  SpanSet set;
  for (Span& span : spans) {
    span.start_ns += 1'700'000'000'000'000'000;
    span.end_ns += 1'700'000'000'000'000'000;
    set.add(std::move(span));
  }
  return set;
}

ServiceEndpoint only_endpoint(const SpanSet& set) {
  std::vector<CallLoss> losses;
  auto all = service_endpoints(set, losses);
  EXPECT_EQ(all.size(), 1);
  return all.empty() ? ServiceEndpoint() : std::move(all.front());
}

TEST(ServiceRequest, HasTheOutermostSpansThatLeaveTheService) {
  auto const endpoint = only_endpoint(set_of(
      {span_of(1, 0, 0, 100, "GET /cart", "server"), span_of(2, 1, 5, 90, "load user"),
       call_of(3, 2, 10, 40, "postgresql", "SELECT"), call_of(4, 3, 11, 39, "postgresql", "socket"),
       span_of(5, 1, 91, 99, "render"), call_of(6, 0, 0, 3, "redis", "connect")}));
  EXPECT_EQ(endpoint.service, "shop");
  EXPECT_EQ(endpoint.endpoint, "GET /cart");
  ASSERT_EQ(endpoint.requests.size(), 1);
  ServiceRequest const& request = endpoint.requests[0];
  EXPECT_EQ(request.took_us, 100'000);
  ASSERT_EQ(request.calls.size(), 1);
  EXPECT_EQ(request.calls[0].dependency, "postgresql");
  EXPECT_EQ(request.calls[0].operation, "SELECT");
  EXPECT_EQ(request.calls[0].start_us(), 10'000);
  EXPECT_EQ(request.calls[0].end_us(), 40'000);
}

TEST(ServiceRequest, ThatComesTwiceIsOne) {
  auto const endpoint = only_endpoint(set_of({span_of(1, 0, 0, 100, "GET /", "server"),
                                              call_of(2, 1, 10, 40, "postgresql", "SELECT"),
                                              span_of(1, 0, 0, 100, "GET /", "server")}));
  ASSERT_EQ(endpoint.requests.size(), 1);
  EXPECT_EQ(endpoint.requests[0].calls.size(), 1);
}

TEST(ServiceRequest, NumbersEqualCallsByTheirStart) {
  auto const endpoint = only_endpoint(
      set_of({span_of(1, 0, 0, 100, "GET /", "server"), call_of(2, 1, 50, 60, "redis", "GET"),
              call_of(3, 1, 10, 90, "redis", "GET"), call_of(4, 1, 20, 30, "redis", "SET")}));
  auto const& calls = endpoint.requests.at(0).calls;
  ASSERT_EQ(calls.size(), 3);
  EXPECT_EQ(calls[0].start_us(), 10'000);
  EXPECT_EQ(calls[0].occurrence, 0);
  EXPECT_EQ(calls[1].operation, "SET");
  EXPECT_EQ(calls[2].occurrence, 1);
}

TEST(ServiceRequest, TakesACallThatFailedAndTheSameAfterItForAttemptsOfOne) {
  std::vector<Span> spans = {
      span_of(1, 0, 0, 100, "GET /", "server"), call_of(2, 1, 10, 20, "redis", "GET"),
      call_of(3, 1, 25, 30, "redis", "GET"), call_of(4, 1, 40, 50, "redis", "GET")};
  spans[1].failed = true;
  auto const endpoint = only_endpoint(set_of(spans));
  auto const& calls = endpoint.requests.at(0).calls;
  ASSERT_EQ(calls.size(), 2);
  ASSERT_EQ(calls[0].attempts.size(), 2);
  EXPECT_TRUE(calls[0].attempts[0].failed);
  EXPECT_EQ(calls[0].end_us(), 30'000);
  EXPECT_EQ(calls[1].occurrence, 1);
}

TEST(ServiceRequest, ReadsTheStatusOfSpansAsTheirTracersWriteIt) {
  auto const read = [](std::string_view status) {
    auto const set =
        read_span_file(R"({"resourceSpans":[{"scopeSpans":[{"spans":[)"
                       R"({"traceId":"00000000000000000000000000000001",)"
                       R"("spanId":"0000000000000001","startTimeUnixNano":"1700000000000000000",)"
                       R"("endTimeUnixNano":"1700000000000000001")" +
                       std::string(status) + "}]}]}]}");
    return set && set->spans.at(0).failed;
  };
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read(R"(,"status":{"code":1})"));
  EXPECT_TRUE(read(R"(,"status":{"code":2})"));
  EXPECT_TRUE(read(R"(,"status":{"code":"STATUS_CODE_ERROR"})"));
  auto const zipkin = read_span_file(
      R"([{"traceId":"1000000000000001","id":"0000000000000001","timestamp":1700000000000000,)"
      R"("duration":5,"tags":{"error":"timeout"}}])");
  ASSERT_TRUE(zipkin);
  EXPECT_TRUE(zipkin->spans.at(0).failed);
}

}  // namespace
}  // namespace reprise
