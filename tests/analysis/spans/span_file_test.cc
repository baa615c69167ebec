#include "analysis/spans/span_file.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

SpanSet read(std::string_view text) {
  auto set = read_span_file(text);
  EXPECT_TRUE(set) << set.error();
  return std::move(set).value_or(SpanSet{});
}

std::vector<std::string> losses(const SpanSet& set) {
  std::vector<std::string> texts;
  for (auto const& loss : set.losses) {
    texts.push_back(std::to_string(loss.count) + " " + loss.what);
  }
  return texts;
}

/// As the Collector's file exporter writes it, but broken to be read.
constexpr std::string_view kOtlp = R"({"resourceSpans":[{
  "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"cart"}},
                            {"key":"host.name","value":{"stringValue":"web1"}},
                            {"key":"cloud.region","value":{"stringValue":"eu-1"}}]},
  "scopeSpans":[{"scope":{"name":"@opentelemetry/instrumentation-http"},"spans":[
    {"traceId":"4BF92F3577B34DA6A3CE929D0E0E4736","spanId":"00f067aa0ba902b7","parentSpanId":"",
     "name":"GET","kind":2,"startTimeUnixNano":"1795000000000000001",
     "endTimeUnixNano":1795000000100000000,
     "attributes":[{"key":"http.route","value":{"stringValue":"/cart/{id}"}},
                   {"key":"http.request.method","value":{"stringValue":"GET"}},
                   {"key":"http.response.status_code","value":{"intValue":"200"}},
                   {"key":"cold","value":{"boolValue":true}},
                   {"key":"ids","value":{"arrayValue":{"values":[{"intValue":1}]}}}]},
    {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"10f067aa0ba902b7",
     "parentSpanId":"00f067aa0ba902b7","name":"SELECT","kind":"SPAN_KIND_CLIENT",
     "startTimeUnixNano":"1795000000010000000","endTimeUnixNano":"1795000000060000000"}]}]}]})";

TEST(SpanFile, IsOtlp) {
  auto const set = read(kOtlp);
  ASSERT_THAT(set.spans, SizeIs(2));
  const Span& span = set.spans[0];
  EXPECT_EQ(span.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span.span_id, "00f067aa0ba902b7");
  EXPECT_EQ(span.parent_id, "");
  EXPECT_EQ(span.kind, "server");
  EXPECT_EQ(span.service, "cart");
  EXPECT_EQ(span.host, "web1");
  EXPECT_EQ(span.place, "eu-1");
  EXPECT_EQ(span.start_ns, 1'795'000'000'000'000'001);
  EXPECT_EQ(span.end_ns, 1'795'000'000'100'000'000);
  EXPECT_EQ(endpoint_of(span), "GET /cart/{id}");
  EXPECT_EQ(span.attribute("http.response.status_code"), "200");
  EXPECT_EQ(span.attribute("cold"), "true");
  EXPECT_EQ(span.attribute("ids"), R"({"values":[{"intValue":1}]})");
  EXPECT_EQ(set.spans[1].kind, "client");
  EXPECT_EQ(set.spans[1].parent_id, "00f067aa0ba902b7");
  EXPECT_EQ(endpoint_of(set.spans[1]), "SELECT");
  EXPECT_THAT(set.losses, IsEmpty());
}

TEST(SpanFile, HasTheKindsThatAreSpecified) {
  constexpr std::string_view kClient = "SPAN_KIND_CLIENT";
  for (auto const& [name, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"SPAN_KIND_UNSPECIFIED", ""}, {"SPAN_KIND_INTERNAL", "internal"}, {"NEITHER", ""}}) {
    std::string text(kOtlp);
    text.replace(text.find(kClient), kClient.size(), name);
    EXPECT_EQ(read(text).spans.at(1).kind, kind) << name;
  }
}

TEST(SpanFile, CanHaveOneValueALine) {
  std::string line(kOtlp);
  std::erase(line, '\n');
  auto const set = read(line + "\n" + line + "\r\n\n");
  EXPECT_THAT(set.spans, SizeIs(4));
  EXPECT_THAT(set.losses, IsEmpty());
}

