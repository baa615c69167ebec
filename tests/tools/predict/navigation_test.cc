#include "tools/predict/navigation.h"

#include <gmock/gmock.h>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Exchange hop(std::string_view url, std::uint16_t status, std::string_view location) {
  auto made = whatif::with(whatif::a_get(url, ""), "Location", location);
  made.response.status = status;
  return made;
}

TEST(NavigationTo, FollowsRedirectsToTheDocument) {
  whatif::RecordedSite site;
  site.add(hop("http://a.test/", 301, whatif::kPage));
  site.add(hop(whatif::kPage, 302, "/"));
  site.add(whatif::a_get(whatif::kPage, "text/html"));
  site.add(whatif::a_get("https://a.test/app.js", "text/javascript", whatif::kPage));
  site.add(whatif::a_get(whatif::kPage, "text/html"));
  auto const requests = whatif::PageRequests::read(site.reader(), 1, {});
  auto const to = [&](std::string_view url) { return navigation_to(url, requests, site.reader()); };
  EXPECT_THAT(to("http://a.test/#top"), ElementsAre(1, 2, 3));
  EXPECT_THAT(to(whatif::kPage), ElementsAre(2, 3)) << "it redirects to itself once";
  EXPECT_THAT(to("https://b.test/"), IsEmpty());
  EXPECT_THAT(to(""), IsEmpty());
}

}  // namespace
}  // namespace reprise
