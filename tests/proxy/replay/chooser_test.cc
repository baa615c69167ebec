// Which answer each kind of request gets: nothing is sent here.

#include "proxy/replay/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/web_socket.h"
#include "base/bytes.h"
#include "proxy/replay/response/stitched_parts.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using Kind = Answer::Kind;
using Fields = std::vector<HeaderView>;
using std::chrono::seconds;
using testing::HasSubstr;

/// What is recorded with https://a.test, and what a session of it is answered.
class Choosing : public testing::Test {
 protected:
  static Exchange get(const std::string& target, Headers response = {}) {
    return RecordedArchive::exchange("GET", target, std::move(response));
  }
  /// An exchange whose request had the field.
  static Exchange asked_with(Exchange exchange, std::string_view name, std::string_view value) {
    auto const fields = exchange.request.headers.list();
    Fields all(fields.begin(), fields.end());
    all.push_back({.name = name, .value = value});
    exchange.request.headers = Headers(HeaderList(all));
    return exchange;
  }
  void record(Exchange exchange, std::string_view body = {}, std::string_view content = {}) {
    archive_.add(std::move(exchange), body, content);
  }
  /// A preflight of https://page.test for `method`, whose response allows it.
  void record_preflight(std::string_view method) {
    auto exchange = RecordedArchive::exchange(
        "OPTIONS", "/api",
        {{.name = "Access-Control-Allow-Origin", .value = "https://page.test"},
         {.name = "Access-Control-Allow-Methods", .value = method}});
    exchange = asked_with(std::move(exchange), "Origin", "https://page.test");
    record(asked_with(std::move(exchange), "Access-Control-Request-Method", method), method);
  }
  /// A preflight of https://page.test for `method`.
  static Fields preflight(std::string_view method) {
    return {{.name = "Origin", .value = "https://page.test"},
            {.name = "Access-Control-Request-Method", .value = method}};
  }

  /// A session that begins now: no more is recorded.
  Chooser& chooser() {
    if (!session_) session_.emplace(archive_.reader(), rules_, std::move(options_));
    return session_->chooser;
  }
  Sequences& sequences() {
    chooser();
    return session_->sequences;
  }

  static RequestHead head(std::string_view method, std::string_view target,
                          const Fields& fields = {}) {
    return {.method = method,
            .scheme = Scheme::kHttps,
            .host = "a.test",
            .port = 443,
            .target = target,
            .version = HttpVersion::kH2,
            .headers = fields};
  }
  /// The answer to a whole request.
  Answer ask(const RequestHead& head) {
    AskedRequest const asked{.key = key_of(head), .headers = head.headers};
    return chooser().choose(head, asked, sequences());
  }
  Answer ask(std::string_view method, std::string_view target, const Fields& fields = {}) {
    return ask(head(method, target, fields));
  }
  std::optional<Answer> prepared(std::string_view target, const Fields& fields = {}) {
    return chooser().choose_prepared(head("GET", target, fields), connection_, sequences());
  }
  std::optional<Answer> by_head(std::string_view target, const Fields& fields,
                                bool content_follows = true) {
    auto const asked = head("POST", target, fields);
    return chooser().choose_by_head(asked, connection_, content_follows, sequences());
  }
  static std::string_view body(const Answer& answer) {
    return text_of(answer.form.response->parts().body.bytes);
  }

  RecordedArchive archive_;
  MatchRules rules_;
  PreparedExchanges::Options options_;
  AskedConnection connection_;

 private:
  struct Session {
    Session(const ArchiveReader& archive, const MatchRules& rules,
            PreparedExchanges::Options options)
        : matcher(archive, 0, rules),
          tls_plans(archive, matcher.session(), Protocol::kRecorded),
          exchanges(archive, std::move(options), [](const StoredRequest&, const std::string&) {}),
          files(archive, exchanges, rules.failures,
                [](const StoredRequest&, const std::string&) {}),
          sequences(archive, matcher.session()),
          chooser({.archive = archive,
                   .matcher = matcher,
                   .tls_plans = tls_plans,
                   .exchanges = exchanges,
                   .files = files}) {}

    Matcher matcher;
    TlsPlans tls_plans;
    PreparedExchanges exchanges;
    StitchedFiles files;
    Sequences sequences;
    Chooser chooser;
  };
  std::optional<Session> session_;
};

TEST_F(Choosing, TheExactExchangeIsServedAsItWasRecorded) {
  record(get("/a?x=1"), "one");
  record(get("/a?x=2"), "two");
  auto const answer = ask("GET", "/a?x=2");
  EXPECT_EQ(answer.kind, Kind::kStored);
  EXPECT_EQ(answer.decision.kind, MatchKind::kExact);
  EXPECT_EQ(body(answer), "two");
  EXPECT_EQ(answer.form.altered, nullptr);
  EXPECT_TRUE(answer.exchange->schedule().is_at_once());
}

