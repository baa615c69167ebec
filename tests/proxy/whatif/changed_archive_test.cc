#include "proxy/whatif/changed_archive.h"

#include <gmock/gmock.h>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto kScript = "https://a.test/x.js";
constexpr auto kHtml = "<!doctype html><html><head><script src=/x.js></script></head></html>";

class ChangedArchiveTest : public testing::Test {
 protected:
  void add_page() {
    site_.add(with(a_get(kPage, "text/html"), "Content-Length", std::to_string(kHtmlBytes)), kHtml);
  }
  void add_script() {
    auto const script = with(a_get(kScript, "text/javascript", kPage), "Content-Length", "9");
    site_.add(script, "var a = 1");
  }
  static constexpr std::size_t kHtmlBytes = std::string_view(kHtml).size();
  ScratchFolder folder_;
  RecordedSite site_;
};

TEST_F(ChangedArchiveTest, MakesChangesTogetherAlsoInOneDocument) {
  add_page();
  add_script();
  ChangedSite const made(site_, {"type=script: defer", "type=script: preload", "*: compress=gzip",
                                 "path=/: cache=10m", "type=script: priority=low"});
  auto const page = made.plain(kPage);
  EXPECT_THAT(page, HasSubstr("rel=\"preload\""));
  EXPECT_THAT(page, HasSubstr(" defer"));
  EXPECT_THAT(page, HasSubstr("fetchpriority=\"low\""));
  EXPECT_EQ(field_of(made.reply(kPage), "content-encoding"), "gzip");
  EXPECT_EQ(field_of(made.reply(kPage), "cache-control"), "public, max-age=600, immutable");
  EXPECT_EQ(field_of(made.reply(kPage), "content-length"),
            std::to_string(made.bodies.at(kPage).size()));
  EXPECT_EQ(made.plain(kScript), "var a = 1");
  EXPECT_EQ(made.effect(0), "1 selected, 1 changed");
  EXPECT_EQ(made.effect(2), "2 selected, 2 changed");
}

TEST_F(ChangedArchiveTest, NumbersTheExchangesWithAnotherBody) {
  add_page();
  add_script();
  ChangedSite const made(site_, {"type=script: defer", "type=script: compress=off",
                                 "type=script: cache=10m", "*: compress=gzip"});
  EXPECT_THAT(made.effects[0].changed_bodies, ElementsAre(1));
  EXPECT_THAT(made.effects[1].changed_bodies, SizeIs(0));
  EXPECT_THAT(made.effects[2].changed_bodies, SizeIs(0));
  EXPECT_THAT(made.effects[3].changed_bodies, ElementsAre(1, 2));
}

TEST_F(ChangedArchiveTest, IsTheSameInAnyOrder) {
  add_page();
  add_script();
  ChangedSite const one(site_, {"type=script: defer", "path=/: compress=br", "*: cache=1y"});
  ChangedSite const other(site_, {"*: cache=1y", "path=/: compress=br", "type=script: defer"});
  EXPECT_EQ(one.file(), other.file());
  ChangedSite const again(site_, {"type=script: defer", "path=/: compress=br", "*: cache=1y"});
  EXPECT_EQ(one.file(), again.file());
}

TEST_F(ChangedArchiveTest, CopiesOnlyTheSession) {
  site_.begin_session({"https://one.test/"});
  site_.add(a_get("https://one.test/", "text/html"), "one");
  site_.begin_session({"https://two.test/"});
  site_.add(ConnectionFacts{.id = 1, .host = "two.test"});
  site_.add(a_get("https://two.test/", "text/html"), "two");
  site_.begin_session();
  site_.add(a_get("https://three.test/", "text/html"), "three");
  ChangedSite const made(site_, {"*: cache=0"}, 2);
  ASSERT_THAT(made.exchanges, SizeIs(1));
  EXPECT_EQ(made.exchanges[0].session, 2);
  EXPECT_EQ(made.bodies.at("https://two.test/"), "two");
  ASSERT_THAT(made.reader->sessions(), SizeIs(1));
  EXPECT_THAT(made.reader->sessions()[0].pages, ElementsAre("https://two.test/"));
  EXPECT_THAT(made.reader->connections(), SizeIs(1));
  EXPECT_EQ(made.effect(), "1 selected, 1 changed");
}

TEST_F(ChangedArchiveTest, LeavesOutWhatIsDamaged) {
  add_page();
  site_.add(a_get("https://damaged.test/", "text/css"), "head");
  site_.add(a_get("https://a.test/whole", "text/css"), "whole body");
  site_.add(a_get("https://a.test/broken", "text/css"), "a body with a fault");
  site_.damage("damaged.test");
  site_.damage("a body with a fault");
  ChangedSite const made(site_, {"*: compress=gzip"});
  EXPECT_THAT(made.exchanges, SizeIs(2));
  EXPECT_EQ(made.plain("https://a.test/whole"), "whole body");
}

