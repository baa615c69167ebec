#include "tools/link/link_plot.h"

#include <gmock/gmock.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace reprise {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// What is drawn, by its class, in the order of the document.
class Drawn {
 public:
  explicit Drawn(const LinkPlot& plot) : svg_(to_svg(plot)) {
    std::istringstream in(svg_);
    boost::property_tree::read_xml(in, tree_);  // throws when it is not well-formed
  }

  const std::string& svg() const { return svg_; }
  std::string title() const { return tree_.get<std::string>("svg.title"); }

  /// The texts of all labels.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (auto const& [name, node] : tree_.get_child("svg")) {
      if (name == "text") found.push_back(node.data());
    }
    return found;
  }
  std::vector<std::string> paths(const std::string& css_class) const {
    std::vector<std::string> found;
    for (auto const& [name, node] : tree_.get_child("svg")) {
      if (name == "path" && node.get<std::string>("<xmlattr>.class") == css_class) {
        found.push_back(node.get<std::string>("<xmlattr>.d"));
      }
    }
    return found;
  }

 private:
  std::string svg_;
  boost::property_tree::ptree tree_;
};

LinkPlot::Direction half_second() {
  LinkPlot::Direction direction{.timeline = {.width = 250ms}, .rate_limit_bps = 4e6};
  direction.timeline.spans = {{.queue_bytes = 3000,
                               .rate_bps = 4e6,
                               .packets = 2,
                               .delay_mean_ms = 20,
                               .delay_max_ms = 40,
                               .drops = 3},
                              {.queue_bytes = 1500, .rate_bps = 1e6}};
  return direction;
}

TEST(LinkPlot, HasAxesWithUnits) {
  Drawn const drawn({.title = "x", .down = half_second(), .up = half_second()});
  EXPECT_THAT(drawn.texts(), IsSupersetOf({"Down, to the client", "Up, from the client",
                                           "Queue, mean (kB)", "Delay, mean and largest (ms)",
                                           "Rate (Mbit/s)", "500 ms", "3 dropped", "40", "4"}));
}

TEST(LinkPlot, LinesFollowTheSpansAndStopWhereThereAreNoPackets) {
  Drawn const drawn({.title = "x", .down = half_second(), .up = {}});
  // Queue to 3 kB, delay to 40 ms, rate to 4 Mbit/s: all panels are 390 wide and 130 high.
  EXPECT_THAT(drawn.paths("line"), ElementsAre("M70.0 84.0H265.0V149.0H460.0", "M70.0 335.0H265.0",
                                               "M70.0 456.0H265.0V553.5H460.0"));
  // Only the largest delay is above its line.
  EXPECT_THAT(drawn.paths("area"), Contains("M70.00 335.0H265.00V270.0H70.00z"));
  EXPECT_THAT(drawn.paths("drop"), ElementsAre("M70.0 84.0v6.0"));
  EXPECT_THAT(drawn.paths("limit"), ElementsAre("M70.0 456.0h390.0"));
}

TEST(LinkPlot, SaysWhereThereIsNothing) {
  Drawn const drawn({});
  EXPECT_THAT(drawn.texts(), Contains("no packets").Times(6));
  EXPECT_THAT(drawn.svg(), Not(HasSubstr("nan")));
  EXPECT_THAT(drawn.svg(), Not(HasSubstr("inf")));
}

TEST(LinkPlot, TitleIsAnyText) {
  EXPECT_EQ(Drawn({.title = "a<b> & \"c\"\x01\n"}).title(), "a<b> & \"c\"  ");
}

TEST(LinkPlot, AxesAreRoundWhateverTheSize) {
  for (double const rate : {1.0, 0.3, 999.0, 1001.0, 7.3e5, 9e6, 4.2e9, 9.9e11}) {
    auto direction = half_second();
    direction.rate_limit_bps = rate;
    for (auto& span : direction.timeline.spans) span.rate_bps = rate / 2;
    Drawn const drawn({.title = "x", .down = direction, .up = {}});
    auto const limit = drawn.paths("limit").at(0);
    double const y = std::stod(limit.substr(limit.find(' ')));
    EXPECT_GE(y, 456.0) << rate;  // the top of the panel
    EXPECT_LE(y, 456.0 + 130.0 / 2) << rate;
    for (auto const& text : drawn.texts()) EXPECT_LT(text.size(), 30U) << text;
  }
}

TEST(LinkPlot, FollowsTheViewersColours) {
  EXPECT_THAT(to_svg({}), HasSubstr("prefers-color-scheme:dark"));
}

}  // namespace
}  // namespace reprise
