#include "analysis/advice/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/contribution/entities.h"
#include "archive/edit/filter.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kPage = "https://www.a.test/";

/// Asked for by the document, between these times, over a connection that was there.
PageRequest request(const std::string& url, const char* type, double start_ms, double end_ms) {
  PageRequest made;
  made.url = url;
  made.method = "GET";
  made.resource_type = type;
  made.status = 200;
  made.protocol = "h2";
  made.encoded_bytes = 300;
  made.decoded_bytes = 1000;
  made.initiator = kPage;
  made.priority = "Low";
  made.start_ms = start_ms;
  made.response_ms = end_ms - 1;
  made.end_ms = end_ms;
  return made;
}

/// One load: the document from 0 to 100 ms, the load event at 1 s.
LoadResult loaded(const std::vector<PageRequest>& requests) {
  auto document = request(kPage, "Document", 0, 100);
  document.initiator.clear();
  document.response_ms = 90;
  LoadResult::Load load;
  load.page.url = kPage;
  load.page.load_event_ms = 1000;
  load.page.requests = {document};
  load.page.requests.insert(load.page.requests.end(), requests.begin(), requests.end());
  LoadResult result;
  result.loads = {load};
  return result;
}

std::vector<std::string> kinds(const std::vector<PageRequest>& requests,
                               CandidateOptions options = {}) {
  std::vector<std::string> out;
  for (const ChangeCandidate& each : candidates_of(loaded(requests), options)) {
    EXPECT_TRUE(Filter::parse(each.what_if.substr(0, each.what_if.rfind(": ")))) << each.what_if;
    out.push_back(each.kind);
  }
  return out;
}

TEST(Candidates, AreNoneForADocumentAlone) {
  EXPECT_THAT(kinds({}), IsEmpty());
  EXPECT_THAT(candidates_of({}, {}), IsEmpty());
}

TEST(Candidates, AResourceThatIsFoundLateCanBePreloaded) {
  auto late = request("https://www.a.test/late.woff2", "Font", 400, 700);
  late.initiator = "https://www.a.test/style.css";
  EXPECT_THAT(kinds({late}), ElementsAre("late resource"));
  late.start_ms = 100;  // as early as the document allows
  EXPECT_THAT(kinds({late}), IsEmpty());
  auto script = request("https://www.a.test/app.js", "Script", 400, 700);
  script.initiator = kPage;
  EXPECT_THAT(kinds({script}), ElementsAre("late resource")) << "an inline script has asked";
  script.start_ms = 120;
  EXPECT_THAT(kinds({script}), IsEmpty());
  auto image = request("https://www.a.test/hero.jpg", "Image", 400, 700);
  image.initiator = kPage;
  EXPECT_THAT(kinds({image}), ElementsAre("late resource")) << "a script has set its src";
  image.start_ms = 120;
  EXPECT_THAT(kinds({image}), IsEmpty());
}

TEST(Candidates, WhatIsInAFrameIsAsEarlyAsItsDocument) {
  auto const frame = request("https://frame.a.test/", "Document", 200, 400);
  auto style = request("https://frame.a.test/a.css", "Stylesheet", 410, 430);
  auto script = request("https://cdn.a.test/app.js", "Script", 410, 700);
  style.initiator = script.initiator = frame.url;
  script.timing.emplace();
  script.timing->connect_start_ms = 420;
  script.timing->connect_end_ms = 600;
  auto font = request("https://frame.a.test/a.woff2", "Font", 440, 700);
  font.initiator = style.url;
  EXPECT_THAT(kinds({frame, style, script, font}), IsEmpty());
  font.start_ms = 600;
  auto const found = candidates_of(loaded({frame, style, script, font}), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "late resource");
  EXPECT_THAT(found[0].advice, HasSubstr("201 ms after the first byte"));
}

TEST(Candidates, WhatOneStyleSheetOrScriptAsksForIsPreloadedTogetherButImages) {
  std::vector<PageRequest> requests;
  for (auto const* type : {"Font", "Script", "Image"}) {
    for (std::string const name : {"1", "2"}) {
      auto& made =
          requests.emplace_back(request("https://a.test/" + (type + name), type, 400, 700));
      made.initiator =
          type == std::string("Script") ? "https://a.test/app.js" : "https://a.test/a.css";
    }
  }
  auto const found = candidates_of(loaded(requests), {});
  std::vector<std::string> advice;
  for (const ChangeCandidate& each : found) advice.push_back(each.advice.substr(0, 45));
  EXPECT_THAT(advice, UnorderedElementsAre("Preload 2 resources of type font: https://a.t",
                                           "Preload 2 resources of type script: https://a",
                                           "Preload https://a.test/Image1: https://a.test",
                                           "Preload https://a.test/Image2: https://a.test"));
  std::vector<std::string> groups;
  for (const ChangeCandidate& each : found) groups.push_back(each.group);
  EXPECT_THAT(groups, UnorderedElementsAre("", "", "images of https://a.test/a.css",
                                           "images of https://a.test/a.css"));
}

