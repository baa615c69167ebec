#pragma once

// The files on the command line of `reprise explain`, as views.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "analysis/contribution/explanation.h"
#include "analysis/spans/span.h"

namespace reprise {

struct ExplainInputs {
  std::vector<GivenView> views;
  std::vector<ExplanationFacts::Input> inputs;  ///< those with views: GivenView::input
  std::size_t in_view = 0;                      ///< those that `reprise view` shows
  std::vector<CallLoss> losses;
  SpanSet spans;                        ///< of all files of spans together
  std::vector<std::string> span_files;  ///< their names
};

/// Adds the views of one file: a result of `load -o`, an archive or a recording of another tool, a
/// HAR, lines of call trees (analysis/calls/CALLS.md), or beacons (analysis/beacons/BEACONS.md),
/// also compressed with gzip or zstd. Spans of servers (analysis/spans/SPANS.md) are kept for
/// place_spans(). Returns an exit code; its message has been printed.
int read_explain_input(const std::filesystem::path& path, ExplainInputs& inputs);

/// Once all inputs are read: joins the spans to the views, or makes views of them if there are
/// none.
void place_spans(ExplainInputs& inputs);

/// In us since the start of a view; from_us < to_us.
struct ViewPart {
  std::int64_t from_us = 0;
  std::int64_t to_us = CallTree::kWindowUsMax;
};

/// Leaves this part of each view, which keeps its whole time as load_us. Views that ended before it
/// are a loss.
void cut_views(const ViewPart& part, std::vector<GivenView>& views, std::vector<CallLoss>& losses);

}  // namespace reprise
