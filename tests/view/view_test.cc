#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <chrono>

#include "pageload/results/result_file.h"
#include "tests/archive/archive_fixture.h"
#include "view/inputs.h"
#include "view/page.h"
#include "view/page_parts.h"

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHostile =
    "https://a.test/</script><!--<script>alert(1)</script>\xE2\x80\xA8\xE2\x80\xAE&\x7F";

json::object parsed(ViewModel model) {
  return json::parse(std::move(model).text()).get_object();
}

/// What a request has in the column of that name.
json::value column(const json::object& model, std::size_t load, std::size_t request,
                   std::string_view name) {
  auto const& row = model.at("loads").at(load).at("requests").get_array().at(request).get_array();
  std::size_t at = 0;
  for (auto const& each : model.at("text_columns").get_array()) {
    if (each.get_string() == name) return model.at("texts").at(row.at(at).to_number<std::size_t>());
    ++at;
  }
  for (auto const& each : model.at("number_columns").get_array()) {
    if (each.get_string() == name) return row.at(at);
    ++at;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

TEST(ViewModel, TextIsSafeInsideAScriptAndReadsAsItWas) {
  ViewModel model;
  model.add_input({{"name", kHostile}});
  model.begin_load({{"url", kHostile}});
  model.add_request({.url = kHostile, .method = "GET\xFF"});
  model.end_load();
  auto const text = std::move(model).text();
  for (auto const* unsafe : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xAE", "\x7F"}) {
    EXPECT_THAT(text, Not(HasSubstr(unsafe)));
  }
  auto const read = json::parse(text).get_object();
  EXPECT_EQ(read.at("inputs").at(0).at("name").get_string(), kHostile);
  EXPECT_EQ(read.at("loads").at(0).at("url").get_string(), kHostile);
  EXPECT_EQ(column(read, 0, 0, "url").get_string(), kHostile);
  EXPECT_EQ(column(read, 0, 0, "method").get_string(), "GET\xEF\xBF\xBD");
}

TEST(ViewModel, TextsStandThereOnceAndNumbersAreShort) {
  ViewModel model;
  model.add_input({});
  model.begin_load({});
  for (int i = 0; i < 3; ++i) {
    model.add_request({.url = "https://a.test/", .start_ms = 1.25, .end_ms = 1e300});
  }
  model.end_load({{"run", 1}});
  auto const read = parsed(std::move(model));
  EXPECT_EQ(read.at("texts").get_array().size(), 2U);  // the other one is empty
  EXPECT_EQ(column(read, 0, 2, "start_ms"), 1.25);
  EXPECT_TRUE(column(read, 0, 2, "end_ms").is_null());
  EXPECT_TRUE(column(read, 0, 2, "dns_start_ms").is_null());
  EXPECT_EQ(read.at("loads").at(0).at("run"), 1);
}

TEST(ViewModel, HasWhatARequestWaitsForByTheGraphOfThePage) {
  using Kind = DependencyNodeKind;
  DependencyGraph graph{
      .nodes = {{.kind = Kind::kRequest, .name = "https://a.test/", .method = "GET"},
                {.kind = Kind::kRequest, .name = "https://a.test/a.js?n=*", .method = "GET"},
                {.kind = Kind::kTask, .name = "script", .url = "https://a.test/a.js?n=*"},
                {.kind = Kind::kRequest, .name = "https://a.test/b.png", .method = "GET"},
                {.kind = Kind::kRequest, .name = "https://a.test/absent", .method = "GET"}},
      .edges = {{.from = 0,
                 .to = 1,
                 .kind = DependencyKind::kParser,
                 .after = DependencyAfter::kFirstByte},
                {.from = 1, .to = 2},
                {.from = 2, .to = 3, .evidence = {.held_back = true}},
                {.from = 0, .to = 4}}};
  ViewModel model;
  model.add_input({});
  model.use_dependencies(&graph);
  model.begin_load({});
  model.add_request({.url = "https://a.test/lost", .method = "GET"});
  model.add_request({.url = "https://a.test/", .method = "GET", .start_ms = 0, .end_ms = 60});
  model.add_request(
      {.url = "https://a.test/a.js?n=7", .method = "GET", .start_ms = 20, .end_ms = 70});
  model.add_request({.url = "https://a.test/b.png", .method = "GET", .start_ms = 80, .end_ms = 90});
  model.end_load();
  model.use_dependencies(nullptr);
  model.begin_load({});
  model.end_load();
  auto const read = parsed(std::move(model));
  EXPECT_EQ(json::serialize(read.at("loads").at(0).at("dependencies")),
            R"([[1,2,"parser, after its first byte",0],[2,3,"initiator, after its run",1]])");
  EXPECT_FALSE(read.at("loads").at(1).as_object().contains("dependencies"));
}

TEST(ViewModel, HasTheCriticalChainUpToTheLoadEvent) {
  ViewModel model;
  model.add_input({});
  for (json::value const& event : {json::value(92.5), json::value()}) {
    model.begin_load({{"metrics", {{"load_event_ms", event}}}});
    model.add_request({.url = "https://a.test/lost"});
    model.add_request({.url = "https://a.test/", .start_ms = 0, .end_ms = 60});
    model.add_request({.url = "https://a.test/stream", .start_ms = 10});
    model.add_request({.url = "https://a.test/a.png",
                       .initiator = "https://a.test/",
                       .start_ms = 50.5,
                       .end_ms = 90});
    model.add_request({.url = "https://a.test/late",
                       .initiator = "https://a.test/",
                       .start_ms = 95,
                       .end_ms = 500});
    model.end_load();
  }
  auto const read = parsed(std::move(model));
  EXPECT_EQ(read.at("loads").at(0).at("chain"),
            json::parse(R"([[1,"",0E0,5.05E1],[3,"started",5.05E1,9E1]])"));
  EXPECT_EQ(read.at("loads").at(1).at("chain"),
            json::parse(R"([[1,"",0E0,6E1],[4,"started",9.5E1,5E2]])"));
}

constexpr ViewLimits kSmall{.requests = 200, .trace_bytes = 1000, .head_bytes = 1000};

TEST(ViewModel, HasTracesByTheirRequestUpToALimit) {
  TrenchTrace trace{.points = {{std::string(kHostile), "a", 1}},
                    .nodes = {{.hits = 1, .inclusive_us = 1500}}};
  ViewModel model(nullptr, kSmall);
  model.add_input({});
  for (int load = 0; load < 2; ++load) {
    model.begin_load({});
    model.add_request({});
    model.add_request({});
    model.add_trace(trace);
    model.add_request({});
    model.add_trace_error(kHostile);
    if (load == 0) {
      trace.points[0].method.assign(kSmall.trace_bytes, 'm');
    }
    model.end_load();
  }
  auto const read = parsed(std::move(model));
  auto const& traces = read.at("loads").at(0).at("traces").get_array();
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].at(0), 1);
  EXPECT_EQ(traces[0].at(1).at("classes").at(0).at(0).get_string(), kHostile);
  EXPECT_EQ(traces[0].at(1).at("stack"), json::parse("[[0,1,1.5,[]]]"));
  EXPECT_EQ(traces[1].at(0), 2);
  EXPECT_EQ(traces[1].at(1).get_string(), kHostile);
  EXPECT_EQ(read.at("loads").at(0).at("traces_left_out"), 0);
  EXPECT_EQ(read.at("loads").at(1).at("traces").get_array().size(), 1U);
  EXPECT_EQ(read.at("loads").at(1).at("traces_left_out"), 1);
}