TEST_F(Choosing, ANearExchangeSaysHowNearItIsAndOfWhichScheme) {
  record(get("/a?x=1&y=1"), "one");
  auto const near = ask("GET", "/a?x=1&y=2");
  EXPECT_EQ(near.kind, Kind::kStored);
  EXPECT_EQ(near.decision.kind, MatchKind::kFuzzy);
  EXPECT_LT(near.decision.score, 100U);
  EXPECT_FALSE(near.decision.scheme_substituted);

  auto clear = head("GET", "/a?x=1&y=1");
  clear.scheme = Scheme::kHttp;
  clear.port = 80;
  auto const substituted = ask(clear);
  EXPECT_EQ(substituted.kind, Kind::kStored);
  EXPECT_TRUE(substituted.decision.scheme_substituted);
}

TEST_F(Choosing, RepeatsComeInRecordedOrderUntilTheSessionBeginsAgain) {
  record(get("/"), "first");
  record(get("/"), "second");
  EXPECT_EQ(body(ask("GET", "/")), "first");
  EXPECT_EQ(body(*prepared("/")), "second");
  EXPECT_EQ(body(ask("GET", "/")), "second");
  sequences().reset();
  EXPECT_EQ(body(*prepared("/")), "first");
}

TEST_F(Choosing, RepeatsOfAnOriginAreASequence) {
  constexpr std::string_view kB = "https://b.test";
  constexpr std::string_view kC = "https://c.test";
  record(get("/"), "first");
  record(asked_with(get("/"), "Origin", kB), "first of b");
  record(asked_with(get("/"), "Origin", kC), "of c");
  record(asked_with(get("/"), "Origin", kB), "second of b");
  auto const by = [this](std::string_view origin) {
    return body(ask("GET", "/", {{.name = "Origin", .value = origin}}));
  };
  EXPECT_EQ(by(kB), "first of b");
  EXPECT_EQ(body(ask("GET", "/")), "first");
  EXPECT_EQ(body(*prepared("/", {{.name = "Origin", .value = kB}})), "second of b");
  EXPECT_EQ(by(kC), "of c");
  EXPECT_EQ(by(kB), "second of b");
  EXPECT_EQ(body(*prepared("/")), "first");
  // Another one gets all of them in order, and takes none from the others.
  sequences().reset();
  EXPECT_EQ(by("https://d.test"), "first");
  EXPECT_EQ(by("https://d.test"), "first of b");
  EXPECT_EQ(body(ask("GET", "/")), "first");
  EXPECT_EQ(by(kB), "first of b");
}

TEST_F(Choosing, APreflightGetsThatOfItsMethod) {
  record_preflight("PUT");
  record_preflight("DELETE");
  EXPECT_EQ(body(ask("OPTIONS", "/api", preflight("DELETE"))), "DELETE");
  EXPECT_EQ(body(ask("OPTIONS", "/api", preflight("PUT"))), "PUT");
}

TEST_F(Choosing, APreflightThatNoRecordedOneAllowsIsMadeUp) {
  record_preflight("PUT");
  record(RecordedArchive::exchange("PATCH", "/api",
                                   {{.name = "Access-Control-Allow-Origin", .value = "*"}}));
  auto const fields = preflight("PATCH");
  auto const asked = head("OPTIONS", "/api", fields);
  EXPECT_FALSE(chooser().choose_prepared(asked, connection_, sequences()));
  EXPECT_EQ(ask(asked).kind, Kind::kMadeUp);
  EXPECT_EQ(ask("OPTIONS", "/api", preflight("DELETE")).miss.reason,
            "a preflight, and the DELETE that it precedes is not recorded");
  EXPECT_EQ(body(ask("OPTIONS", "/api", preflight("POST"))), "PUT");  // needs no permission
}

TEST_F(Choosing, WhatIsNotDueAtOnceIsNotTakenBeforeItIsChosen) {
  options_.timing.think = {.kind = ThinkTime::Kind::kFixed, .fixed = seconds(5)};
  record(get("/"), "first");
  record(get("/"), "second");
  EXPECT_FALSE(prepared("/"));
  EXPECT_FALSE(prepared("/"));
  auto const answer = ask("GET", "/");
  EXPECT_EQ(body(answer), "first");
  EXPECT_EQ(answer.exchange->schedule().head, seconds(5));
  EXPECT_EQ(body(ask("GET", "/")), "second");
}

