#include "tools/why/server_traces.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise {
namespace {

using whatif::a_get;
using whatif::RecordedSite;
using whatif::with;

TEST(ServerTraces, AreThoseOfOneSession) {
  constexpr std::string_view kTrace =
      R"({"stack":[[0,1,20,[]]],"classes":["shop.Cart"],"points":[[0,"tax",7]]})";
  RecordedSite site;
  site.begin_session();
  site.add(with(a_get("https://a.test/other", "text/html"), "Banky-Trace", "url=/trace"));
  site.add(a_get("https://a.test/trace", "application/json"), kTrace);
  site.begin_session();
  site.add(with(a_get("https://a.test/cart", "text/html"), "Banky-Trace", "url=/trace"));
  site.add(with(a_get("https://a.test/bad", "text/html"), "Banky-Trace", "1,2"));
  site.add(a_get("https://a.test/trace", "application/json"), kTrace);
  auto const found = server_traces(site.reader(), 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at("url").as_string(), "https://a.test/cart");
  EXPECT_EQ(found[0].at("trace").at("points"), boost::json::parse(R"([[0,"tax",7]])"));
}

}  // namespace
}  // namespace reprise