TEST(ViewModel, HasNoTraceAfterOneThatDoesNotFit) {
  TrenchTrace const small{.points = {{"A", "a", 1}}, .nodes = {{.hits = 1, .inclusive_us = 1500}}};
  auto large = small;
  large.points[0].method.assign(kSmall.trace_bytes, 'm');
  ViewModel model(nullptr, kSmall);
  model.add_input({});
  model.begin_load({});
  const TrenchTrace* const traces[] = {&small, &large, &small};
  for (auto const* const trace : traces) {
    model.add_request({});
    model.add_trace(*trace);
  }
  model.end_load();
  auto const read = parsed(std::move(model));
  EXPECT_EQ(read.at("loads").at(0).at("traces").get_array().size(), 1U);
  EXPECT_EQ(read.at("loads").at(0).at("traces_left_out"), 2);
}

TEST(ViewModel, HasHeadsWithTheirTextsOnceUpToALimit) {
  std::vector<HeaderView> fields = {{"Accept", "*/*"}, {"Cookie", "a=secret"}};
  std::string const large(kSmall.head_bytes, 'h');
  Redaction redaction;
  ViewModel model(&redaction, kSmall);
  model.add_input({});
  model.begin_load({});
  model.add_request({});
  model.add_request({.url = "https://a.test/?token=secret"});
  model.add_heads({"GET /?token=secret h2", fields}, {"h2 200", {}});
  fields[0].value = large;
  model.add_request({});
  model.add_heads({"GET / h2", fields}, {});
  model.add_request({});
  model.add_heads({"GET / h2", fields}, {});
  model.end_load();
  auto const text = std::move(model).text();
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  auto const read = json::parse(text).get_object();
  auto const& load = read.at("loads").at(0);
  ASSERT_EQ(load.at("heads").get_array().size(), 2U);
  EXPECT_EQ(load.at("heads_left_out"), 1);
  auto const& heads = load.at("heads").at(0);
  EXPECT_EQ(heads.at(0), 1);
  std::vector<std::string_view> texts;
  for (auto const& number : heads.at(1).get_array()) {
    texts.emplace_back(read.at("texts").at(number.to_number<std::size_t>()).get_string());
  }
  EXPECT_THAT(texts, testing::ElementsAre("GET /?token=REDACTED h2", "Accept", "*/*", "Cookie",
                                          "a=REDACTED"));
  EXPECT_EQ(heads.at(2).get_array().size(), 1U);
}