TEST_F(Choosing, OnlyWholeExactAnswersLiePrepared) {
  record(get("/a", {{.name = "ETag", .value = "\"x\""}}), "text");
  auto part = get("/part", {{.name = "Content-Range", .value = "bytes 0-3/9"}});
  part.response.status = 206;
  record(std::move(part), "text");
  EXPECT_FALSE(prepared("/a", {{.name = "If-None-Match", .value = "\"x\""}}));
  EXPECT_FALSE(prepared("/a", {{.name = "Range", .value = "bytes=0-1"}}));
  EXPECT_FALSE(prepared("/a", {{.name = "Available-Dictionary", .value = ":eA==:"}}));
  EXPECT_FALSE(prepared("/part"));
  EXPECT_FALSE(prepared("/a?x"));
  auto const answer = prepared("/a");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::kStored);
  EXPECT_EQ(answer->decision.kind, MatchKind::kExact);
}

TEST_F(Choosing, ADocumentHasTheScriptInIt) {
  options_.script = *inject::InjectedScript::create({.document = {"ours()"}, .worker = ""});
  record(get("/", {{.name = "Content-Type", .value = "text/html"}}), "<!doctype html><p>text");
  auto const answer = ask("GET", "/", {{.name = "Sec-Fetch-Dest", .value = "document"}});
  EXPECT_EQ(body(answer), "<!doctype html><script>ours()</script><p>text");
  ASSERT_NE(answer.form.altered, nullptr);
  ASSERT_NE(answer.form.altered->count, nullptr);
  EXPECT_EQ(answer.form.altered->count->served, 0U);  // who chooses does not count
  EXPECT_FALSE(answer.form.plain);
  EXPECT_EQ(ask("GET", "/", {{.name = "Sec-Fetch-Dest", .value = "empty"}}).form.altered, nullptr);
}

TEST_F(Choosing, ACodingIsTakenOffForClientsThatDoNotTakeIt) {
  constexpr std::string_view kStoredDeflate(
      "\x78\x01\x01\x04\x00\xfb\xff"
      "text\x04\x67\x01\xc6",
      15);
  record(get("/", {{.name = "Content-Encoding", .value = "deflate"}}), kStoredDeflate);
  auto const coded = ask("GET", "/", {{.name = "Accept-Encoding", .value = "deflate"}});
  EXPECT_EQ(body(coded), kStoredDeflate);
  auto const plain = ask("GET", "/", {{.name = "Accept-Encoding", .value = "br"}});
  EXPECT_EQ(body(plain), "text");
  EXPECT_TRUE(plain.form.plain);
}

TEST_F(Choosing, HeadIsAnsweredByItsOwnExchangeOrTheHeadOfGet) {
  record(get("/a"), "text");
  record(get("/b"), "text");
  record(RecordedArchive::exchange("HEAD", "/b"));
  EXPECT_EQ(ask("HEAD", "/a").kind, Kind::kHead);
  auto const own = ask("HEAD", "/b");
  EXPECT_EQ(own.kind, Kind::kStored);
  EXPECT_EQ(own.exchange->exchange().request.method, "HEAD");
}

TEST_F(Choosing, HeadLeavesTheGetItsPlaceInTheSequence) {
  record(get("/"), "first");
  record(get("/"), "second");
  record(get("/f?_=1700000000123"), "first");
  record(get("/f?_=1700000000124"), "second");
  EXPECT_EQ(ask("HEAD", "/").kind, Kind::kHead);
  EXPECT_EQ(body(ask("GET", "/")), "first");
  EXPECT_EQ(body(ask("HEAD", "/")), "second");
  EXPECT_EQ(body(ask("GET", "/")), "second");
  EXPECT_EQ(ask("HEAD", "/f?_=1800000000000").decision.kind, MatchKind::kFuzzy);
  EXPECT_EQ(body(ask("GET", "/f?_=1800000000001")), "first");
  EXPECT_EQ(body(ask("GET", "/f?_=1800000000002")), "second");
}

TEST_F(Choosing, HeadIsMatchedLikeTheGet) {
  record(get("/site"), "text");
  record(get("/f?_=1700000000123"), "text");
  record(get("/g?x=2"), "text");
  record(RecordedArchive::exchange("HEAD", "/g?x=1"));

  auto clear = head("HEAD", "/site");
  clear.scheme = Scheme::kHttp;
  clear.port = 80;
  auto const substituted = ask(clear);
  EXPECT_EQ(substituted.kind, Kind::kHead);
  EXPECT_TRUE(substituted.decision.scheme_substituted);

  auto const near = ask("HEAD", "/f?_=1700000999456");
  EXPECT_EQ(near.kind, Kind::kHead);
  EXPECT_EQ(near.decision.kind, MatchKind::kFuzzy);
  EXPECT_EQ(near.decision.score, 95U);

  auto const exact = ask("HEAD", "/g?x=2");  // before the similar HEAD
  EXPECT_EQ(exact.kind, Kind::kHead);
  EXPECT_EQ(exact.decision.kind, MatchKind::kExact);
  auto const similar = ask("HEAD", "/g?x=3");  // before a similar GET
  EXPECT_EQ(similar.kind, Kind::kStored);
  EXPECT_EQ(similar.decision.kind, MatchKind::kFuzzy);
}

