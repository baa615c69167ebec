#include "tools/serve/what_if.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "dns/host.h"
#include "dns/plan.h"
#include "dns/responder.h"

namespace reprise {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class ChangeNamingTest : public testing::Test {
 protected:
  void connect(const std::string& host, const std::string& address) {
    naming_.hosts->push_back({.host = host, .addresses = {address}});
  }
  void coalesce(const std::set<std::string>& hosts) {
    whatif::Conditions conditions;
    conditions.tls.page = "a.test";
    conditions.tls.coalesced = hosts;
    change_naming(conditions, naming_);
  }
  const std::vector<std::string>& addresses(std::size_t entry) const {
    return naming_.hosts->at(entry).addresses;
  }
  std::size_t address_count() const {
    std::size_t count = 0;
    for (auto const& each : *naming_.hosts) count += each.addresses.size();
    return count;
  }

  Naming naming_{.hosts = std::vector<dns::RecordedHost>()};
};

TEST_F(ChangeNamingTest, CoalescedHostsHaveTheAddressesOfThePage) {
  connect("b.test", "192.0.2.9:443");
  connect("a.test", "192.0.2.1:443");
  connect("c.test", "192.0.2.8:443");
  connect("a.test", "192.0.2.2:443");
  coalesce({"b.test"});
  EXPECT_THAT(addresses(0), ElementsAre("192.0.2.1:443", "192.0.2.2:443"));
  EXPECT_THAT(addresses(1), ElementsAre("192.0.2.1:443"));
  EXPECT_THAT(addresses(2), ElementsAre("192.0.2.8:443"));
  auto const plan = dns::Plan::create(*naming_.hosts, {}).value();
  EXPECT_EQ(plan.find("b.test")->addresses, plan.find("a.test")->addresses);
}

TEST_F(ChangeNamingTest, OneEntryOfACoalescedHostHasThem) {
  for (int i = 0; i < 200; ++i) connect("a.test", "192.0.2." + std::to_string(i) + ":443");
  for (int i = 0; i < 1000; ++i) connect("b.test", "198.51.100.1:443");
  coalesce({"b.test"});
  EXPECT_EQ(address_count(), 400u);
  auto const plan = dns::Plan::create(*naming_.hosts, {}).value();
  EXPECT_EQ(plan.find("b.test")->addresses, plan.find("a.test")->addresses);
}

TEST_F(ChangeNamingTest, ACoalescedHostHasAsManyAsAnAnswer) {
  constexpr auto kMost = dns::Responder::kAddressesMax;
  connect("b.test", "198.51.100.1:443");
  for (std::size_t i = 0; i < 2 * kMost; ++i) {
    auto const address = "10.0." + std::to_string(i / 200) + "." + std::to_string(i % 200);
    connect("a.test", address + ":443");
    connect("a.test", address + ":8443");  // the same one
  }
  coalesce({"b.test"});
  EXPECT_THAT(addresses(0), SizeIs(kMost));
  EXPECT_THAT(addresses(0), Each(EndsWith(":443")));
}

TEST_F(ChangeNamingTest, ACoalescedHostThatIsFurtherAwayMovesTheAddressesOfThePage) {
  connect("a.test", "192.0.2.1:443");
  connect("b.test", "192.0.2.9:443");
  connect("b.test", "192.0.2.8:443");
  whatif::Conditions conditions;
  conditions.tls.page = "a.test";
  conditions.tls.coalesced = {"b.test"};
  conditions.further_away = {{"b.test", std::chrono::milliseconds(40)}};
  change_naming(conditions, naming_);
  EXPECT_THAT(naming_.further_away,
              ElementsAre(Pair(dns::parse_address("192.0.2.1").value(),
                               std::chrono::nanoseconds(std::chrono::milliseconds(40)))));
  EXPECT_THAT(addresses(1), ElementsAre("192.0.2.1:443"));
  EXPECT_THAT(addresses(2), IsEmpty());
}

TEST_F(ChangeNamingTest, OriginsOnOneStandInAreAsNearAsRecordedAndAsFarAsAnyIsMoved) {
  using std::chrono::milliseconds;
  connect("a.test", "192.0.2.1:443");
  connect("b.test", "192.0.2.2:443");
  whatif::Conditions conditions;
  conditions.further_away = {{"b.test", milliseconds(40)}};
  naming_.round_trips = {{dns::parse_address("192.0.2.1").value(), milliseconds(10)},
                         {dns::parse_address("192.0.2.2").value(), milliseconds(30)}};
  change_naming(conditions, naming_);
  EXPECT_TRUE(naming_.needs_packets);
  auto const single = dns::Plan::create(*naming_.hosts, {.single = true}).value();
  auto const at = single.find("a.test")->addresses.front().to_uint();
  EXPECT_THAT(delays_of(single, naming_), ElementsAre(Pair(at, milliseconds(50))));
  auto const apart = dns::Plan::create(*naming_.hosts, {}).value();
  auto const far = apart.find("b.test")->addresses.front().to_uint();
  EXPECT_EQ(delays_of(apart, naming_).at(far), milliseconds(70));
}

TEST_F(ChangeNamingTest, APageWithoutAnAddressIsGivenOne) {
  naming_.hosts->push_back({.host = "a.test"});
  connect("b.test", "192.0.2.9:443");
  coalesce({"b.test"});
  EXPECT_THAT(addresses(0), SizeIs(1));
  EXPECT_EQ(addresses(0), addresses(1));
}

TEST_F(ChangeNamingTest, WithAnUnknownPageEachHostIsOnItsOwn) {
  connect("b.test", "192.0.2.9:443");
  coalesce({"b.test"});
  EXPECT_THAT(addresses(0), IsEmpty());
}

}  // namespace
}  // namespace reprise