TEST(Candidates, ABlockingScriptOfAnotherSiteIsAsyncAndOneOfThePageDeferred) {
  auto own = request("https://static.a.test/app.js", "Script", 100, 500);
  auto ads = request("https://ads.test/ad.js?slot=\"1\"", "Script", 100, 900);
  own.priority = ads.priority = "High";
  auto const found = candidates_of(loaded({own, ads}), {});
  std::vector<std::string> texts;
  for (const ChangeCandidate& each : found) texts.push_back(each.what_if);
  EXPECT_THAT(texts,
              UnorderedElementsAre(R"(host="static.a.test" path="/app.js": defer)",
                                   R"(host="ads.test" path="/ad.js" query="slot=\"1\"": async)",
                                   R"(host=".ads.test": drop)"));
}

TEST(Candidates, AHostOfTheSameOwnerIsNoThirdParty) {
  auto const entities = Entities::parse(R"([
      {"name":"A","category":"other","domains":["*.a.test","static.cdn.test"]},
      {"name":"Counter","category":"other","domains":["count.cdn.test"]}])");
  ASSERT_TRUE(entities) << entities.error();
  auto own = request("https://static.cdn.test/app.js", "Script", 100, 500);
  own.priority = "High";
  auto const other = request("https://count.cdn.test/1.png", "Image", 100, 900);
  std::vector<std::string> texts;
  for (auto const& each : candidates_of(loaded({own, other}), {.entities = &*entities})) {
    texts.push_back(each.what_if);
  }
  EXPECT_THAT(texts, UnorderedElementsAre(R"(host="static.cdn.test" path="/app.js": defer)",
                                          R"(host="count.cdn.test": drop)"));
  texts.clear();
  for (auto const& each : candidates_of(loaded({own, other}), {})) texts.push_back(each.what_if);
  EXPECT_THAT(texts, testing::Contains(R"(host=".cdn.test": drop)")) << "unknown";
}

TEST(Candidates, ThePageItselfIsNoThirdPartyWhereverItsScriptsLead) {
  auto result = loaded({request("https://b.test/", "Document", 200, 900)});
  result.loads.front().page.final_url = "https://b.test/";
  EXPECT_THAT(candidates_of(result, {}), IsEmpty());
}

TEST(Candidates, AreOrderedByTheirShare) {
  auto small = request("https://www.a.test/small.js", "Script", 100, 200);
  auto large = request("https://www.a.test/large.js", "Script", 100, 900);
  small.priority = large.priority = "High";
  auto const found = candidates_of(loaded({small, large}), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].what_if, HasSubstr("large.js"));
  EXPECT_NEAR(found[0].share_ms, 750, 1);  // half of 100 to 200, all of 200 to 900
  EXPECT_NEAR(found[1].share_ms, 50, 1);
  EXPECT_EQ(candidates_of(loaded({small, large}), {.most = 1}).size(), 1U);
}

TEST(Candidates, OfEachKindTheFirstComesBeforeTheSecond) {
  auto one = request("https://www.a.test/1.js", "Script", 100, 900);
  auto two = request("https://www.a.test/2.js", "Script", 100, 800);
  one.priority = two.priority = "High";
  auto const style = request("https://www.a.test/style.css", "Stylesheet", 100, 300);
  EXPECT_THAT(kinds({one, two, style}),
              ElementsAre("blocking script", "small style sheet", "blocking script"));
}

TEST(Candidates, TextWithoutCompressionAndLargeImages) {
  auto text = request("https://www.a.test/data.json", "Fetch", 100, 300);
  text.mime_type = "application/json";
  text.encoded_bytes = text.decoded_bytes = 50'000;
  auto image = request("https://www.a.test/hero.jpg", "Image", 100, 300);
  image.mime_type = "image/jpeg";
  image.priority = "High";
  image.encoded_bytes = image.decoded_bytes = 90'000;
  EXPECT_THAT(kinds({text, image}), UnorderedElementsAre("no compression", "large image"));
  EXPECT_THAT(kinds({text, image}, {.images = false}), ElementsAre("no compression"));
  auto font = request("https://www.a.test/font.ttf", "Font", 100, 300);
  font.mime_type = "font/ttf";
  font.encoded_bytes = font.decoded_bytes = 50'000;
  auto const found = candidates_of(loaded({text, font}), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].advice, HasSubstr("2 responses, 100.0 kB"));
  text.encoded_bytes = 12'000;
  image.mime_type = "image/svg+xml";
  image.encoded_bytes = 12'000;
  EXPECT_THAT(kinds({text, image}), IsEmpty());
}