TEST_F(Choosing, HeadPrefersASimilarHeadToAGetWithoutAHead) {
  record(RecordedArchive::exchange("HEAD", "/v?cb=1"));
  auto failed = get("/v?cb=2");
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  record(std::move(failed));
  auto const answer = ask("HEAD", "/v?cb=2");
  EXPECT_EQ(answer.kind, Kind::kStored);
  EXPECT_EQ(answer.decision.kind, MatchKind::kFuzzy);
}

TEST_F(Choosing, ConditionsAndRangesSelect) {
  record(get("/", {{.name = "ETag", .value = "\"x\""}}), "0123456789");
  auto const selected = [this](std::string_view name, std::string_view value,
                               std::string_view method = "GET") {
    auto const answer = ask(method, "/", {{.name = name, .value = value}});
    EXPECT_EQ(answer.kind, Kind::kSelected) << name;
    return answer.selected;
  };
  EXPECT_EQ(selected("If-None-Match", "\"x\"").kind, Selected::Kind::kNotModified);
  EXPECT_EQ(selected("If-None-Match", "\"y\"").kind, Selected::Kind::kAll);
  EXPECT_EQ(selected("If-Match", "\"y\"").kind, Selected::Kind::kPreconditionFailed);
  EXPECT_EQ(selected("Range", "bytes=20-").kind, Selected::Kind::kUnsatisfiable);
  auto const parts = selected("Range", "bytes=0-1,-3");
  EXPECT_EQ(parts.kind, Selected::Kind::kParts);
  EXPECT_EQ(parts.ranges, (std::vector<ByteRange>{{0, 2}, {7, 10}}));
  EXPECT_FALSE(parts.head_only);
  EXPECT_TRUE(selected("If-None-Match", "\"y\"", "HEAD").head_only);
}

