#include "tools/explain/explain_inputs.h"

#include <algorithm>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/calls/call_lines.h"
#include "analysis/calls/interval.h"
#include "analysis/sources/archive_calls.h"
#include "analysis/sources/har_calls.h"
#include "analysis/sources/load_calls.h"
#include "analysis/sources/span_input.h"
#include "analysis/sources/trace_calls.h"
#include "analysis/spans/join.h"
#include "analysis/spans/span_file.h"
#include "analysis/spans/span_forest.h"
#include "archive/import/import.h"
#include "archive/import/source/json_reader.h"
#include "archive/import/source/opened_file.h"
#include "archive/record.h"
#include "base/text/counted.h"
#include "base/text/white_space.h"
#include "pageload/results/result_file.h"
#include "pageload/results/trace_path.h"
#include "tools/archive/given_archive.h"
#include "tools/archive/open.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using importing::ByteReader;

int say(const fs::path& path, const std::string& wrong) {
  std::fprintf(stderr, "reprise: %s: %s\n", path.c_str(), wrong.c_str());
  return kExitFailed;
}

/// Whether the text begins as a JSON object with this member, before any member of 64 KiB.
bool has_member(std::string_view start, std::string_view wanted) {
  importing::MemoryInput input(start);
  importing::InputSource source(input, 0, start.size(), nullptr);
  ByteReader reader(source);
  importing::JsonReader json(reader);
  if (json.peek() != importing::JsonKind::kObject || !json.enter_object()) return false;
  for (std::string name; json.next_member(name); json.skip()) {
    if (name == wanted) return true;
  }
  return false;
}

/// Whether the text begins as OTLP/JSON, or as a span of Zipkin, a list of them or of such lists.
bool is_of_spans(std::string_view start) {
  start = trim(without_byte_order_mark(start));
  while (start.starts_with('[')) start = trim(start.substr(1));
  return has_member(start, "resourceSpans") || has_member(start, "traceId");
}

class InputReader {
 public:
  InputReader(const fs::path& path, ExplainInputs& inputs) : path_(path), inputs_(inputs) {}

  int run() {
    auto file = importing::OpenedFile::open(path_);
    if (!file) return say(path_, file.error());
    if (check_file_header(file->bytes().first(std::min(file->bytes().size(), kFileHeaderBytes)))) {
      return read_archive(path_);
    }
    auto const start = file->start();
    auto first_line = trim(start);
    first_line = first_line.substr(0, first_line.find('\n'));
    // Before recordings: a beacon of our script has "requests", as one of Web Page Replay has.
    if (has_member(first_line, "beacon")) return read_beacons(*file);
    auto const kind = importing::recognise(start);
    if (kind == importing::RecordingKind::kHar) return read_har(*file);
    if (kind != importing::RecordingKind::kUnknown) return read_recording();
    if (has_member(first_line, "calls")) return read_lines(*file);
    if (is_of_spans(start)) return take_spans(*file);
    if (has_member(start, "schema") || has_member(start, "loads")) return read_result();
    return read_beacons(*file);
  }

 private:
  void add(CallTree tree, std::size_t load) {
    inputs_.views.push_back(
        {.input = inputs_.inputs.size(), .load = load, .tree = std::move(tree)});
    ++views_;
  }
  /// How `reprise view` shows an input.
  enum class InView : std::uint8_t { kNot, kAsOneLoad, kWithTheseLoads };
  int finish(std::string_view nothing, InView in_view = InView::kNot) {
    if (views_ == 0) return say(path_, std::string(nothing));
    auto& input = inputs_.inputs.emplace_back();
    input.name = path_.filename().string();
    input.views = views_;
    if (in_view != InView::kNot) ++inputs_.in_view;
    if (in_view == InView::kWithTheseLoads) input.in_view = inputs_.in_view;
    return kExitDone;
  }

  int read_result() {
    auto const result = read_result_file(path_);
    if (!result) return say(path_, "not a result of `load -o`: " + result.error());
    for (auto& [load, tree] : calls_of(*result, inputs_.losses)) {
      PageLoad const& page = result->loads[load].page;
      if (!page.trace.empty()) add_trace_of(page, tree);
      add(std::move(tree), load + 1);
    }
    return finish("has no load that counts", InView::kWithTheseLoads);
  }

  void add_trace_of(const PageLoad& page, CallTree& tree) {
    auto const trace = trace_path(page, path_);
    auto const added = add_trace_file(trace, urls_in_trace(page), tree);
    if (added) return;
    say(trace, added.error() + "; its load has no main thread here");
    tree.lose("traces that could not be read");
  }