TEST_F(ChangedArchiveTest, NeedsNoBodyForAStatus) {
  site_.add(a_get("https://a.test/broken", "text/css"), "a body with a fault");
  site_.damage("a body with a fault");
  ChangedSite const made(site_, {"*: status=404"});
  EXPECT_EQ(made.reply("https://a.test/broken").status, 404);
}

TEST_F(ChangedArchiveTest, KeepsTheMessagesOfWebSockets) {
  auto socket = a_get("https://a.test/live", "");
  socket.request.method = "CONNECT";
  socket.request.protocol = kWebSocketProtocol;
  socket.response.status = 101;
  auto const sequence = site_.add(socket);
  site_.add_message(sequence, "one");
  site_.add_message(sequence, "two");
  add_page();
  ChangedSite const made(site_, {"*: cache=1y", "*: compress=br"});
  ASSERT_THAT(made.reader->messages(), SizeIs(2));
  EXPECT_EQ(text_of(made.reader->message(made.reader->messages()[1]).value().payload), "two");
  EXPECT_EQ(made.effect(1), "2 selected, 1 changed; the response has no body: https://a.test/live");
}

TEST_F(ChangedArchiveTest, KeepsTheBodiesOfRequests) {
  auto posted = a_get("https://a.test/form", "text/plain");
  posted.request.method = "POST";
  site_.add(posted, "thanks", "a=b");
  ChangedSite const made(site_, {"*: status=500"});
  auto const body = made.reader->read_body(made.exchanges[0].request.body, 1000).value();
  EXPECT_EQ(text_of(body), "a=b");
}

TEST_F(ChangedArchiveTest, KeepsTheLengthOfResponsesWithoutTheirBody) {
  auto head = with(a_get("https://a.test/head", "text/css"), "Content-Length", "5000");
  head.request.method = "HEAD";
  site_.add(head);
  auto fresh = with(a_get("https://a.test/fresh", "text/css"), "Content-Length", "700");
  fresh.response.status = 304;
  site_.add(fresh);
  ChangedSite const made(site_, {"*: cache=1y", "*: compress=gzip"});
  EXPECT_EQ(field_of(made.reply("https://a.test/head"), "content-length"), "5000");
  EXPECT_EQ(field_of(made.reply("https://a.test/fresh"), "content-length"), "700");
  EXPECT_EQ(made.effect(0), "2 selected, 2 changed");
  EXPECT_EQ(made.effect(1),
            "2 selected, 0 changed; the response has no body: https://a.test/head and 1 more");
}

TEST_F(ChangedArchiveTest, LeavesPartsOfFilesAlone) {
  auto part = with(a_get("https://a.test/part", "image/png"), "Content-Range", "bytes 0-3/9");
  part.response.status = 206;
  site_.add(part, "part");
  ChangedSite const made(site_, {"*: compress=gzip", "*: bytes=x0.5"});
  EXPECT_EQ(made.bodies.at("https://a.test/part"), "part");
  EXPECT_EQ(made.effect(0),
            "1 selected, 0 changed; the response is a part of a file: https://a.test/part");
}

TEST_F(ChangedArchiveTest, KeepsACutResponseCut) {
  auto cut = with(a_get("https://a.test/cut", "text/css"), "Content-Length", "100");
  cut.outcome = Outcome::kCutByOrigin;
  cut.failure = "the origin closed";
  site_.add(cut, "half");
  ChangedSite const made(site_, {"*: compress=gzip", "*: cache=1y"});
  auto const& kept = made.at("https://a.test/cut");
  EXPECT_EQ(kept.outcome, Outcome::kCutByOrigin);
  EXPECT_EQ(field_of(kept.response, "content-length"), "100");
  EXPECT_EQ(made.bodies.at("https://a.test/cut"), "half");
  EXPECT_EQ(made.effect(0), "1 selected, 0 changed; the response is not whole: https://a.test/cut");
}

TEST_F(ChangedArchiveTest, AStatusMakesAFailedOrCutExchangeWhole) {
  auto failed = a_get("https://a.test/failed", "");
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  failed.failure = "no route to host";
  site_.add(failed);
  auto cut = a_get("https://a.test/cut", "text/css");
  cut.outcome = Outcome::kCutByOrigin;
  cut.failure = "the origin closed";
  cut.response.chunk_times = {{.end_bytes = 4, .time = SessionTime(350)}};
  site_.add(cut, "half");
  ChangedSite const made(site_, {"*: status=503"});
  for (const Exchange& each : made.exchanges) {
    EXPECT_EQ(each.outcome, Outcome::kComplete);
    EXPECT_EQ(each.failure, "");
    EXPECT_EQ(each.response.status, 503);
    EXPECT_EQ(each.response.body.size_bytes, 0);
  }
}