constexpr std::string_view kZipkin =
    R"([{"traceId":"a3ce929d0e0e4736","id":"00f067aa0ba902b7","name":"get /cart","kind":"SERVER",)"
    R"("timestamp":1795000000000000,"duration":100000,)"
    R"("localEndpoint":{"serviceName":"cart","ipv4":"10.0.0.7","port":80},)"
    R"("tags":{"http.path":"/cart","http.method":"GET","cloud.region":"eu-1"},)"
    R"("annotations":[{"timestamp":1,"value":"x"}]}])";

TEST(SpanFile, IsZipkin) {
  auto const set = read(kZipkin);
  ASSERT_THAT(set.spans, SizeIs(1));
  const Span& span = set.spans[0];
  EXPECT_EQ(span.trace_id, "0000000000000000a3ce929d0e0e4736");
  EXPECT_EQ(span.name, "get /cart");
  EXPECT_EQ(span.kind, "server");
  EXPECT_EQ(span.service, "cart");
  EXPECT_EQ(span.host, "10.0.0.7");
  EXPECT_EQ(span.place, "eu-1");
  EXPECT_EQ(span.start_ns, 1'795'000'000'000'000'000);
  EXPECT_EQ(span.end_ns, 1'795'000'000'100'000'000);
  EXPECT_EQ(url_of(span).target, "/cart");
}

TEST(SpanSet, HoldsTextsUpToALimit) {
  Span const span{.trace_id = std::string(32, 'a'),
                  .span_id = std::string(16, 'b'),
                  .parent_id = "",
                  .name = "",
                  .kind = "",
                  .service = "cart",
                  .host = "web1",
                  .place = "eu",
                  .start_ns = 1,
                  .end_ns = 2,
                  .attributes = {{"key", "value"}}};
  SpanSet set;
  set.add(span);
  EXPECT_EQ(set.text_bytes, 66U);
  set.text_bytes = SpanSet::kAllTextBytesMax - 2 * 66;
  for (int i = 0; i < 5; ++i) set.add(span);
  EXPECT_THAT(set.spans, SizeIs(3));
  EXPECT_THAT(losses(set), ElementsAre("3 spans beyond the first GiB of texts"));
  SpanSet other;
  other.add(span);
  set.add(std::move(other));
  EXPECT_THAT(set.spans, SizeIs(3));
  EXPECT_THAT(losses(set), ElementsAre("4 spans beyond the first GiB of texts"));
}

TEST(SpanSet, TakesThoseOfAnotherUpToItsLimit) {
  SpanSet set;
  set.spans.resize(SpanSet::kSpansMax - 1);
  SpanSet other;
  other.spans.resize(3);
  other.lose("lines that are not JSON");
  set.add(std::move(other));
  EXPECT_THAT(set.spans, SizeIs(SpanSet::kSpansMax));
  EXPECT_THAT(losses(set),
              ElementsAre("2 spans beyond the first million", "1 lines that are not JSON"));
}

TEST(SpanFile, LosesLinesThatAreNotJson) {
  auto const set =
      read("[1,\n" + std::string(kZipkin) + "\n{\"traceId\":\n" + std::string(kZipkin) + " {}\n7");
  EXPECT_THAT(set.spans, SizeIs(2));
  EXPECT_THAT(losses(set),
              ElementsAre("2 JSON values that are not spans of OpenTelemetry or Zipkin",
                          "2 lines that are not JSON"));
}

/// A span of Zipkin with these ids and times.
std::string zipkin_span(std::string_view trace, std::string_view id, std::string_view times) {
  return R"({"traceId":")" + std::string(trace) + R"(","id":")" + std::string(id) + R"(",)" +
         std::string(times) + "}\n";
}

TEST(SpanFile, LosesSpansWithoutIdsOrTimes) {
  constexpr std::string_view kId = "00f067aa0ba902b7";
  constexpr std::string_view kTimes = R"("timestamp":5,"duration":1)";
  auto const set =
      read(zipkin_span(kId, kId, kTimes) + zipkin_span("xyz", kId, kTimes) +
           zipkin_span(kId, "7", kTimes) + zipkin_span(kId, kId, R"("duration":1)") +
           zipkin_span(kId, kId, R"("timestamp":-5)") +
           zipkin_span(kId, kId, R"("timestamp":1e300,"duration":1e300)") +
           zipkin_span(kId, kId, R"("timestamp":5,"duration":9000000000000000)") + "[7]");
  EXPECT_THAT(set.spans, SizeIs(1));
  EXPECT_THAT(losses(set),
              ElementsAre("2 spans whose ids are not hexadecimal numbers of 128 and 64 bits",
                          "4 spans without a start or with times after 2096",
                          "1 entries of a list of spans that are not objects"));
}

