#pragma once

// What a page looks like before and after its changes: frames of the traces of one load each. Pure.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analysis/visual/trace_visuals.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// A side in its traced load.
struct SeenSide {
  std::size_t side = 0;  ///< of the experiment; 0: as recorded
  std::string title;     ///< "as recorded", "2. Load ... with async"; untrusted text
  LoadResult result;     ///< this load alone
  TraceVisuals visuals;  ///< with frames
};

struct AdvicePictures {
  std::vector<SeenSide> seen;        ///< as recorded, then the changes, in the order of the advice
  std::vector<std::string> missing;  ///< sentences without a point: why a side is not seen
};

/// The page as recorded and the changed one at the same time after the start of their loads.
struct PicturePair {
  double at_ms = 0;
  std::string moment;    ///< "largest paint of the changed page"
  std::string recorded;  ///< a JPEG; empty: nothing was painted yet
  std::string changed;   ///< the same
};

inline constexpr std::size_t kPicturePairsMax = 2;

/// When the changed page has its largest paint, and, if that is later, when the page as recorded
/// has it. Of a page without a largest paint, its first contentful paint or its last frame. If
/// there is no frame by then, its first frame. Frames that cannot be decoded are skipped. None if
/// the changed page has no frame.
std::vector<PicturePair> picture_pairs(const TraceVisuals& recorded, const TraceVisuals& changed);

/// "picture-3-1-recorded.jpg": `side` of the experiment; `pair` counts from 1.
std::string recorded_picture_name(std::size_t side, std::size_t pair);
std::string changed_picture_name(std::size_t side, std::size_t pair);

/// The pictures of one change.
struct ChangePictures {
  const SeenSide& changed;
  std::vector<PicturePair> pairs;
};

/// The end of advice.md: a link to view.html, if that was written, and a table for each change with
/// its pictures, which are files beside it.
std::string pictures_markdown(std::span<const ChangePictures> changes,
                              const AdvicePictures& pictures, bool has_view);

}  // namespace reprise