TEST_F(ChangedArchiveTest, ChangesNothingOfAFailedExchangeElse) {
  auto failed = a_get("https://a.test/failed", "");
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  site_.add(failed);
  ChangedSite const made(site_, {"*: cache=1y", "*: compress=br"});
  EXPECT_TRUE(made.exchanges[0].response.headers.empty());
  EXPECT_EQ(made.effect(0), "1 selected, 0 changed; it has no response: https://a.test/failed");
  EXPECT_EQ(made.effect(1), "1 selected, 0 changed; it has no response: https://a.test/failed");
}

TEST_F(ChangedArchiveTest, DropsWithTheHost) {
  add_page();
  site_.add(ConnectionFacts{.id = 1, .host = "a.test"});
  site_.add(ConnectionFacts{.id = 2, .host = "ads.test"});
  site_.add(DnsAnswer{.host = "ads.test", .type = 1, .addresses = {"192.0.2.1"}});
  auto ad = a_get("https://ads.test/x.js", "text/javascript", kPage);
  ad.interim = {{.status = 103, .time = SessionTime(250)}};
  ad.response.trailers = {{.name = "X", .value = "y"}};
  site_.add(ad, "ad");
  ChangedSite const made(site_, {"host=ads.test: drop"});
  auto const& dropped = made.at("https://ads.test/x.js");
  EXPECT_EQ(dropped.outcome, Outcome::kOriginFailed);
  EXPECT_EQ(dropped.response.status, 0);
  EXPECT_EQ(dropped.timings.first_byte, kNoTime);
  EXPECT_TRUE(dropped.interim.empty());
  ASSERT_THAT(made.reader->connections(), SizeIs(1));
  EXPECT_EQ(made.reader->connections()[0].host, "a.test");
  EXPECT_TRUE(made.reader->answers().empty());
  EXPECT_EQ(made.effects[0].places[0].what, "dropped, with its host");
}

TEST_F(ChangedArchiveTest, SaysWhatADropOrAStatusKeepsFromHappening) {
  add_page();
  add_script();
  ChangedSite const dropped(site_, {"path=/: drop", "type=script: async", "path=/: cache=1y",
                                    "path=/: compress=br", "path=/: status=500"});
  for (std::size_t const number : {1, 2, 3, 4}) {
    EXPECT_EQ(dropped.effect(number),
              "1 selected, 0 changed; another what-if drops it: https://a.test/")
        << number;
  }
  ChangedSite const status(site_,
                           {"path=/: status=500", "type=script: async", "path=/: compress=br"});
  for (std::size_t const number : {1, 2}) {
    EXPECT_EQ(status.effect(number),
              "1 selected, 0 changed; another what-if sets its status: https://a.test/")
        << number;
  }
}

TEST_F(ChangedArchiveTest, MentionsNothingThatIsDroppedOrHasAnotherStatus) {
  add_page();
  add_script();
  for (auto const* const action : {"inline", "preload", "early-hints"}) {
    ChangedSite const made(site_, {std::string("type=script: ") + action, "type=script: drop"});
    EXPECT_EQ(made.plain(kPage), kHtml) << action;
    EXPECT_TRUE(made.at(kPage).interim.empty()) << action;
    EXPECT_EQ(made.effect(0),
              "1 selected, 0 changed; another what-if drops it: https://a.test/x.js")
        << action;
  }
  for (auto const* const action : {"inline", "preload", "early-hints"}) {
    ChangedSite const made(site_,
                           {std::string("type=script: ") + action, "type=script: status=404"});
    EXPECT_EQ(made.plain(kPage), kHtml) << action;
    EXPECT_TRUE(made.at(kPage).interim.empty()) << action;
    EXPECT_EQ(made.effect(0),
              "1 selected, 0 changed; another what-if sets its status: https://a.test/x.js")
        << action;
  }
}

TEST_F(ChangedArchiveTest, KeepsNoResponseInTheCacheThatABrowserDoesNotTakeFromThere) {
  auto posted = a_get("https://a.test/query", "application/json");
  posted.request.method = "POST";
  site_.add(posted, "{}");
  ChangedSite const made(site_, {"*: cache=1y"});
  EXPECT_EQ(field_of(made.reply("https://a.test/query"), "cache-control"), "-");
  EXPECT_EQ(made.effect(),
            "1 selected, 0 changed; a POST never comes from the cache: https://a.test/query");
}

TEST_F(ChangedArchiveTest, GivesAnotherBodyThatDocumentsMayHold) {
  auto const path = (folder_ / "body").string();
  std::ofstream(path) << "other()";
  add_page();
  add_script();
  ChangedSite const made(site_, {"type=script: body=" + path, "type=script: inline"});
  EXPECT_EQ(made.plain(kScript), "other()");
  EXPECT_EQ(field_of(made.reply(kScript), "content-length"), "7");
  EXPECT_THAT(made.plain(kPage), HasSubstr(">other()</script>"));
}

