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
  enum Node : std::uint32_t { kPage, kSheet, kFrame, kFrameSheet, kFont, kPicture, kNodes };

  FramePlan() {
    graph_.nodes.resize(kNodes);
    graph_.nodes[kPage].type = graph_.nodes[kFrame].type = "Document";
    asks(kPage, kSheet, DependencyKind::kParser);
    asks(kPage, kFrame, DependencyKind::kParser);
    asks(kFrame, kFrameSheet, DependencyKind::kParser);
    asks(kSheet, kFont, DependencyKind::kStyle);  // it came before all that the frame asks for
    asks(kFrameSheet, kFont, DependencyKind::kStyle);
    parts_.nodes.resize(kNodes);
    for (NodeParts& each : parts_.nodes) each.present = true;
    changes_.resize(kNodes);
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
  for (auto const node : {kSheet, kFont, kPicture}) changes_[node].preload = true;
  EXPECT_THAT(early_of(kPage).preloaded, ElementsAre(kSheet, kPicture));
  EXPECT_THAT(early_of(kFrame).preloaded, ElementsAre(kFont));
}

TEST_F(FramePlan, HintsAndConnectsThereToo) {
  changes_[kFrame].early_hints = true;
  changes_[kFrameSheet].early_hints = changes_[kFrameSheet].preconnect = true;
  EXPECT_THAT(early_of(kPage).hinted, ElementsAre(kFrame));
  EXPECT_THAT(early_of(kPage).preconnected, IsEmpty());
  EXPECT_THAT(early_of(kFrame).hinted, ElementsAre(kFrameSheet));
  EXPECT_THAT(early_of(kFrame).preconnected, ElementsAre(kFrameSheet));
}

}  // namespace
}  // namespace reprise
