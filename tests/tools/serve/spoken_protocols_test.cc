#include "tools/serve/spoken_protocols.h"

#include <gmock/gmock.h>

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class SpokenProtocolsTest : public testing::Test {
 protected:
  void add(const std::string& host, const std::string& alpn, Headers headers = {}) {
    archive_.add(ConnectionFacts{.scheme = Scheme::kHttps,
                                 .host = host,
                                 .port = 443,
                                 .alpn = alpn,
                                 .tls_version = "TLSv1.3"});
    auto made = RecordedArchive::exchange("GET", "/", std::move(headers));
    made.request.host = host;
    archive_.add(std::move(made));
  }
  whatif::SpokenProtocols with(const std::vector<std::string>& protocols) {
    return spoken_protocols(archive_.reader(), 1, protocols);
  }
  RecordedArchive archive_;
};

TEST_F(SpokenProtocolsTest, AreThoseOfTheRecordingUnlessAllHostsHaveOne) {
  add("a.test", "http/1.1");
  add("b.test", "h2");
  EXPECT_THAT(with({"recorded"}), ElementsAre(Pair("a.test", ElementsAre("http/1.1")),
                                              Pair("b.test", ElementsAre("h2"))));
  EXPECT_THAT(with({"h1"}), ElementsAre(Pair("a.test", ElementsAre("http/1.1")),
                                        Pair("b.test", ElementsAre("http/1.1"))));
  EXPECT_THAT(with({"h3"}),
              ElementsAre(Pair("a.test", ElementsAre("h3")), Pair("b.test", ElementsAre("h3"))));
  EXPECT_THAT(with({"recorded", "h2"}), ElementsAre(Pair("a.test", ElementsAre("h2", "http/1.1")),
                                                    Pair("b.test", ElementsAre("h2"))));
  EXPECT_THAT(with({}), IsEmpty());
}

TEST_F(SpokenProtocolsTest, OfAHostThatOffersHttp3AreNotThoseOverTcp) {
  add("a.test", "h2", {{.name = "alt-svc", .value = R"(h3=":443")"}});
  EXPECT_THAT(with({"recorded"}), IsEmpty());
  EXPECT_THAT(with({"h3-known"}), ElementsAre(Pair("a.test", ElementsAre("h3"))));
  EXPECT_THAT(with({"h2"}), ElementsAre(Pair("a.test", ElementsAre("h2")))) << "without offers";
}

}  // namespace
}  // namespace reprise
