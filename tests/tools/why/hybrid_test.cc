#include <gtest/gtest.h>

#include "archive/think_time.h"
#include "tests/tools/why/made_hybrid.h"

namespace reprise {
namespace {

using whatif::a_get;
using whatif::asked_with;
using whatif::buffer_of;
using whatif::coded;
using whatif::field_of;
using whatif::with;

TEST_F(Hybrid, WithoutDifferencesIsAWithWhatOnlyBHas) {
  a_.add(a_get(kPage, "text/html"), a_document("", "one"));
  b_.add(a_get(kPage, "text/html"),
         a_document("<script src=https://new.test/new.js></script>\n", "two"));
  b_.add(a_get("https://new.test/new.js", "text/javascript", kPage), "go()");
  auto const made = hybrid({});
  EXPECT_EQ(made.bodies.at(kPage), a_document("", "one"));
  EXPECT_EQ(made.bodies.at("https://new.test/new.js"), "go()");
  // The new host shares the address, as it does in B.
  EXPECT_EQ(made.connections.at("new.test").address, "192.0.2.1:443");
}

TEST_F(Hybrid, ClosesConnectionsWhereBDoes) {
  auto const url = "https://a.test/app.js";
  a_.add(with(a_get(url, "text/javascript"), "Keep-Alive", "timeout=5"), "go()");
  b_.add(with(a_get(url, "text/javascript"), "Connection", "close"), "go()");
  auto const made = hybrid({{DifferenceKind::kConnection, url}});
  EXPECT_EQ(field_of(made.exchanges.at(url).response, "connection"), "close");
  EXPECT_EQ(field_of(made.exchanges.at(url).response, "keep-alive"), "-");
  EXPECT_EQ(field_of(hybrid({}).exchanges.at(url).response, "connection"), "-");
}

TEST_F(Hybrid, OfADocumentHasTheEditsThatArePutIn) {
  auto const script = std::string("<script src=/new.js></script>\n");
  a_.add(a_get(kPage, "text/html"), a_document("", "one"));
  b_.add(a_get(kPage, "text/html"), a_document(script, "two"));
  b_.add(a_get("https://a.test/new.js", "text/javascript", kPage), "go()");
  EXPECT_EQ(hybrid({{DifferenceKind::kCame, "https://a.test/new.js"}}).bodies.at(kPage),
            a_document(script, "one"));
  EXPECT_EQ(all().bodies.at(kPage), a_document(script, "two"));
}

TEST_F(Hybrid, OfACodedDocumentIsCodedAndMeasured) {
  auto const gzip = [](std::string_view text) { return coded(text, {coding::Coding::kGzip}); };
  auto const exchange = with(a_get(kPage, "text/html"), "Content-Encoding", "gzip");
  auto const one = gzip(a_document("", "one"));
  a_.add(with(exchange, "Content-Length", std::to_string(one.size())), one);
  b_.add(exchange, gzip(a_document("", "quite another text")));
  auto const made = hybrid({{DifferenceKind::kContent, kPage}});
  auto const& body = made.bodies.at(kPage);
  std::vector codings{coding::Coding::kGzip};
  auto const plain = coding::decode_whole(codings, bytes_of(body), {}).value();
  EXPECT_EQ(text_of(plain), a_document("", "quite another text"));
  EXPECT_EQ(field_of(made.exchanges.at(kPage).response, "content-length"),
            std::to_string(body.size()));
}

TEST_F(Hybrid, TakesABodyWithTheFieldsThatDescribeItAndNoOthers) {
  auto const url = std::string("https://a.test/x.png");
  a_.add(with(with(a_get(url, "image/png"), "ETag", "one"), "Cache-Control", "max-age=1"), "a");
  b_.add(with(with(a_get(url, "image/png"), "ETag", "two"), "Cache-Control", "no-store"), "bb");
  auto const body = hybrid({{DifferenceKind::kContent, url}});
  EXPECT_EQ(body.bodies.at(url), "bb");
  EXPECT_EQ(field_of(body.exchanges.at(url).response, "etag"), "two");
  EXPECT_EQ(field_of(body.exchanges.at(url).response, "cache-control"), "max-age=1");
  auto const caching = hybrid({{DifferenceKind::kCaching, url}});
  EXPECT_EQ(caching.bodies.at(url), "a");
  EXPECT_EQ(field_of(caching.exchanges.at(url).response, "etag"), "one");
  EXPECT_EQ(field_of(caching.exchanges.at(url).response, "cache-control"), "no-store");
}

TEST_F(Hybrid, HasTheThinkTimesOfAHost) {
  auto const url = std::string("https://a.test/x.png");
  a_.add(timed(a_get(url, "image/png"), 20), "a");
  b_.add(timed(a_get(url, "image/png"), 400), "bb");
  auto const think = hybrid({{DifferenceKind::kThinkTime, "a.test"}});
  EXPECT_EQ(think.think_ms.at(url), 400);
  EXPECT_EQ(think.bodies.at(url), "a");
  auto const body = hybrid({{DifferenceKind::kContent, url}});
  EXPECT_EQ(body.think_ms.at(url), 20);
  EXPECT_EQ(body.bodies.at(url), "bb");
}

TEST_F(Hybrid, KeepsTheThinkTimeOfARequestOfALaterSession) {
  auto const url = std::string("https://a.test/more.png");
  a_.add(a_get(kPage, "text/html"), "a");
  b_.begin_session({kPage});  // the first one has no exchanges
  session_of_b_ = 2;
  b_.add(connection(1, "a.test", "198.51.100.1:443", 3000));
  b_.add(a_get(kPage, "text/html"), "a");
  b_.add(timed(a_get(url, "image/png"), 400), "more");
  EXPECT_EQ(hybrid({}).think_ms.at(url), 400);
}

TEST_F(Hybrid, ReachesAHostThatOnlyBReached) {
  using std::chrono::milliseconds;
  auto const url = std::string("https://cdn.test/x.js");
  auto const more = std::string("https://cdn.test/more.js");
  a_.add(ConnectionFacts{
      .id = 3, .scheme = Scheme::kHttps, .host = "cdn.test", .port = 443, .failure = "not found"});
  a_.add(DnsAnswer{.host = "cdn.test",
                   .type = 1,
                   .failure = "not found",
                   .asked = milliseconds(1),
                   .answered = milliseconds(5001)});
  auto failed = a_get(url, "");
  failed.response = StoredReply();
  failed.outcome = Outcome::kOriginFailed;
  failed.failure = "not found";
  failed.origin_connection_id = 3;
  failed.timings.first_byte = kNoTime;
  a_.add(failed);
  b_.add(connection(4, "cdn.test", "198.51.100.7:443", 2000));
  b_.add(DnsAnswer{.host = "cdn.test",
                   .type = 1,
                   .addresses = {"198.51.100.7"},
                   .asked = milliseconds(1),
                   .answered = milliseconds(31)});
  for (auto const& each : {url, more}) {
    auto exchange = timed(a_get(each, "text/javascript"), 50);
    exchange.origin_connection_id = 4;
    b_.add(exchange, each);
  }
  auto const made = hybrid({{DifferenceKind::kStatus, url}});
  EXPECT_EQ(made.addresses.at("cdn.test"), std::vector<std::string>{"198.51.100.7:443"});
  EXPECT_EQ(made.lookups.at("cdn.test").a, milliseconds(30));
  for (auto const& each : {url, more}) {
    EXPECT_EQ(made.bodies.at(each), each);
    EXPECT_EQ(made.think_ms.at(each), 50);
    EXPECT_EQ(made.exchanges.at(each).origin_connection_id, 7U);  // after the last one of A
  }
  EXPECT_EQ(hybrid({}).addresses.at("cdn.test").size(), 1U);
}

TEST_F(Hybrid, HasThePausesOfAHostWithinItsBodies) {
  using std::chrono::milliseconds;
  a_.add(timed(a_get(kPage, "text/html"), 20), "<head></head><p>one</p>");
  auto in_b = timed(a_get(kPage, "text/html"), 20);
  auto const head = in_b.timings.first_byte;
  in_b.timings.end = head + milliseconds(1500);
  in_b.response.chunk_times = {{.end_bytes = 13, .time = head},
                               {.end_bytes = 26, .time = in_b.timings.end}};
  b_.add(in_b, "<head></head><p>longer</p>");
  auto const made = hybrid({{DifferenceKind::kThinkTime, "a.test"}});
  auto const& page = made.exchanges.at(kPage);
  EXPECT_NE(told().find("think time a.test: pauses of 1500 ms instead of 0 ms for /\n"),
            std::string::npos)
      << told();
  EXPECT_EQ(made.bodies.at(kPage), "<head></head><p>one</p>");
  EXPECT_EQ(made.think_ms.at(kPage), 20);
  EXPECT_EQ(pauses_of(page, {}), milliseconds(1500));
  ASSERT_EQ(page.response.chunk_times.size(), 2u);
  EXPECT_EQ(page.response.chunk_times[0].end_bytes, 13u);
  EXPECT_EQ(page.response.timed_size_bytes(), 26u);  // it arrived at half of them
  EXPECT_EQ(pauses_of(hybrid({}).exchanges.at(kPage), {}), milliseconds(0));
}

TEST_F(Hybrid, AnswersBothUrlsOfTheSameThingAlike) {
  a_.add(a_get("https://a.test/x.1a2b3c4d.png", "image/png"), "a");
  b_.add(a_get("https://a.test/x.99ff00aa.png", "image/png"), "bb");
  for (auto const& [made, expected] : {std::pair(hybrid({}), "a"), {all(), "bb"}}) {
    EXPECT_EQ(made.bodies.at("https://a.test/x.1a2b3c4d.png"), expected);
    EXPECT_EQ(made.bodies.at("https://a.test/x.99ff00aa.png"), expected);
  }
}

TEST_F(Hybrid, HasARedirectMore) {
  auto const url = std::string("https://a.test/x.js");
  a_.add(a_get(url, "text/javascript"), "a()");
  auto hop = with(a_get(url, ""), "Location", "/moved.js");
  hop.response.status = 302;
  b_.add(hop);
  b_.add(a_get("https://a.test/moved.js", "text/javascript"), "b()");
  auto const made = hybrid({{DifferenceKind::kRedirect, url}});
  EXPECT_EQ(made.exchanges.at(url).response.status, 302);
  EXPECT_EQ(made.bodies.at(url), "");
  EXPECT_EQ(made.bodies.at("https://a.test/moved.js"), "b()");
}

TEST_F(Hybrid, HasALongerChainOfCertificates) {
  a_.add(a_get(kPage, "text/html"), "a");
  b_.add(a_get(kPage, "text/html"), "a");
  EXPECT_EQ(hybrid({}).connections.at("a.test").chain_bytes, 3000u);
  auto const made = hybrid({{DifferenceKind::kChain, "a.test"}});
  EXPECT_EQ(made.connections.at("a.test").chain_bytes, 9000u);
  EXPECT_EQ(made.connections.at("a.test").address, "192.0.2.1:443");
}

TEST_F(Hybrid, HasANameThatIsSlowToResolve) {
  using std::chrono::milliseconds;
  for (auto* const site : {&a_, &b_}) site->add(a_get(kPage, "text/html"), "a");
  for (std::uint16_t const type : {1, 28}) {
    a_.add(DnsAnswer{
        .host = "a.test", .type = type, .asked = milliseconds(3), .answered = milliseconds(8)});
    b_.add(DnsAnswer{.host = "a.test",
                     .type = type,
                     .asked = milliseconds(2),
                     .answered = milliseconds(type == 1 ? 402 : 52)});
  }
  EXPECT_EQ(hybrid({}).lookups.at("a.test").of_addresses(), milliseconds(5));
  auto const slow = hybrid({{DifferenceKind::kNameResolution, "a.test"}}).lookups.at("a.test");
  EXPECT_EQ(slow.a, milliseconds(400));
  EXPECT_EQ(slow.aaaa, milliseconds(50));
}

TEST_F(Hybrid, OfImportsHasANameThatIsSlowToResolve) {
  using std::chrono::milliseconds;
  for (auto* const site : {&a_, &b_}) {
    site->add(a_get("https://import.test/", "text/html"), "a");
    auto facts = connection(3, "import.test", "192.0.2.7:443", 3000);
    facts.connect_start = milliseconds(9);
    facts.dns_start = milliseconds(site == &a_ ? 4 : -391);
    site->add(std::move(facts));
  }
  EXPECT_EQ(hybrid({}).lookups.at("import.test").of_addresses(), milliseconds(5));
  auto const slow = hybrid({{DifferenceKind::kNameResolution, "import.test"}});
  EXPECT_EQ(slow.lookups.at("import.test").of_addresses(), milliseconds(400));
}

TEST_F(Hybrid, OfImportsSpeaksTheProtocolOfTheExchanges) {
  auto const url = "https://import.test/";
  for (auto* const site : {&a_, &b_}) {
    auto exchange = a_get(url, "text/html");
    auto const version = site == &a_ ? HttpVersion::kH2 : HttpVersion::kHttp11;
    exchange.request.version = exchange.response.version = version;
    site->add(std::move(exchange), "a");
    site->add({.id = 3, .host = "import.test", .port = 443, .address = "192.0.2.7:443"});
  }
  EXPECT_EQ(hybrid({}).exchanges.at(url).request.version, HttpVersion::kH2);
  auto const made = hybrid({{DifferenceKind::kProtocol, "import.test"}});
  EXPECT_EQ(made.exchanges.at(url).request.version, HttpVersion::kHttp11);
  EXPECT_EQ(made.exchanges.at(url).response.version, HttpVersion::kHttp11);
}

TEST_F(Hybrid, OfImportsSpeaksTheProtocolOfAWithWhatOnlyBHas) {
  auto const speaking = [](std::string_view url, HttpVersion version) {
    auto exchange = a_get(url, "image/png");
    exchange.request.version = exchange.response.version = version;
    return exchange;
  };
  auto const more = "https://import.test/more.png";
  a_.add(speaking("https://import.test/x.png", HttpVersion::kH3), "a");
  b_.add(speaking(more, HttpVersion::kHttp11), "more");
  b_.add(speaking("https://import.test/x.png", HttpVersion::kHttp11), "a");
  auto const without = hybrid({});
  EXPECT_EQ(without.exchanges.at(more).request.version, HttpVersion::kH2);
  EXPECT_EQ(without.exchanges.at(more).response.version, HttpVersion::kH2);
  auto const made = hybrid({{DifferenceKind::kProtocol, "import.test"}});
  EXPECT_EQ(made.exchanges.at(more).response.version, HttpVersion::kHttp11);
  EXPECT_EQ(made.exchanges.at("https://import.test/x.png").response.version, HttpVersion::kHttp11);
}

TEST_F(Hybrid, SpeaksTheProtocolOfAUnderTheUrlOfB) {
  auto const there = "https://b.test/x.png";
  auto in_a = a_get("https://a.test/x.png", "image/png");
  in_a.request.version = in_a.response.version = HttpVersion::kH2;
  a_.add(in_a, "the same");
  a_.add(a_get("https://b.test/y.png", "image/png"), "y");
  b_.add(a_get(there, "image/png"), "the same");
  auto in_b = a_get("https://b.test/y.png", "image/png");
  in_b.request.version = in_b.response.version = HttpVersion::kH2;
  b_.add(in_b, "y");
  auto const made = hybrid({});
  EXPECT_EQ(made.exchanges.at(there).response.version, HttpVersion::kHttp11);
  EXPECT_EQ(made.exchanges.at(there).request.version, HttpVersion::kHttp11);
}

TEST_F(Hybrid, SpeaksTheProtocolOfAWhereOnlyBKnowsTheConnection) {
  for (auto* const site : {&a_, &b_}) site->add(a_get("https://new.test/", "text/html"), "a");
  EXPECT_EQ(hybrid({}).connections.at("new.test").alpn, "http/1.1");
  EXPECT_EQ(hybrid({{DifferenceKind::kProtocol, "new.test"}}).connections.at("new.test").alpn,
            "h2");
}

TEST_F(Hybrid, KeepsTheNonceThatThePolicyPermits) {
  auto const page_of = [](std::string_view nonce, std::string_view more) {
    return a_document(
        "<script nonce=" + std::string(nonce) + ">" + std::string(more) + "</script>\n", "text");
  };
  auto const exchange_of = [](std::string_view nonce) {
    return with(a_get(kPage, "text/html"), "Content-Security-Policy",
                "script-src 'nonce-" + std::string(nonce) + "'");
  };
  a_.add(exchange_of("aaaaaaaaaa"), page_of("aaaaaaaaaa", "one()"));
  b_.add(exchange_of("bbbbbbbbbb"), page_of("bbbbbbbbbb", "two()"));
  auto const made = all();
  EXPECT_EQ(made.bodies.at(kPage), page_of("aaaaaaaaaa", "two()"));
  EXPECT_EQ(field_of(made.exchanges.at(kPage).response, "content-security-policy"),
            "script-src 'nonce-aaaaaaaaaa'");
}

TEST_F(Hybrid, IsRefusedForWhatCannotBePutIn) {
  a_.add(a_get(kPage, "text/html"), "a");
  b_.add(a_get(kPage, "text/html"), "a");
  b_.add(a_get("https://a.test/unmentioned.gif", "image/gif"), "x");
  compare();
  std::vector<bool> groups;
  for (auto const& group : differences_.groups) groups.push_back(!group.can_be_put_in);
  HybridMaker const maker({a_.reader(), 1}, {b_.reader(), 1}, differences_);
  auto const done = maker.write(groups, folder_ / "refused");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("it cannot be put in: https://a.test/unmentioned.gif"),
            std::string::npos);
}

TEST_F(Hybrid, DoesWithoutADamagedBodyThatNoDifferenceConcerns) {
  for (auto* const side : {&a_, &b_}) {
    side->add(a_get("https://a.test/x.png", "image/png"), "a body that will be damaged");
    side->add(a_get("https://a.test/y.png", "image/png"), side == &a_ ? "y" : "other");
  }
  b_.add(a_get("https://a.test/new.png", "image/png"), "new and damaged");
  compare();
  a_.damage("will be damaged");
  b_.damage("new and damaged");
  HybridMaker const maker({a_.reader(), 1}, {b_.reader(), 1}, differences_);
  std::vector<bool> groups;
  for (auto const& group : differences_.groups) {
    groups.push_back(group.can_be_put_in && !group.title.contains("new.png"));
  }
  auto const done = maker.write(groups, folder_ / "whole");
  ASSERT_TRUE(done) << done.error();
  auto const made = ArchiveReader::open(folder_ / "whole", {});
  ASSERT_TRUE(made);
  ASSERT_EQ((*made)->entries().size(), 1U);
  EXPECT_EQ((*made)->exchange(0)->request.target, "/y.png");
}

TEST_F(Hybrid, OfADamagedBodyIsRefused) {
  auto const url = std::string("https://a.test/x.png");
  a_.add(a_get(url, "image/png"), "a");
  b_.add(a_get(url, "image/png"), "a body that will be damaged");
  compare();
  b_.damage("will be damaged");
  HybridMaker const maker({a_.reader(), 1}, {b_.reader(), 1}, differences_);
  std::vector<bool> groups;
  for (auto const& group : differences_.groups) groups.push_back(group.can_be_put_in);
  auto const done = maker.write(groups, folder_ / "damaged");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), url + ": its body is damaged");
}

}  // namespace
}  // namespace reprise
