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
  ASSERT_EQ(found.list.size(), 1u);
  EXPECT_EQ(found.list[0].at("url").as_string(), "https://a.test/cart");
  EXPECT_EQ(found.list[0].at("trace").at("points"), boost::json::parse(R"([[0,"tax",7]])"));
  EXPECT_EQ(found.skipped(),
            boost::json::parse(R"({"too_large":0,"unreadable":1,"missing":0})").as_object());
}

TEST(ServerTraces, CountWhatIsSkipped) {
  constexpr std::string_view kSmall =
      R"({"stack":[[0,1,20,[]]],"classes":["shop.Cart"],"points":[[0,"tax",7]]})";
  auto const large = R"({"stack":[[0,1,20,[]]],"classes":["shop.Cart"],"points":[[0,")" +
                     std::string(500, 'x') + R"(",7]]})";
  RecordedSite site;
  site.begin_session();
  site.add(with(a_get("https://a.test/1", "text/html"), "Banky-Trace", "url=/small"));
  site.add(with(a_get("https://a.test/2", "text/html"), "Banky-Trace", "url=/large"));
  site.add(with(a_get("https://a.test/3", "text/html"), "Banky-Trace", "url=/small"));
  site.add(with(a_get("https://a.test/4", "text/html"), "Banky-Trace", "url=/none"));
  site.add(a_get("https://a.test/5", "text/html"));
  site.add(a_get("https://a.test/small", "application/json"), kSmall);
  site.add(a_get("https://a.test/large", "application/json"), large);
  auto const found = server_traces(site.reader(), 1, 450);
  ASSERT_EQ(found.list.size(), 2u);
  EXPECT_EQ(found.list[1].at("url").as_string(), "https://a.test/3");
  EXPECT_EQ(found.too_large, 1u);
  EXPECT_EQ(found.unreadable, 0u);
  EXPECT_EQ(found.missing, 1u);
}

}  // namespace
}  // namespace reprise
