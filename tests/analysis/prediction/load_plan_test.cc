#include "analysis/prediction/load_plan.h"

#include <gmock/gmock.h>

#include "analysis/dependency/learn.h"
#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A page with a style sheet and a frame; the frame has a style sheet, which asks for a font. What
/// asks for the picture is not known.
class FramePlan : public testing::Test {
 protected:
  enum Node : std::uint32_t {
    kThePage,
    kTheSheet,
    kTheFrame,
    kTheFrameSheet,
    kTheFont,
    kThePicture,
    kAllNodes
  };

  FramePlan() {
    graph_.nodes.resize(kAllNodes);
    graph_.nodes[kThePage].type = graph_.nodes[kTheFrame].type = "Document";
    asks(kThePage, kTheSheet, DependencyKind::kParser);
    asks(kThePage, kTheFrame, DependencyKind::kParser);
    asks(kTheFrame, kTheFrameSheet, DependencyKind::kParser);
    asks(kTheSheet, kTheFont,
         DependencyKind::kStyle);  // it came before all that the frame asks for
    asks(kTheFrameSheet, kTheFont, DependencyKind::kStyle);
    parts_.nodes.resize(kAllNodes);
    for (NodeParts& each : parts_.nodes) each.present = true;
    changes_.resize(kAllNodes);
  }
  void asks(std::uint32_t from, std::uint32_t to, DependencyKind kind) {
    graph_.edges.push_back({.from = from, .to = to, .kind = kind, .evidence = {.named = true}});
  }
  LoadPlan::Early early_of(std::uint32_t document) {
    return load_plan(graph_, parts_, changes_).early[document];
  }

  DependencyGraph graph_;
  LoadParts parts_;
  std::vector<NodeChange> changes_;
};

TEST_F(FramePlan, PreloadsInTheDocumentThatAResourceBelongsTo) {
  for (auto const node : {kTheSheet, kTheFont, kThePicture}) changes_[node].preload = true;
  EXPECT_THAT(early_of(kThePage).preloaded, ElementsAre(kTheSheet, kThePicture));
  EXPECT_THAT(early_of(kTheFrame).preloaded, ElementsAre(kTheFont));
}

TEST_F(FramePlan, HintsAndConnectsThereToo) {
  changes_[kTheFrame].early_hints = true;
  changes_[kTheFrameSheet].early_hints = changes_[kTheFrameSheet].preconnect = true;
  EXPECT_THAT(early_of(kThePage).hinted, ElementsAre(kTheFrame));
  EXPECT_THAT(early_of(kThePage).preconnected, IsEmpty());
  EXPECT_THAT(early_of(kTheFrame).hinted, ElementsAre(kTheFrameSheet));
  EXPECT_THAT(early_of(kTheFrame).preconnected, ElementsAre(kTheFrameSheet));
}

TEST(LoadPlan, TakesThePageForItsDocumentAndNotWhatRedirectsToIt) {
  auto const load = written_load({{"http://a.test/", "Document", 0, 40, 40, "", "301"},
                                  {"https://a.test/", "Document", 40, 90, 100, ""},
                                  {"https://b.test/lazy.png", "Image", 110, 120, 130, ""}});
  auto const graph = learn_dependencies({&load, 1});
  std::vector<NodeChange> const unchanged(graph.nodes.size());
  auto const plan = load_plan(graph, load_parts(graph, load, {}), unchanged);
  EXPECT_EQ(graph.nodes.at(plan.document).name, "https://a.test/");
}

}  // namespace
}  // namespace reprise
