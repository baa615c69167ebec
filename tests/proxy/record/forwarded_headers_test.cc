#include "proxy/record/forwarded_headers.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;

/// What of these fields goes to the origin http://a.test, "name: value" each.
std::vector<std::string> forwarded(std::vector<HeaderView> fields, RequestHead head = {}) {
  head.host = "a.test";
  head.port = head.port == 0 ? 80 : head.port;
  head.headers = fields;
  ForwardedHeaders const headers(head);
  std::vector<std::string> lines;
  for (const HeaderView& field : headers.list()) {
    lines.push_back(std::string(field.name).append(": ").append(field.value));
  }
  return lines;
}

TEST(ForwardedHeaders, KeepOrderCaseAndDuplicates) {
  EXPECT_THAT(
      forwarded({{"x-B", "2"}, {"HOST", "a.test"}, {"X-b", "1"}, {"Accept", "*/*"}, {"x-B", ""}}),
      ElementsAre("x-B: 2", "HOST: a.test", "X-b: 1", "Accept: */*", "x-B: "));
}

TEST(ForwardedHeaders, LeaveWhatConnectionNamesHere) {
  EXPECT_THAT(forwarded({{"Host", "a.test"},
                         {"X-Hop", "1"},
                         {"connection", "x-hop ,\tkeep-alive,, \tx-other"},
                         {"x-hop", "2"},
                         {"X-Other", "3"},
                         {"X-Kept", "4"}}),
              ElementsAre("Host: a.test", "X-Kept: 4"));
}

TEST(ForwardedHeaders, LeaveWhatIsForAProxyAndOffersToUpgradeHere) {
  EXPECT_THAT(forwarded({{"Host", "a.test"},
                         {"Proxy-Connection", "keep-alive"},
                         {"Proxy-Authorization", "Basic eA=="},
                         {"Upgrade", "h2c"},
                         {"Connection", "Upgrade, HTTP2-Settings"},
                         {"HTTP2-Settings", "AAMAAABk"},
                         {"Authorization", "Basic eA=="}}),
              ElementsAre("Host: a.test", "Authorization: Basic eA=="));
}

TEST(ForwardedHeaders, KeepAConnectionThatIsTrueOfTheNextHop) {
  EXPECT_THAT(forwarded({{"Host", "a.test"}, {"Connection", "Keep-Alive"}}),
              ElementsAre("Host: a.test", "Connection: Keep-Alive"));
  EXPECT_THAT(forwarded({{"Host", "a.test"}, {"Connection", "close"}}),
              ElementsAre("Host: a.test", "Connection: close"));
}

TEST(ForwardedHeaders, NameTheTargetsHost) {
  EXPECT_THAT(forwarded({{"Accept", "*/*"}, {"Host", "other.test"}}),
              ElementsAre("Accept: */*", "Host: a.test"));
  EXPECT_THAT(forwarded({{"Host", "a.test"}}, {.port = 8080}), ElementsAre("Host: a.test:8080"));
  EXPECT_THAT(forwarded({{"Host", "A.test:80"}}), ElementsAre("Host: A.test:80"));
  EXPECT_THAT(forwarded({{"Host", "a b"}}), ElementsAre("Host: a.test"));
}

TEST(ForwardedHeaders, AddAHostWhereTheVersionNeedsOne) {
  EXPECT_THAT(forwarded({{"Accept", "*/*"}}), ElementsAre("Host: a.test", "Accept: */*"));
  EXPECT_THAT(forwarded({{"accept", "*/*"}}, {.version = HttpVersion::kH2}),
              ElementsAre("accept: */*"));
  EXPECT_THAT(forwarded({{"Accept", "*/*"}}, {.version = HttpVersion::kHttp10}),
              ElementsAre("Accept: */*"));
}

TEST(ForwardedHeaders, OfferAWebSocketWithoutItsExtensions) {
  EXPECT_THAT(forwarded({{"Host", "a.test"},
                         {"Connection", "Upgrade, X-Hop"},
                         {"Upgrade", "websocket"},
                         {"X-Hop", "1"},
                         {"Proxy-Connection", "keep-alive"},
                         {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                         {"Sec-WebSocket-Extensions", "permessage-deflate"}},
                        {.protocol = "websocket"}),
              ElementsAre("Host: a.test", "Connection: Upgrade, X-Hop", "Upgrade: websocket",
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="));
}

}  // namespace
}  // namespace reprise