TEST(Candidates, ASmallStyleSheetCanBePartOfTheDocument) {
  auto style = request("https://www.a.test/style.css", "Stylesheet", 100, 300);
  EXPECT_THAT(kinds({style}), ElementsAre("small style sheet"));
  style.decoded_bytes = 100'000;
  EXPECT_THAT(kinds({style}), IsEmpty());
}

TEST(Candidates, ImagesOutOfSightAreOneChange) {
  auto const one = request("https://www.a.test/1.png", "Image", 100, 300);
  auto const two = request("https://www.a.test/2.png", "Image", 100, 300);
  auto const found = candidates_of(loaded({one, two}), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what_if,
            R"((host="www.a.test" path="/1.png") or (host="www.a.test" path="/2.png"): lazy)");
  EXPECT_THAT(kinds({one}), IsEmpty());
}

TEST(Candidates, CountOnlyWhatTheFilterHasRoomFor) {
  std::vector<PageRequest> many;
  for (int i = 0; i < 1000; ++i) {
    auto const url = "https://www.a.test/" + std::string(80, 'i') + std::to_string(i) + ".png";
    many.push_back(request(url, "Image", 100, 300));
  }
  auto const found = candidates_of(loaded(many), {});
  ASSERT_EQ(found.size(), 1U);
  std::size_t tried = 0;
  for (std::size_t at = 0; (at = found[0].what_if.find(" path=", at)) != std::string::npos; ++at) {
    ++tried;
  }
  EXPECT_LT(tried, 1000U);
  EXPECT_THAT(found[0].advice, HasSubstr("Load " + std::to_string(tried) + " images lazily"));
}

TEST(Candidates, ALateConnectionCanBeMadeEarlier) {
  auto first = request("https://img.a.test/1.js", "XHR", 400, 800);
  first.timing.emplace();
  first.timing->connect_start_ms = 410;
  first.timing->tls_start_ms = 500;
  first.timing->connect_end_ms = 600;
  EXPECT_THAT(kinds({first}), ElementsAre("late connection"));
  auto beside = request("https://img.a.test/2.js", "XHR", 399, 900);
  EXPECT_THAT(kinds({beside, first}), ElementsAre("late connection")) << "it did not connect";
  beside.response_ms = 550;
  EXPECT_THAT(kinds({beside, first}), IsEmpty()) << "there was a connection before";
  first.timing->connect_start_ms = -1;
  EXPECT_THAT(kinds({first}), IsEmpty());
}

TEST(Candidates, ManyRequestsOverHttp1) {
  std::vector<PageRequest> requests;
  for (int i = 0; i < 6; ++i) {
    requests.push_back(
        request("https://img.a.test/" + std::to_string(i), "Media", 100, 300 + 50 * i));
    requests.back().protocol = "http/1.1";
  }
  EXPECT_THAT(kinds(requests), ElementsAre("old protocol"));
  requests.back().protocol = "h2";
  EXPECT_THAT(kinds(requests), IsEmpty());
}

TEST(Candidates, WhatFailedOrCameFromTheCacheOrAfterTheLoadIsLeftAlone) {
  auto failed = request("https://ads.test/1.js", "Script", 100, 900);
  failed.failure = "net::ERR_FAILED";
  auto cached = request("https://ads.test/2.js", "Script", 100, 900);
  cached.from_cache = true;
  auto const after = request("https://ads.test/3.js", "Script", 1100, 1900);
  EXPECT_THAT(kinds({failed, cached, after}), IsEmpty());
}

TEST(Candidates, WhatTheArchiveDoesNotHaveIsLeftAlone) {
  auto const late = request("https://www.a.test/late.png", "Image", 300, 900);
  auto result = loaded({late});
  result.loads.front().page.requests.back().initiator = "https://www.a.test/a.css";
  EXPECT_THAT(candidates_of(result, {}), testing::SizeIs(1));
  result.loads.front().replay = 0;
  result.replays.emplace_back().report.emplace().distinct_misses = {
      {.method = "GET", .url = late.url}};
  EXPECT_THAT(candidates_of(result, {}), IsEmpty());
}

}  // namespace
}  // namespace reprise
