#include "analysis/prediction/load_plan.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace reprise
