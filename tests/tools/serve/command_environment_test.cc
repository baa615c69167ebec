#include "tools/serve/command_environment.h"

#include <gtest/gtest.h>

#include <string>

#include "dns/plan.h"
#include "pageload/browser/launch.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

/// Linux: an entry of the environment with its end.
constexpr std::size_t kEntryBytesMax = 128 << 10;

TEST(AddressesEnvironment, HasRoomForTheRulesAndTheHttp3OfManyHosts) {
  std::vector<dns::RecordedHost> hosts;
  H3Origins led;
  for (int i = 0; i < 1100; ++i) {
    auto const host = "host-" + std::to_string(i) + ".some.example.test";
    hosts.emplace_back().host = host;
    led.emplace_back(host, std::uint16_t{443});
  }
  ListenAddresses bound;
  bound.http.at = tcp::endpoint(net::ip::address_v4::loopback(), 18'080);
  bound.https.at = tcp::endpoint(net::ip::address_v4::loopback(), 18'443);
  auto const plan = dns::Plan::create(hosts, {}).value();
  auto flags = routing_flags(bound, plan.chromium_rules({.http = 18'080, .https = 18'443}, true));
  EXPECT_FALSE(lead_to_h3(flags, led, {}));
  ScratchFolder const folder;
  auto const authority = CertificateAuthority::open_or_create(folder.path()).value();
  for (const std::string& each : addresses_environment(bound, authority, flags)) {
    EXPECT_LT(each.size(), kEntryBytesMax) << each.substr(0, 30);
  }
}

}  // namespace
}  // namespace reprise