TEST(ViewModel, RequestsOverTheLimitAreCountedInTheirLoad) {
  ViewModel model(nullptr, kSmall);
  model.add_input({});
  for (int load = 0; load < 2; ++load) {
    model.begin_load({});
    for (std::size_t i = 0; i < kSmall.requests - 1; ++i) model.add_request({});
    model.end_load();
  }
  EXPECT_EQ(model.requests(), kSmall.requests);
  EXPECT_EQ(model.requests_left_out(), kSmall.requests - 2);
  auto const read = parsed(std::move(model));
  EXPECT_EQ(read.at("loads").at(0).at("requests_left_out"), 0);
  EXPECT_EQ(read.at("loads").at(1).at("requests_left_out"), kSmall.requests - 2);
  EXPECT_EQ(read.at("loads").at(1).at("requests").get_array().size(), 1U);
}

TEST(ViewModel, KeepsTheLastFrameIfNotAllFitAndNoneAfterTheFirstThatDoesNot) {
  const std::array<ViewFrame, 5> frames = {{{.at_ms = 0, .percent = 0, .jpeg = "abc"},
                                            {.at_ms = 10, .percent = 20, .jpeg = "too long"},
                                            {.at_ms = 20, .percent = 50, .jpeg = "d"},
                                            {.at_ms = 30, .percent = 80, .jpeg = "e"},
                                            {.at_ms = 40, .percent = 100, .jpeg = "mnop"}}};
  ViewModel model(nullptr, {.frame_bytes = 10});
  model.add_input({});
  for (int load = 0; load < 2; ++load) {
    model.begin_load({});
    model.add_frames(frames);
    model.end_load();
  }
  auto const read = parsed(std::move(model));
  auto const& first = read.at("loads").at(0);
  EXPECT_EQ(json::serialize(first.at("frames")), R"([[0,0,"YWJj"],[40,100,"bW5vcA=="]])");
  EXPECT_EQ(first.at("frames_left_out"), 3);
  auto const& second = read.at("loads").at(1);
  EXPECT_TRUE(second.at("frames").get_array().empty());
  EXPECT_EQ(second.at("frames_left_out"), 5);
}

