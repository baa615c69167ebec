#include "tools/serve/spoken_protocols.h"

#include <gmock/gmock.h>

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  /// "a.test h2: recorded h2"
  std::vector<std::string> with(const std::vector<std::string>& protocols) {
    auto const spoken = spoken_protocols(archive_.reader(), 1, protocols);
    EXPECT_EQ(spoken.values, protocols.size());
    std::vector<std::string> shown;
    for (auto const& [host, by_protocol] : spoken.with) {
      for (auto const& [protocol, values] : by_protocol) {
        shown.push_back(host + " " + protocol + ":");
        for (const std::string& each : values) shown.back() += " " + each;
      }
    }
    return shown;
  }
  RecordedArchive archive_;
};

TEST_F(SpokenProtocolsTest, AreThoseOfTheRecordingUnlessAllHostsHaveOne) {
  add("a.test", "http/1.1");
  add("b.test", "h2");
  EXPECT_THAT(with({"recorded"}), ElementsAre("a.test http/1.1: recorded", "b.test h2: recorded"));
  EXPECT_THAT(with({"h1"}), ElementsAre("a.test http/1.1: h1", "b.test http/1.1: h1"));
  EXPECT_THAT(with({"h3"}), ElementsAre("a.test h3: h3", "b.test h3: h3"));
  EXPECT_THAT(with({"recorded", "h2"}),
              ElementsAre("a.test h2: h2", "a.test http/1.1: recorded", "b.test h2: recorded h2"));
  EXPECT_THAT(with({}), IsEmpty());
}

TEST_F(SpokenProtocolsTest, OfAHostThatOffersHttp3AreNotThoseOverTcp) {
  add("a.test", "h2", {{.name = "alt-svc", .value = R"(h3=":443")"}});
  EXPECT_THAT(with({"recorded"}), IsEmpty());
  EXPECT_THAT(with({"h3-known"}), ElementsAre("a.test h3: h3-known"));
  EXPECT_THAT(with({"h2"}), ElementsAre("a.test h2: h2")) << "without offers";
}

}  // namespace
}  // namespace reprise
