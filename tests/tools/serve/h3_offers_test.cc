#include "tools/serve/h3_offers.h"

#include <gmock/gmock.h>

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class H3OffersTest : public testing::Test {
 protected:
  static Exchange response_of(const std::string& host, Headers headers) {
    auto made = RecordedArchive::exchange("GET", "/", std::move(headers));
    made.request.host = host;
    return made;
  }
  static Headers alt_svc(std::string_view value) { return {{.name = "alt-svc", .value = value}}; }
  /// A line an offer: "HOST:PORT UDP-PORT WAYS".
  std::vector<std::string> offers() {
    std::vector<std::string> lines;
    for (const H3Offer& each : h3_offers(archive_.reader(), 1)) {
      auto line = each.host + ":" + std::to_string(each.port) + " " + std::to_string(each.udp_port);
      if (each.by_header) line += " header";
      if (each.by_record) line += " record";
      if (each.by_import) line += " import";
      lines.push_back(line);
    }
    return lines;
  }
  RecordedArchive archive_;
};

TEST_F(H3OffersTest, AFieldOffersForItsOriginAtItsPort) {
  archive_.add(response_of("a.test", alt_svc(R"(h3=":443"; ma=60)")));
  archive_.add(response_of("a.test", alt_svc(R"(h3=":443"; ma=60)")));
  auto other_port = response_of("b.test", alt_svc(R"(h3=":9443")"));
  other_port.request.port = 8443;
  archive_.add(std::move(other_port));
  archive_.add(response_of("c.test", alt_svc(R"(h2=":443")")));
  EXPECT_THAT(offers(), ElementsAre("a.test:443 443 header", "b.test:8443 9443 header"));
}

TEST_F(H3OffersTest, OnlyResponsesOverTlsOffer) {
  auto plain = response_of("a.test", alt_svc(R"(h3=":443")"));
  plain.request.scheme = Scheme::kHttp;
  archive_.add(std::move(plain));
  EXPECT_THAT(offers(), IsEmpty());
}

TEST_F(H3OffersTest, AnHttpsRecordOffersAtItsPort) {
  // Priority 1, target ".", alpn h2 and h3; the second with port 9443.
  std::string const record("\0\1\0\0\1\0\6\2h2\2h3", 13);
  archive_.add(DnsAnswer{.host = "a.test", .type = 65, .https = {record}});
  archive_.add(DnsAnswer{
      .host = "b.test", .type = 65, .https = {record + std::string("\0\3\0\2\x24\xe3", 6)}});
  archive_.add(
      DnsAnswer{.host = "c.test", .type = 65, .https = {std::string("\0\1\0\0\1\0\3\2h2", 10)}});
  archive_.add(response_of("a.test", alt_svc(R"(h3=":443")")));
  EXPECT_THAT(offers(), ElementsAre("a.test:443 443 header record", "b.test:443 9443 record"));
}

TEST_F(H3OffersTest, AnImportWithHttp3Offers) {
  auto imported = response_of("a.test", {});
  imported.response.version = HttpVersion::kH3;
  archive_.add(std::move(imported));
  EXPECT_THAT(offers(), ElementsAre("a.test:443 443 import"));
}

}  // namespace
}  // namespace reprise