json::object view_of(std::string_view text) {
  auto const result = read_result(text);
  EXPECT_TRUE(result) << (result ? "" : result.error());
  ViewModel model;
  add_result(result.value_or(LoadResult()), "a.json", model);
  return parsed(std::move(model));
}

TEST(ViewModel, NamesTheMetricsThatThePageShows) {
  auto const read = parsed(ViewModel());
  auto const& metrics = read.at("metrics").get_array();
  EXPECT_EQ(json::serialize(metrics.at(0)),
            R"({"key":"load_event_ms","name":"Load event","unit":"ms","mark":"Load",)"
            R"("column":"Load event"})");
  for (auto const& metric : metrics) EXPECT_NE(metric.at("key"), "hits") << "shown nowhere";
}

TEST(ViewResult, OlderResultsAreReadWithWhatTheyHave) {
  auto const read = view_of(R"({"schema":"reprise-load/1","archive":null,"loads":[
    {"url":"https://a.test/","run":3,"outcome":"loaded","load_event_ms":83.6,
     "dom_content_loaded_ms":null,"requests":[{"url":"https://a.test/","status":200,
     "encoded_bytes":7,"start_ms":0,"response_ms":18.75,"end_ms":null}]}],
    "replays":[{"run":3,"report":{"distinct_misses":[
     {"method":"GET","url":"u","reason":"why"}]}}]})");
  auto const& load = read.at("loads").at(0);
  EXPECT_EQ(load.at("run"), 3);
  EXPECT_EQ(load.at("metrics").at("load_event_ms"), 83.6);
  EXPECT_TRUE(load.at("metrics").at("dom_content_loaded_ms").is_null());
  EXPECT_EQ(load.at("metrics").at("request_count"), 1);
  EXPECT_EQ(load.at("metrics").at("encoded_bytes"), 7);
  EXPECT_TRUE(load.at("link").is_null());
  EXPECT_EQ(json::serialize(load.at("misses")), R"([["GET","u","why"]])");
  EXPECT_EQ(column(read, 0, 0, "first_byte_ms"), 18.75);
  EXPECT_TRUE(column(read, 0, 0, "end_ms").is_null());
}

TEST(ViewResult, TimingConfigurationAndLinkAreTakenOver) {
  auto const read = view_of(R"({"schema":"reprise-load/1","loads":[
    {"run":1,"replay":1,"warm_up":true,"configuration":{"protocol":"h2","link":"wpt:4g"},
     "requests":[{"connection":12,"initiator":"i","timing":{"dns_start_ms":1,"first_byte_ms":5},
     "response_ms":6,"decoded_bytes":9}]}],
    "replays":[{"run":1,"report":{"link":{"link_text":"no"}}},
     {"run":1,"report":{"link":{"link_text":"9mbit","doubts":["late"],
      "link":{"rtt_ms":170,"down":{"rate_bps":9000000}},
      "timeline":{"width_ms":5,"down":{"rate_bps":[1,null]}}}}}]})");
  auto const& load = read.at("loads").at(0);
  EXPECT_EQ(load.at("configuration").at("link").get_string(), "wpt:4g");
  EXPECT_TRUE(load.at("warm_up").get_bool());
  EXPECT_EQ(load.at("link").at("text").get_string(), "9mbit");
  EXPECT_EQ(load.at("link").at("down_bps"), 9000000);
  EXPECT_EQ(json::serialize(load.at("link").at("doubts")), R"(["late"])");
  EXPECT_EQ(json::serialize(load.at("link").at("timeline").at("down").at("rate_bps")), "[1,0]");
  EXPECT_EQ(column(read, 0, 0, "connection").get_string(), "12");
  EXPECT_EQ(column(read, 0, 0, "dns_start_ms"), 1);
  EXPECT_EQ(column(read, 0, 0, "first_byte_ms"), 5);
}

using std::chrono::milliseconds;

Exchange asked_at(std::uint64_t sequence, std::string_view path, milliseconds queued) {
  auto exchange = an_exchange(sequence, path);
  exchange.origin_connection_id = 7;
  exchange.timings = {.queued = queued,
                      .request_sent = queued,
                      .first_byte = queued + milliseconds(20),
                      .end = queued + milliseconds(30)};
  return exchange;
}