TEST_F(Choosing, ConditionsAreHeldAgainstRecordedDates) {
  options_.date_shift = seconds(86'400);
  record(get("/", {{.name = "Last-Modified", .value = "Wed, 01 Jan 2020 00:00:00 GMT"}}), "text");
  auto const served = "Thu, 02 Jan 2020 00:00:00 GMT";
  EXPECT_EQ(find_header(ask("GET", "/").form.response->parts().head.headers, "Last-Modified"),
            served);
  auto const again = ask("GET", "/", {{.name = "If-Modified-Since", .value = served}});
  EXPECT_EQ(again.selected.kind, Selected::Kind::kNotModified);
}

TEST_F(Choosing, AWholeAnswerToTheSameConditionsIsServedAsRecorded) {
  constexpr std::string_view kDate = "Wed, 01 Jan 2020 00:00:00 GMT";
  constexpr std::string_view kMoved = "Thu, 02 Jan 2020 00:00:00 GMT";
  options_.date_shift = seconds(86'400);
  Headers const validators{{.name = "ETag", .value = "\"x\""},
                           {.name = "Last-Modified", .value = kDate}};
  record(asked_with(get("/part", validators), "Range", "bytes=0-1"), "0123");
  record(asked_with(get("/tag", validators), "If-None-Match", "\"x\""), "0123");
  record(asked_with(get("/date", validators), "If-Modified-Since", kDate), "0123");
  record(get("/none", {{.name = "Accept-Ranges", .value = "none"}}), "0123");
  EXPECT_EQ(ask("GET", "/part", {{.name = "Range", .value = "bytes=0-1"}}).kind, Kind::kStored);
  EXPECT_EQ(ask("HEAD", "/part", {{.name = "Range", .value = "bytes=0-1"}}).kind, Kind::kHead);
  EXPECT_EQ(ask("GET", "/part", {{.name = "Range", .value = "bytes=1-2"}}).selected.kind,
            Selected::Kind::kParts);
  EXPECT_EQ(ask("GET", "/tag", {{.name = "If-None-Match", .value = "\"x\""}}).kind, Kind::kStored);
  EXPECT_EQ(ask("GET", "/date", {{.name = "If-Modified-Since", .value = kMoved}}).kind,
            Kind::kStored);
  EXPECT_EQ(ask("GET", "/date", {{.name = "If-None-Match", .value = "\"x\""}}).selected.kind,
            Selected::Kind::kNotModified);
  EXPECT_EQ(ask("GET", "/none", {{.name = "Range", .value = "bytes=0-1"}}).selected.kind,
            Selected::Kind::kAll);
}

TEST_F(Choosing, ACopyFromAnotherReplayIsNotWhatHasAnotherScript) {
  Fields const page{{.name = "Sec-Fetch-Dest", .value = "document"},
                    {.name = "If-None-Match", .value = "\"x\""}};
  Fields const data{{.name = "Sec-Fetch-Dest", .value = "empty"},
                    {.name = "If-None-Match", .value = "\"x\""}};
  options_.script = *inject::InjectedScript::create({.document = {"ours()"}, .worker = ""});
  options_.changed_bodies = {2};
  record(get("/",
             {{.name = "Content-Type", .value = "text/html"}, {.name = "ETag", .value = "\"x\""}}),
         "<!doctype html><p>text");
  record(get("/changed", {{.name = "ETag", .value = "\"x\""}}), "changed");
  record(get("/same", {{.name = "ETag", .value = "\"x\""}}), "same");
  auto const selected = [this](std::string_view target, const Fields& fields) {
    return ask("GET", target, fields).selected.kind;
  };
  EXPECT_EQ(selected("/", data), Selected::Kind::kNotModified);  // a fetch gets no script
  EXPECT_EQ(selected("/", page), Selected::Kind::kAll);
  EXPECT_EQ(selected("/", page), Selected::Kind::kNotModified);
  sequences().reset();
  EXPECT_EQ(selected("/", page), Selected::Kind::kNotModified);
  EXPECT_EQ(selected("/changed", {{.name = "Range", .value = "bytes=1-2"},
                                  {.name = "If-Range", .value = "\"x\""}}),
            Selected::Kind::kAll);
  EXPECT_EQ(selected("/changed", data), Selected::Kind::kNotModified);
  EXPECT_EQ(selected("/same", data), Selected::Kind::kNotModified);
}

TEST_F(Choosing, ACopyOfAnEqualRepeatIsTaken) {
  options_.changed_bodies = {1, 2};
  for (int i = 0; i < 2; ++i) record(get("/", {{.name = "ETag", .value = "\"x\""}}), "changed");
  EXPECT_EQ(ask("GET", "/").kind, Kind::kStored);
  EXPECT_EQ(ask("GET", "/", {{.name = "If-None-Match", .value = "\"x\""}}).selected.kind,
            Selected::Kind::kNotModified);
}

TEST_F(Choosing, ACopyOfWhatWasServedPreparedIsTaken) {
  options_.changed_bodies = {1};
  record(get("/", {{.name = "ETag", .value = "\"x\""}}), "changed");
  ASSERT_TRUE(prepared("/"));
  EXPECT_EQ(ask("GET", "/", {{.name = "If-None-Match", .value = "\"x\""}}).selected.kind,
            Selected::Kind::kNotModified);
}

TEST_F(Choosing, APartKeepsItsCoding) {
  constexpr std::string_view kCoded("\x78\x01\x01\x01\x00\xfe\xffx\x00\x79\x00\x79", 12);
  auto part = get("/", {{.name = "Content-Encoding", .value = "deflate"},
                        {.name = "Content-Range", .value = "bytes 0-11/12"}});
  part.response.status = 206;
  record(asked_with(std::move(part), "Range", "bytes=0-"), kCoded);
  auto const answer = ask(
      "GET", "/",
      {{.name = "Range", .value = "bytes=0-"}, {.name = "Accept-Encoding", .value = "identity"}});
  EXPECT_EQ(answer.kind, Kind::kStored);
  EXPECT_EQ(body(answer), kCoded);
  EXPECT_FALSE(answer.form.plain);
}

TEST_F(Choosing, OnlyA200ToGetIsSelectedFrom) {
  auto missing = get("/none", {{.name = "ETag", .value = "\"x\""}});
  missing.response.status = 404;
  record(std::move(missing), "none");
  EXPECT_EQ(ask("GET", "/none", {{.name = "If-None-Match", .value = "\"x\""}}).kind, Kind::kStored);
}

TEST_F(Choosing, ADictionaryCodedAnswerIsForClientsThatHaveTheDictionary) {
  record(get("/"), "plain");
  auto coded = get("/", {{.name = "Content-Encoding", .value = "dcb"}});
  coded.request.headers = Headers{{.name = "Available-Dictionary", .value = ":eA==:"}};
  record(coded, "coded");
  coded.request.target = "/coded";
  record(coded, "coded");
  EXPECT_EQ(body(ask("GET", "/")), "plain");
  EXPECT_EQ(body(ask("GET", "/")), "plain");  // the coded one is next
  sequences().reset();
  // Though the plain one is next.
  EXPECT_EQ(body(ask("GET", "/", {{.name = "Available-Dictionary", .value = ":eA==:"}})), "coded");
  EXPECT_EQ(body(ask("GET", "/", {{.name = "Available-Dictionary", .value = ":eQ==:"}})), "plain");
  auto const none = ask("GET", "/coded");
  EXPECT_EQ(none.kind, Kind::kMiss);
  EXPECT_EQ(none.miss.reason, "coded with a dictionary that the client does not have");
}

TEST_F(Choosing, RepeatsWithADictionaryComeInRecordedOrder) {
  Fields const has{{.name = "Available-Dictionary", .value = ":eA==:"}};
  auto const coded = asked_with(get("/", {{.name = "Content-Encoding", .value = "dcb"}}),
                                "Available-Dictionary", ":eA==:");
  for (std::string_view const text : {"first", "second", "third"}) record(coded, text);
  for (std::string_view const text : {"first", "second", "third", "third"}) {
    EXPECT_EQ(body(ask("GET", "/", has)), text);
  }
}

TEST_F(Choosing, WithoutACopyNotModifiedIsTheAnswerBefore) {
  auto unchanged = asked_with(get("/"), "If-None-Match", "\"x\"");
  unchanged.response.status = 304;
  record(get("/"), "first");
  record(get("/"), "second");
  record(unchanged);
  record(get("/"), "third");
  for (std::string_view const text : {"first", "second", "second", "third"}) {
    EXPECT_EQ(body(ask("GET", "/")), text);
  }
}

TEST_F(Choosing, NotModifiedIsForClientsThatHaveACopy) {
  auto unchanged = get("/");
  unchanged.request.headers = Headers{{.name = "If-None-Match", .value = "\"x\""}};
  unchanged.response.status = 304;
  record(unchanged);
  unchanged.request.target = "/never-whole";
  record(unchanged);
  record(get("/"), "whole");
  EXPECT_EQ(ask("GET", "/", {{.name = "If-None-Match", .value = "\"x\""}})
                .exchange->response()
                ->parts()
                .head.status,
            304);
  sequences().reset();
  EXPECT_EQ(body(ask("GET", "/")), "whole");
  auto const none = ask("GET", "/never-whole");
  EXPECT_EQ(none.kind, Kind::kMiss);
  EXPECT_EQ(none.miss.reason, "recorded as not modified, and the client has no copy");
}

TEST_F(Choosing, RecordedPartsAreStitched) {
  auto part = get("/", {{.name = "ETag", .value = "\"x\""},
                        {.name = "Content-Range", .value = "bytes 0-4/10"}});
  part.response.status = 206;
  part.request.headers = Headers{{.name = "Range", .value = "bytes=0-4"}};
  record(part, "01234");
  part.request.headers = Headers{{.name = "Range", .value = "bytes=5-7"}};
  part.response.headers = Headers{{.name = "ETag", .value = "\"x\""},
                                  {.name = "Content-Range", .value = "bytes 5-7/10"}};
  record(part, "567");

  auto const same = ask("GET", "/", {{.name = "Range", .value = "bytes=0-4"}});
  EXPECT_EQ(same.kind, Kind::kStored);
  EXPECT_EQ(body(same), "01234");
  auto const other = ask("GET", "/", {{.name = "Range", .value = "bytes=3-6"}});
  ASSERT_EQ(other.kind, Kind::kStitched);
  EXPECT_EQ(other.selected.kind, Selected::Kind::kParts);
  EXPECT_EQ(other.selected.ranges, (std::vector<ByteRange>{{3, 7}}));
  EXPECT_EQ(other.whole().size_bytes, 10U);
  EXPECT_EQ(other.parts->parts(), 2U);
  auto const gap = ask("GET", "/");
  EXPECT_EQ(gap.kind, Kind::kMiss);
  EXPECT_EQ(gap.miss.reason, "recorded in parts that do not have it: bytes 0-7 of 10");
}

TEST_F(Choosing, PartsAreStitchedWhateverOfThemIsChosen) {
  auto unsatisfiable = asked_with(get("/late"), "Range", "bytes=500-");
  unsatisfiable.response.status = 416;
  record(std::move(unsatisfiable));
  auto empty = asked_with(get("/cut", {{.name = "Content-Range", .value = "bytes 0-9/10"}}),
                          "Range", "bytes=0-");
  empty.response.status = 206;
  empty.outcome = Outcome::kCutByClient;
  record(std::move(empty));
  for (const char* const target : {"/late", "/cut"}) {
    for (auto const& [begin, bytes] : {std::pair("0-4", "01234"), std::pair("5-9", "56789")}) {
      auto const place = std::string("bytes ") + begin + "/10";
      auto part = get(
          target, {{.name = "ETag", .value = "\"x\""}, {.name = "Content-Range", .value = place}});
      part.response.status = 206;
      record(asked_with(std::move(part), "Range", std::string("bytes=") + begin), bytes);
    }
  }
  auto const late = ask("GET", "/late");
  ASSERT_EQ(late.kind, Kind::kStitched);
  EXPECT_EQ(late.whole().size_bytes, 10U);
  EXPECT_EQ(late.exchange->exchange().response.status, 206);
  EXPECT_EQ(ask("GET", "/late", {{.name = "Range", .value = "bytes=3-6"}}).kind, Kind::kStitched);
  EXPECT_EQ(ask("GET", "/cut", {{.name = "Range", .value = "bytes=0-"}}).kind, Kind::kStitched);
}

TEST_F(Choosing, ARedirectOrAnErrorForAnotherRangeDoesNotReplaceParts) {
  Fields const first{{.name = "Range", .value = "bytes=0-4"}};
  for (auto const status : {302, 503}) {
    auto earlier = get("/");
    earlier.response.status = static_cast<std::uint16_t>(status);
    earlier.request.headers = Headers(HeaderList(first));
    record(std::move(earlier));
  }
  auto part = get("/", {{.name = "ETag", .value = "\"x\""},
                        {.name = "Content-Range", .value = "bytes 0-4/10"}});
  part.response.status = 206;
  part.request.headers = Headers(HeaderList(first));
  record(std::move(part), "01234");

  for (auto const status : {302, 503, 206}) {
    EXPECT_EQ(ask("GET", "/", first).form.response->parts().head.status, status);
  }
  auto const other = ask("GET", "/", {{.name = "Range", .value = "bytes=2-3"}});
  ASSERT_EQ(other.kind, Kind::kStitched);
  EXPECT_EQ(other.selected.ranges, (std::vector<ByteRange>{{2, 4}}));
  auto const gap = ask("GET", "/", {{.name = "Range", .value = "bytes=5-"}});
  ASSERT_EQ(gap.kind, Kind::kMiss);
  EXPECT_EQ(gap.miss.reason, "recorded in parts that do not have it: bytes 0-4 of 10");
}

TEST_F(Choosing, WhatDidNotEndWellIsGivenAsFarAsItWent) {
  auto cut = get("/cut", {{.name = "Content-Length", .value = "10"}});
  cut.outcome = Outcome::kCutByOrigin;
  record(std::move(cut), "01234");
  auto failed = get("/failed");
  failed.outcome = Outcome::kOriginFailed;
  failed.response.status = 0;
  record(std::move(failed));
  auto const begun = ask("GET", "/cut");
  EXPECT_EQ(begun.kind, Kind::kBroken);
  EXPECT_EQ(body(begun), "01234");
  EXPECT_EQ(ask("HEAD", "/cut").kind, Kind::kBrokenHead);
  auto const nothing = ask("GET", "/failed");
  EXPECT_EQ(nothing.kind, Kind::kBroken);
  EXPECT_EQ(nothing.form.response, nullptr);
  EXPECT_EQ(ask("HEAD", "/failed").kind, Kind::kBroken);
}

TEST_F(Choosing, WhatTheClientCutIsWholeByAnotherRequestOrItsParts) {
  auto cut = get("/parts",
                 {{.name = "ETag", .value = "\"x\""}, {.name = "Content-Length", .value = "10"}});
  cut.outcome = Outcome::kCutByClient;
  record(cut, "01234");
  auto rest = get("/parts", {{.name = "ETag", .value = "\"x\""},
                             {.name = "Content-Range", .value = "bytes 5-9/10"}});
  rest.response.status = 206;
  rest.request.headers = Headers{{.name = "Range", .value = "bytes=5-9"}};
  record(std::move(rest), "56789");
  cut.request.target = "/alone";
  record(cut, "01234");
  EXPECT_EQ(ask("GET", "/parts").kind, Kind::kStitched);
  EXPECT_EQ(ask("GET", "/alone").kind, Kind::kBroken);
}

TEST_F(Choosing, UnderMissWhatDidNotEndWellIsNoAnswer) {
  rules_.failures = false;
  auto cut = get("/cut");
  cut.outcome = Outcome::kCutByOrigin;
  record(std::move(cut));
  EXPECT_EQ(ask("GET", "/cut").kind, Kind::kMiss);
}

TEST_F(Choosing, AWebSocketIsOpenedAgain) {
  auto socket = RecordedArchive::exchange("CONNECT", "/socket");
  socket.request.protocol = std::string(kWebSocketProtocol);
  socket.response.status = 101;
  record(std::move(socket));
  auto asked = head("GET", "/socket");
  asked.protocol = kWebSocketProtocol;
  auto const answer = ask(asked);
  EXPECT_EQ(answer.kind, Kind::kWebSocket);
  EXPECT_EQ(answer.form.response->parts().head.status, 101);
}

TEST_F(Choosing, AnUploadIsAnsweredBeforeItIsHereWhereTheOriginDidSo) {
  auto refused = RecordedArchive::exchange("POST", "/upload");
  refused.request.body_partial = true;
  refused.response.status = 413;
  record(refused);
  record(RecordedArchive::exchange("POST", "/whole"), "thanks", "content");
  auto streamed = RecordedArchive::exchange("POST", "/stream");
  streamed.timings.first_byte = seconds(1);
  streamed.timings.request_sent = seconds(2);
  record(std::move(streamed), "thanks", "content");
  Fields const large{{.name = "Content-Length", .value = "2000000"}};
  Fields const small{{.name = "Content-Length", .value = "10"}};
  auto const early = by_head("/upload", large);
  ASSERT_TRUE(early);
  EXPECT_EQ(early->kind, Kind::kStored);
  EXPECT_EQ(early->form.response->parts().head.status, 413);
  EXPECT_TRUE(by_head("/upload", {}));  // of no known length
  EXPECT_TRUE(by_head("/upload", {{.name = "Content-Length", .value = "10"},
                                  {.name = "Expect", .value = "100-continue"}}));
  EXPECT_FALSE(by_head("/upload", small));  // it is here soon
  EXPECT_TRUE(by_head("/stream", large));
  // That origin had asked for the content.
  EXPECT_FALSE(by_head("/stream", {{.name = "Expect", .value = "100-continue"}}));
  EXPECT_FALSE(by_head("/whole", large));
  EXPECT_FALSE(by_head("/upload", {}, false));
}

TEST_F(Choosing, APreflightIsAllowedWhatItsRequestWasAllowed) {
  record(RecordedArchive::exchange("PUT", "/item",
                                   {{.name = "Access-Control-Allow-Origin", .value = "*"}}));
  record(RecordedArchive::exchange("PUT", "/own"));
  Fields const asked{{.name = "Origin", .value = "https://page.test"},
                     {.name = "Access-Control-Request-Method", .value = "PUT"}};
  auto const allowed = ask("OPTIONS", "/item", asked);
  ASSERT_EQ(allowed.kind, Kind::kMadeUp);
  EXPECT_EQ(allowed.made_up.special, Special::kPreflight);
  EXPECT_EQ(allowed.made_up.status, 204);
  EXPECT_EQ(allowed.exchange, nullptr);
  auto const refused = ask("OPTIONS", "/own", asked);
  EXPECT_EQ(refused.kind, Kind::kMiss);
  EXPECT_EQ(refused.miss.reason, "a preflight, and the recorded PUT allows no other origin");
}

TEST_F(Choosing, TheBrowsersOwnRequestIsNoMiss) {
  record(get("/"));
  auto const answer = ask("GET", "/favicon.ico");
  ASSERT_EQ(answer.kind, Kind::kMadeUp);
  EXPECT_EQ(answer.made_up.special, Special::kBrowser);
  EXPECT_EQ(answer.made_up.status, 404);
}

TEST_F(Choosing, AMissNamesWhatIsNear) {
  record(get("/a?item=1"));
  auto const answer = ask("POST", "/a?item=1");
  ASSERT_EQ(answer.kind, Kind::kMiss);
  EXPECT_EQ(answer.decision.kind, MatchKind::kMiss);
  EXPECT_EQ(answer.miss.method, "POST");
  EXPECT_EQ(answer.miss.url, "https://a.test/a?item=1");
  ASSERT_EQ(answer.miss.nearest.size(), 1U);
  EXPECT_EQ(answer.miss.nearest[0].url, "https://a.test/a?item=1");
  auto other = head("GET", "/");
  other.host = "b.test";
  EXPECT_EQ(ask(other).miss.reason, "host never recorded");
}

TEST_F(Choosing, WhatIsDamagedIsSaidSoInItsTurn) {
  record(get("/"), "first body");
  record(get("/"), "second body");
  archive_.damage("first body");
  EXPECT_FALSE(prepared("/"));
  auto const answer = ask("GET", "/");
  EXPECT_EQ(answer.kind, Kind::kDamaged);
  EXPECT_THAT(answer.miss.reason, HasSubstr("damaged in the archive: the body's record at byte"));
  EXPECT_EQ(body(*prepared("/")), "second body");
}

TEST_F(Choosing, ARequestForAnotherHostsConnectionIsSentAway) {
  for (const char* const host : {"a.test", "b.test", "c.test"}) {
    ConnectionFacts facts;
    facts.id = 1;
    facts.scheme = Scheme::kHttps;
    facts.host = host;
    facts.port = 443;
    facts.alpn = "h2";
    facts.tls_version = "TLSv1.3";
    archive_.add(std::move(facts));
  }
  for (const char* const host : {"a.test", "b.test", "c.test"}) {
    auto exchange = get("/");
    exchange.request.host = host;
    record(std::move(exchange));
  }
  connection_ = AskedConnection("a.test", {.names = {"a.test", "b.test"}});
  auto const of = [this](std::string_view host) {
    auto asked = head("GET", "/");
    asked.host = host;
    auto const early = chooser().choose_by_head(asked, connection_, false, sequences());
    auto const stored = chooser().choose_prepared(asked, connection_, sequences());
    EXPECT_NE(early.has_value(), stored.has_value()) << host;
    return early;
  };
  EXPECT_FALSE(of("a.test"));
  EXPECT_FALSE(of("b.test"));
  auto const away = of("c.test");
  ASSERT_TRUE(away);
  EXPECT_EQ(away->kind, Kind::kMisdirected);
  EXPECT_EQ(away->connection_host, "a.test");
}

}  // namespace
}  // namespace reprise