TEST(SpanFile, MendsTheOrderOfTimes) {
  auto text = std::string(kOtlp);
  text.replace(text.find("1795000000060000000"), 19, "1794000000000000000");
  auto const set = read(text);
  EXPECT_EQ(set.spans[1].end_ns, set.spans[1].start_ns);
  EXPECT_THAT(losses(set), ElementsAre("1 spans that end before they start, taken as empty"));
}

TEST(SpanFile, MustHaveASpan) {
  EXPECT_EQ(read_span_file("").error(), "there are no spans in it");
  EXPECT_THAT(read_span_file("<html>").error(), HasSubstr("(lines that are not JSON: 1)"));
}

TEST(SpanFile, HasOnlySoManyAttributes) {
  std::string tags = R"("timestamp":5,"tags":{)";
  for (std::size_t i = 0; i < Span::kAttributesMax + 3; ++i) {
    tags += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":"x")";
  }
  auto const set = read(zipkin_span("00f067aa0ba902b7", "00f067aa0ba902b7", tags + "}"));
  EXPECT_THAT(set.spans[0].attributes, SizeIs(Span::kAttributesMax));
  EXPECT_THAT(losses(set), ElementsAre("3 attributes beyond a span's first 128"));
}

TEST(SpanFile, IsZipkinAsListsOfTraces) {
  constexpr std::string_view kId = "00f067aa0ba902b7";
  auto const span = zipkin_span(kId, kId, R"("timestamp":5,"duration":1)");
  auto const set = read("\xEF\xBB\xBF[[" + span + "],[" + span + "," + span + "]]");
  EXPECT_THAT(set.spans, SizeIs(3));
  EXPECT_THAT(set.losses, IsEmpty());
}

TEST(SpanFile, HasNoLongTexts) {
  std::string const value(Span::kTextBytesMax + 1, 'x');
  auto text = std::string(kOtlp);
  text.replace(text.find("cart\""), 4, value);
  text.replace(text.find("SELECT"), 6, value);
  auto const set = read(text);
  EXPECT_THAT(set.spans[0].service, SizeIs(Span::kTextBytesMax));
  EXPECT_THAT(set.spans[1].service, SizeIs(Span::kTextBytesMax));
  EXPECT_THAT(set.spans[1].name, SizeIs(Span::kTextBytesMax));
  EXPECT_THAT(losses(set), ElementsAre("2 texts longer than 4 KiB, cut"));
}

TEST(SpanEndpoint, IsTheNameOrTellsMore) {
  auto const endpoint = [](std::string name, std::vector<Attribute> attributes) {
    return endpoint_of({.name = std::move(name), .attributes = std::move(attributes)});
  };
  EXPECT_EQ(endpoint("SELECT cart", {}), "SELECT cart");
  EXPECT_EQ(endpoint("get", {{"http.method", "GET"}, {"http.target", "/cart?x=1"}}), "GET /cart");
  EXPECT_EQ(endpoint("show", {{"http.method", "GET"}, {"url.path", "/cart/7"}}), "show");
  EXPECT_EQ(endpoint("show", {{"http.method", "GET"}, {"http.route", "/cart/{id}"}}),
            "GET /cart/{id}");
  EXPECT_EQ(endpoint("GET /cart/{id}", {{"http.route", "/cart/{id}"}}), "GET /cart/{id}");
}

TEST(SpanUrl, IsOfNewAndOldNames) {
  auto const url = [](std::vector<Attribute> attributes) {
    auto const found = url_of({.attributes = std::move(attributes)});
    return found.host + " " + found.target;
  };
  EXPECT_EQ(url({{"url.full", "https://me@Shop.test:8443/cart?x=1#top"}}), "shop.test /cart?x=1");
  EXPECT_EQ(url({{"http.url", "http://[::1]:80"}}), "::1 /");
  EXPECT_EQ(url({{"url.path", "/cart"}, {"url.query", "x=1"}, {"server.address", "shop.test"}}),
            "shop.test /cart?x=1");
  EXPECT_EQ(url({{"http.target", "/cart?x=1"}, {"http.host", "shop.test:80"}}),
            "shop.test /cart?x=1");
  EXPECT_EQ(url({{"db.statement", "SELECT"}}), " ");
}

}  // namespace
}  // namespace reprise