/// That of asked_at(): from 1000 to 1040 ms.
ConnectionFacts made_early() {
  auto facts = a_connection(7);
  facts.dns_start = milliseconds(1000);
  facts.connect_start = milliseconds(1010);
  facts.tls_start = milliseconds(1020);
  facts.ready = milliseconds(1040);
  return facts;
}

json::object view_of(const std::vector<Exchange>& exchanges,
                     const std::vector<ConnectionFacts>& connections,
                     const std::vector<DependencyGraph>& graphs = {}) {
  ScratchFolder const folder;
  auto const path = folder / "a.reprise";
  {
    auto const writer = create_archive(path);
    auto session = a_session();
    session.pages.clear();
    EXPECT_TRUE(writer->begin_session(session));
    for (const ConnectionFacts& facts : connections) EXPECT_TRUE(writer->add_connection(facts));
    for (const Exchange& exchange : exchanges) add(*writer, exchange);
    EXPECT_TRUE(writer->close());
  }
  auto const reader = open_archive(path);
  ViewModel model;
  add_archive(*reader, "a.reprise", model, graphs);
  return parsed(std::move(model));
}

TEST(ViewArchive, BeginsWithTheFirstRequestInTimeWhateverTheOrderOfTheFile) {
  auto style = asked_at(1, "/style.css", milliseconds(1300));
  style.request.headers = {{.name = "Referer", .value = "https://example.org/"}};
  auto const read = view_of({style, asked_at(2, "/", milliseconds(1000))}, {});
  EXPECT_EQ(column(read, 0, 0, "start_ms"), 300);
  EXPECT_EQ(column(read, 0, 1, "start_ms"), 0);
  auto const& load = read.at("loads").at(0);
  EXPECT_EQ(load.at("url").get_string(), "https://example.org/");
  auto const& chain = load.at("chain").get_array();
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_EQ(chain[0].at(0), 1);
  EXPECT_EQ(chain[1].at(0), 0);
}

TEST(ViewArchive, ExchangesWithoutTimesAreShownInTheOrderOfTheFile) {
  auto const read = view_of({an_exchange(1, "/first"), an_exchange(2, "/second")}, {});
  EXPECT_TRUE(column(read, 0, 0, "start_ms").is_null());
  EXPECT_EQ(read.at("loads").at(0).at("url").get_string(), "https://example.org/first");
}

TEST(ViewArchive, ARequestStartsWithTheConnectionThatItWaitedFor) {
  auto const read =
      view_of({asked_at(1, "/", milliseconds(1045)), asked_at(2, "/a", milliseconds(1046))},
              {made_early()});
  EXPECT_EQ(column(read, 0, 0, "start_ms"), 0);
  EXPECT_EQ(column(read, 0, 0, "connect_start_ms"), 10);
  EXPECT_EQ(column(read, 0, 0, "connect_end_ms"), 40);
  EXPECT_EQ(column(read, 0, 1, "start_ms"), 46);
  EXPECT_TRUE(column(read, 0, 1, "connect_start_ms").is_null());
}

TEST(ViewArchive, ARequestOnAnIdleConnectionStartsWhenItWasAsked) {
  auto const read =
      view_of({asked_at(1, "/", milliseconds(5000)), asked_at(2, "/a", milliseconds(5100))},
              {made_early()});
  EXPECT_EQ(column(read, 0, 0, "start_ms"), 0);
  EXPECT_EQ(column(read, 0, 0, "connect_start_ms"), -3990);
  EXPECT_EQ(column(read, 0, 0, "connect_end_ms"), -3960);
  EXPECT_EQ(column(read, 0, 1, "start_ms"), 100);
}

TEST(ViewArchive, ARequestWaitsForAConnectionThatIsNeverReady) {
  auto facts = made_early();
  facts.ready = kNoTime;
  auto const read = view_of({asked_at(1, "/", milliseconds(5000))}, {facts});
  EXPECT_EQ(column(read, 0, 0, "start_ms"), 0);
  EXPECT_EQ(column(read, 0, 0, "connect_start_ms"), 10);
}