TEST_F(ChangedArchiveTest, KeepsTheTimesOfTheRecordedPieces) {
  auto slow = a_get("https://a.test/slow", "text/css");
  slow.response.chunk_times = {{.end_bytes = 2'000, .time = SessionTime(310)},
                               {.end_bytes = 4'000, .time = SessionTime(390)}};
  site_.add(slow, std::string(4'000, 'a'));
  ChangedSite const made(site_, {"*: compress=gzip"});
  auto const& reply = made.reply("https://a.test/slow");
  EXPECT_LT(reply.body.size_bytes, 4'000U);
  EXPECT_EQ(reply.timed_size_bytes(), 4'000U);
  EXPECT_EQ(reply.chunk_times, slow.response.chunk_times);
}

TEST_F(ChangedArchiveTest, AStatusWaitsForNothingOfTheOldBody) {
  auto events = a_get("https://a.test/events", "text/event-stream");
  events.response.chunk_times = {{.end_bytes = 4, .time = SessionTime(350)}};
  events.timings.end = SessionTime(9'000);
  site_.add(events, "text");
  ChangedSite const made(site_, {"*: status=503"});
  auto const& emptied = made.at("https://a.test/events");
  EXPECT_TRUE(emptied.response.chunk_times.empty());
  EXPECT_EQ(emptied.timings.first_byte, SessionTime(300));
  EXPECT_EQ(emptied.timings.end, emptied.timings.first_byte);
}

TEST_F(ChangedArchiveTest, OfARecordingWithoutDocumentsSaysSo) {
  add_script();
  ChangedSite const made(site_, {"*: async", "*: compress=br"});
  EXPECT_EQ(made.effect(0),
            "1 selected, 0 changed; the recording has no document: https://a.test/x.js");
  EXPECT_EQ(made.effect(1), "1 selected, 1 changed");
}

TEST_F(ChangedArchiveTest, TellsWhatNoDocumentMentions) {
  add_page();
  site_.add(a_get("https://a.test/frame", "text/html", kPage), "<p>nothing</p>");
  add_script();
  site_.add(a_get("https://a.test/late.js", "text/javascript", kPage), "late");
  ChangedSite const made(site_, {"type=script: async"});
  EXPECT_EQ(made.effect(),
            "2 selected, 1 changed; no document mentions it: https://a.test/late.js");
}

TEST_F(ChangedArchiveTest, WithConditionsAloneIsTheSession) {
  add_page();
  add_script();
  ChangedSite const made(site_, {"*: think=+1", "*: rtt=+5"});
  ChangedSite const none(site_, {});
  EXPECT_EQ(made.file(), none.file());
  EXPECT_EQ(made.effect(0), "0 selected, 0 changed");
}

TEST_F(ChangedArchiveTest, DoesNotReplaceAFile) {
  add_page();
  auto const path = folder_ / "there";
  std::ofstream(path) << "mine";
  EXPECT_FALSE(write_changed_archive(site_.reader(), 1, {}, path));
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
}

TEST_F(ChangedArchiveTest, IsNotFinishedWhenToldToStop) {
  add_page();
  add_script();
  int asked = 0;
  auto const made = write_changed_archive(site_.reader(), 1, {}, folder_ / "changed",
                                          [&asked] { return ++asked == 2; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), std::errc::operation_canceled);
  EXPECT_EQ(asked, 2);
}

TEST(Effects, RefuseWhatSelectsOrChangesNothing) {
  Effect effect{.text = "*: lazy"};
  EXPECT_EQ(refusal(effect), "--what-if '*: lazy' selects no request of the recording");
  effect.selected = 2;
  effect.remark("no document mentions it", "https://a.test/1");
  effect.remark("no document mentions it", "https://a.test/2");
  EXPECT_EQ(refusal(effect),
            "--what-if '*: lazy' selects 2 requests, but changes nothing\n"
            "  no document mentions it: https://a.test/1 and 1 more");
  effect.add("https://a.test/", "img");
  EXPECT_EQ(refusal(effect), "");
}

TEST(Effects, KeepTheFirstPlacesAndReasons) {
  Effect effect;
  for (int i = 0; i < 200; ++i) {
    effect.add(std::to_string(i), "x");
    effect.remark("reason " + std::to_string(i), "x");
  }
  EXPECT_EQ(effect.changed, 200);
  EXPECT_THAT(effect.places, SizeIs(Effect::kPlacesKept));
  EXPECT_THAT(effect.remarks, SizeIs(Effect::kRemarksKept));
}

}  // namespace
}  // namespace reprise::whatif
