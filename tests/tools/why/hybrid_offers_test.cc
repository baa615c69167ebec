// Where a hybrid offers HTTP/3.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/why/made_hybrid.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using whatif::a_get;
using whatif::field_of;
using whatif::with;

constexpr const char* kAltSvc = R"(h3=":443"; ma=60)";
constexpr const char* kCode = "https://import.test/x.js";

Exchange over(HttpVersion version, std::string_view url) {
  auto made = a_get(url, "text/javascript");
  made.request.version = made.response.version = version;
  return made;
}

TEST_F(Hybrid, OfImportsOffersHttp3AsA) {
  a_.add(over(HttpVersion::kH3, kCode), "a()");
  b_.add(over(HttpVersion::kHttp11, "https://import.test/more.js"), "more()");
  b_.add(over(HttpVersion::kHttp11, kCode), "b()");
  auto const of_a = ElementsAre("import.test:443 443 import");
  EXPECT_THAT(Contents(a_.reader()).offers, of_a);
  EXPECT_THAT(hybrid({}).offers, of_a);
  EXPECT_THAT(hybrid({{DifferenceKind::kContent, kCode}}).offers, of_a);
  EXPECT_THAT(hybrid({{DifferenceKind::kProtocol, "import.test"}}).offers, IsEmpty());
}

TEST_F(Hybrid, OfImportsOffersHttp3AsAWithAReplyOfB) {
  auto missing = over(HttpVersion::kH3, kCode);
  missing.response.status = 404;
  a_.add(missing);
  b_.add(over(HttpVersion::kHttp11, kCode), "b()");
  auto const made = hybrid({{DifferenceKind::kStatus, kCode}});
  EXPECT_EQ(made.bodies.at(kCode), "b()");
  EXPECT_THAT(made.offers, ElementsAre("import.test:443 443 import"));
}

TEST_F(Hybrid, HasNoOffersOfBOnHostsOfA) {
  auto const url = std::string("https://a.test/x.js");
  auto missing = a_get(url, "");
  missing.response.status = 404;
  a_.add(missing);
  b_.add(with(a_get(url, "text/javascript"), "Alt-Svc", kAltSvc), "b()");
  b_.add(with(a_get("https://a.test/more.js", "text/javascript"), "Alt-Svc", kAltSvc), "more()");
  b_.add(with(a_get("https://new.test/new.js", "text/javascript"), "Alt-Svc", kAltSvc), "new()");
  // Priority 1, target ".", alpn h2 and h3.
  std::string const record("\0\1\0\0\1\0\6\2h2\2h3", 13);
  b_.add(DnsAnswer{.host = "a.test", .type = 65, .https = {record}});
  EXPECT_THAT(Contents(a_.reader()).offers, IsEmpty());
  auto const of_b_alone = ElementsAre("new.test:443 443 header");
  EXPECT_THAT(hybrid({}).offers, of_b_alone);
  EXPECT_THAT(hybrid({{DifferenceKind::kStatus, url}}).offers, of_b_alone);
}

TEST_F(Hybrid, KeepsOffersOfBWhereAOffersToo) {
  auto const url = std::string("https://a.test/more.js");
  a_.add(with(a_get(kPage, "text/html"), "Alt-Svc", kAltSvc), "a");
  b_.add(with(a_get(kPage, "text/html"), "Alt-Svc", kAltSvc), "a");
  b_.add(with(a_get(url, "text/javascript"), "Alt-Svc", kAltSvc), "more()");
  auto const made = hybrid({});
  EXPECT_EQ(field_of(made.exchanges.at(url).response, "alt-svc"), kAltSvc);
  EXPECT_EQ(made.offers, Contents(a_.reader()).offers);
}

TEST_F(Hybrid, OffersNoHttp3OfAnotherHost) {
  a_.add(with(a_get("https://a.test/x.js", "text/javascript"), "Alt-Svc", kAltSvc), "the same");
  a_.add(a_get("https://b.test/y.js", "text/javascript"), "y");
  b_.add(a_get("https://b.test/x.js", "text/javascript"), "the same");
  b_.add(a_get("https://b.test/y.js", "text/javascript"), "y");
  auto const made = hybrid({});
  EXPECT_EQ(made.bodies.at("https://b.test/x.js"), "the same");
  EXPECT_THAT(made.offers, ElementsAre("a.test:443 443 header"));
}

}  // namespace
}  // namespace reprise