TEST(ViewArchive, TheFirstRequestInTimeHasTheConnectionsTimes) {
  auto const read =
      view_of({asked_at(1, "/late", milliseconds(1200)), asked_at(2, "/", milliseconds(1045))},
              {made_early()});
  EXPECT_TRUE(column(read, 0, 0, "connect_start_ms").is_null());
  EXPECT_EQ(column(read, 0, 0, "start_ms"), 200);
  EXPECT_EQ(column(read, 0, 1, "connect_start_ms"), 10);
  EXPECT_EQ(column(read, 0, 1, "start_ms"), 0);
}

TEST(ViewArchive, HasWhatARequestWaitsForByTheGraphOfThePageThatWasFirst) {
  using Kind = DependencyNodeKind;
  auto const graph_of = [](const std::string& page, DependencyKind kind) {
    auto const url = "https://example.org" + page;
    return DependencyGraph{
        .page = url + "#top",
        .nodes = {{.kind = Kind::kRequest, .name = url, .method = "GET"},
                  {.kind = Kind::kRequest, .name = "https://example.org/a.js", .method = "GET"}},
        .edges = {{.from = 0, .to = 1, .kind = kind}}};
  };
  std::vector<DependencyGraph> const graphs = {graph_of("/late", DependencyKind::kStyle),
                                               graph_of("/", DependencyKind::kParser),
                                               graph_of("/absent", DependencyKind::kStyle)};
  auto const read =
      view_of({asked_at(1, "/late", milliseconds(1200)), asked_at(2, "/", milliseconds(1000)),
               asked_at(3, "/a.js", milliseconds(1100))},
              {}, graphs);
  EXPECT_EQ(json::serialize(read.at("loads").at(0).at("dependencies")),
            R"([[1,2,"parser, after its end",0]])");
  EXPECT_FALSE(view_of({asked_at(1, "/other", milliseconds(1000))}, {}, graphs)
                   .at("loads")
                   .at(0)
                   .as_object()
                   .contains("dependencies"));
}

TEST(ViewPage, OfResultsHasNoSecrets) {
  constexpr const char* kSecret = "s3cr3t-0123456789abcdef";
  LoadResult::Load load;
  PageRequest request;
  request.url = std::string("https://a.test/api?access_token=") + kSecret;
  load.page.requests.push_back(request);
  load.page.failure = std::string("it could not be loaded: ") + kSecret;
  LoadResult result;
  result.loads.push_back(load);
  auto const page = results_page(std::array{NamedResult{result, "a"}, NamedResult{result, "b"}});
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("access_token=REDACTED"));
  EXPECT_THAT(*page, Not(HasSubstr(kSecret)));
}

TEST(ViewPage, OfResultsHasWhatTheirTracesShow) {
  LoadResult result;
  result.loads.emplace_back().page.trace = "trace.json.gz";
  auto const visuals_of = [](const PageLoad& page) -> std::optional<TraceVisuals> {
    if (page.trace.empty()) return std::nullopt;
    TraceVisuals visuals;
    visuals.long_tasks.push_back({.start_ms = 10, .end_ms = 90});
    return visuals;
  };
  std::array const shown{NamedResult{result, "a"}};
  auto const without = results_page(shown);
  auto const with = results_page(shown, nullptr, visuals_of);
  ASSERT_TRUE(without);
  ASSERT_TRUE(with);
  EXPECT_THAT(*without, Not(HasSubstr(R"("long_tasks":[[)")));
  EXPECT_THAT(*with, HasSubstr(R"("long_tasks":[[)"));
}

TEST(ViewPage, HoldsAModelAndLetsRunItsOwnScriptAlone) {
  auto const page = view_page("{\"a\":\"STYLE MODEL SCRIPT\"}");
  EXPECT_THAT(page, HasSubstr(R"(<script type="application/json" id="model">{"a":"STYLE MODEL)"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(page, HasSubstr("style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, HasSubstr(kViewParts.script));
  EXPECT_EQ(kViewParts.script.find("</"), std::string_view::npos);
}

}  // namespace
}  // namespace reprise