  int read_archive(const fs::path& path) {
    auto const archive = open_with_remarks(path);
    return archive ? take_archive(*archive) : kExitArchive;
  }
  int take_archive(const OpenArchive& archive) {
    for (auto& [place, tree] : calls_of(*archive.reader, inputs_.losses)) {
      add(std::move(tree), place + 1);
    }
    return finish("has no exchange with recorded times", InView::kWithTheseLoads);
  }
  int read_recording() {
    auto given = GivenArchive::take(path_);
    if (!given) return given.error();
    auto const archive = open_with_remarks(given->path());
    given->remove_copy();
    return archive ? take_archive(*archive) : kExitArchive;
  }

  int read_har(importing::OpenedFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    auto trees = read_har_calls(reader);
    if (!trees) return say(path_, trees.error());
    std::size_t page = 0;
    for (CallTree& tree : *trees) add(std::move(tree), ++page);
    return finish("", page == 1 ? InView::kWithTheseLoads : InView::kAsOneLoad);
  }

  int read_lines(importing::OpenedFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    std::size_t number = 0;
    std::size_t bad = 0;
    for (std::string line; ++number, line.clear(), reader.line(line, kCallLineBytesMax);) {
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      if (auto tree = read_call_line(line)) {
        add(std::move(*tree), number);
      } else if (++bad == 1) {
        say(path_, "line " + std::to_string(number) + " skipped: " + tree.error());
      }
    }
    if (reader.failed()) return say(path_, reader.fault()->what);
    if (bad > 1) say(path_, counted(bad, "line") + " skipped in all");
    if (bad > 0) inputs_.losses.push_back({.what = "lines that are not calls", .count = bad});
    return finish("has no line of calls");
  }

  int read_beacons(importing::OpenedFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    BeaconLines lines([this](const BeaconView& view, std::uint64_t line) {
      add(tree_of(view), static_cast<std::size_t>(line));
    });
    for (std::string_view bytes; !(bytes = reader.some()).empty();) {
      auto const space = lines.space();
      auto const size = std::min(space.size(), bytes.size());
      std::ranges::copy(bytes.substr(0, size), space.begin());
      reader.consume(size);
      lines.written(size);
    }
    if (reader.failed()) return say(path_, reader.fault()->what);
    lines.finish();
    auto const& counts = lines.counts();
    auto const first_bad =
        "line " + std::to_string(counts.first_bad_line) + ": " + counts.first_bad_why;
    if (views_ == 0 && counts.bad_lines > 0) {
      return say(path_,
                 "neither a result of `load -o`, an archive, a HAR, lines of calls, spans, "
                 "nor beacons: " +
                     first_bad);
    }
    if (counts.bad_lines > 0) {
      say(path_, counted(counts.bad_lines, "line") + " skipped; the first is " + first_bad);
      inputs_.losses.push_back({.what = "lines that are not beacons", .count = counts.bad_lines});
    }
    if (counts.other_beacons > 0) {
      inputs_.losses.push_back(
          {.what = "beacons that are not of a view", .count = counts.other_beacons});
    }
    return finish("has no beacon of a view");
  }

  int take_spans(importing::OpenedFile& file) {
    auto const source = file.source();
    auto set = read_spans(*source);
    if (!set) return say(path_, set.error());
    inputs_.spans.add(std::move(*set));
    inputs_.span_files.push_back(path_.filename().string());
    return kExitDone;
  }

  const fs::path& path_;
  ExplainInputs& inputs_;
  std::size_t views_ = 0;
};

}  // namespace

int read_explain_input(const fs::path& path, ExplainInputs& inputs) {
  return InputReader(path, inputs).run();
}

void place_spans(ExplainInputs& inputs) {
  if (inputs.span_files.empty()) return;
  if (!inputs.views.empty()) {
    std::vector<CallTree*> trees;
    for (GivenView& view : inputs.views) trees.push_back(&view.tree);
    for (const CallLoss& loss : join_spans(trees, inputs.spans)) {
      add_loss(inputs.losses, loss.what, loss.count);
    }
    return;
  }
  for (const CallLoss& loss : inputs.spans.losses) add_loss(inputs.losses, loss.what, loss.count);
  for (CallTree& tree : trees_of(inputs.spans, inputs.losses)) {
    inputs.views.push_back({.load = inputs.views.size() + 1, .tree = std::move(tree)});
  }
  auto name = inputs.span_files.front();
  if (inputs.span_files.size() > 1) {
    name += " and " + counted(inputs.span_files.size() - 1, "other file");
  }
  inputs.inputs.push_back({.name = std::move(name), .views = inputs.views.size()});
}

void cut_views(const ViewPart& part, std::vector<GivenView>& views, std::vector<CallLoss>& losses) {
  auto const ended = std::erase_if(views, [&part](const GivenView& view) {
    return part.from_us > 0 && view.tree.window_us <= part.from_us;
  });
  if (ended > 0) add_loss(losses, "views that ended before --from, skipped", ended);
  for (GivenView& view : views) {
    view.load_us = view.tree.window_us;
    view.tree = within(view.tree, part.from_us, part.to_us);
  }
}

}  // namespace reprise
