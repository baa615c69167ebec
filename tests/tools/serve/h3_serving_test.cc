#include <gmock/gmock.h>

#include "tools/serve/serving.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

TEST(H3Serving, BehindALinkServesTheOfferedPortsAndTheDefaultOne) {
  EXPECT_THAT(H3Serving{}.ports_behind_link(), ElementsAre(443));
  EXPECT_THAT((H3Serving{.udp_ports = {443, 8443, 9443}}.ports_behind_link()),
              ElementsAre(443, 8443, 9443));
}

TEST(H3Serving, BehindALinkLeavesThePortOfDnsToTheResolver) {
  EXPECT_THAT((H3Serving{.udp_ports = {53, 9443}}.ports_behind_link()), ElementsAre(443, 9443));
}

TEST(H3Serving, BehindALinkServesALimitedNumberOfPorts) {
  H3Serving serving;
  for (std::uint16_t port = 100; port < 300; ++port) serving.udp_ports.insert(port);
  EXPECT_THAT(serving.ports_behind_link(), SizeIs(kShellPortsMax / 2));
  EXPECT_THAT(serving.ports_behind_link(), Contains(443));
}

}  // namespace
}  // namespace reprise
