#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/dependency/dependency_json.h"
#include "analysis/measurements.h"
#include "analysis/sources/load_calls.h"
#include "archive/record.h"
#include "base/http/digest.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "pageload/results/result_file.h"
#include "pageload/results/trace_path.h"
#include "tools/archive/given_archive.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/predict/tested_file.h"
#include "tools/process/command_line.h"
#include "tools/process/say.h"
#include "tools/view/input_names.h"
#include "view/inputs.h"
#include "view/page.h"
#include "view/page_link.h"
#include "view/redaction.h"
#include "view/verdict.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct ViewOptions {
  std::vector<fs::path> inputs;
  fs::path output;
  fs::path explanation;
  std::string heads = "redacted";
};

int say_wrong(const fs::path& path, const std::string& wrong, int exit_code) {
  std::fprintf(stderr, "reprise: %s: %s\n", path.c_str(), wrong.c_str());
  return exit_code;
}

bool begins_as_archive(std::istream& file) {
  std::array<std::byte, kFileHeaderBytes> head{};
  file.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
  auto const checked = check_file_header(head);
  file.clear();
  file.seekg(0);
  return checked || checked.error() != archive_errc::not_an_archive;
}

/// An input, read but not yet in the model: a result, or an archive.
struct ViewInput {
  fs::path path;
  std::string name;
  std::optional<LoadResult> result;
  std::unique_ptr<OpenArchive> archive;
  std::vector<DependencyGraph> graphs;  ///< of pages of the archive
};

/// What `predict --perturb` has found about an archive that was given as `path` and is open as
/// `opened`.
std::vector<DependencyGraph> tested_graphs(const fs::path& path, const fs::path& opened) {
  TestedFile const file(path);
  if (!file.exists()) return {};
  auto pages = file.pages(sha256_hex_of_file(opened).value_or(""));
  if (!pages) {
    say(kExitDone, pages.error());
    return {};
  }
  std::vector<DependencyGraph> graphs;
  for (TestedPage& page : *pages) graphs.push_back(std::move(page.graph));
  return graphs;
}

std::expected<ViewInput, int> read_input(const fs::path& path, std::string name) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  bool const is_file = file && fs::is_regular_file(path, error);
  if (!is_file && !GivenArchive::is_imported(path)) {
    return std::unexpected(
        say_wrong(path, "cannot be read; give an archive or a result of `load -o`", kExitFailed));
  }
  auto given = GivenArchive::take(path);
  if (!given) return std::unexpected(given.error());
  ViewInput input{.path = path, .name = std::move(name)};
  bool const imported = given->path() != path;
  if (!imported && !begins_as_archive(file)) {
    auto result = read_result_file(path);
    if (!result) {
      return std::unexpected(say_wrong(
          path, "neither an archive nor a result of load: " + result.error(), kExitFailed));
    }
    input.result = std::move(*result);
    return input;
  }
  auto archive = open_with_remarks(given->path());
  if (archive) input.graphs = tested_graphs(path, given->path());
  given->remove_copy();
  if (!archive) return std::unexpected(kExitArchive);
  input.archive = std::make_unique<OpenArchive>(std::move(*archive));
  return input;
}

/// With the working folder before relative ones.
std::vector<fs::path> whole_paths(const std::vector<fs::path>& paths) {
  std::vector<fs::path> whole;
  for (const fs::path& path : paths) {
    std::error_code error;
    auto const absolute = fs::absolute(path, error);
    whole.push_back(without_slash((error ? path : absolute).lexically_normal()));
  }
  return whole;
}

/// What the trace of a load shows, if `load --trace` wrote one.
std::optional<TraceVisuals> visuals_of(const PageLoad& page, const fs::path& result) {
  if (page.trace.empty()) return std::nullopt;
  auto const path = trace_path(page, result);
  auto visuals = trace_visuals_of(path, urls_in_trace(page));
  if (visuals) return std::move(*visuals);
  say_wrong(path, "its frames are not shown: " + visuals.error(), kExitDone);
  return std::nullopt;
}

/// What the requests of a result wait for, if `predict -o` or `advise -o` wrote it beside it.
std::optional<DependencyGraph> graph_of(const ViewInput& input) {
  auto const path = input.path.parent_path() / "dependency.json";
  std::error_code error;
  if (!input.result || !fs::is_regular_file(path, error)) return std::nullopt;
  auto const text = read_text_file(path, kDependencyBytesMax);
  auto graph =
      text ? read_dependency_graph(*text) : std::unexpected(std::string(text.error().message()));
  if (!graph) {
    say_wrong(path, "its dependencies are not shown: " + graph.error(), kExitDone);
    return std::nullopt;
  }
  auto const is_of = [&graph](const LoadResult::Load& load) {
    return load.page.final_url == graph->page || load.page.url == graph->page;
  };
  return std::ranges::any_of(input.result->loads, is_of) ? std::optional(std::move(*graph))
                                                         : std::nullopt;
}

/// Learns the secrets of all inputs, so that each is hidden in every one of them.
Result<void> learn(const std::vector<ViewInput>& inputs, Redaction& redaction) {
  Result<void> done;
  for (const ViewInput& input : inputs) {
    if (input.archive && done) done = redaction.learn(*input.archive->reader);
    if (input.result && done) done = learn_secrets(*input.result, redaction);
  }
  return done;
}

fs::path output_of(const ViewOptions& options) {
  return options.output.empty() ? without_slash(options.inputs.front()).concat(".html")
                                : options.output;
}

int write_page(const ViewOptions& options, ViewModel model) {
  auto const output = output_of(options);
  auto const told = counted(model.loads(), "load") + ", " + counted(model.requests(), "request");
  if (model.requests_left_out() > 0) {
    std::fprintf(stderr, "reprise: %s not shown: a page shows at most %zu\n",
                 counted(model.requests_left_out(), "request is", "requests are").c_str(),
                 ViewLimits().requests);
  }
  if (!options.explanation.empty()) {
    model.link_explanation(link_between(output, options.explanation));
  }
  auto const page = view_page(std::move(model).text());
  if (auto const written = write_private_file(page, output); !written) {
    return say_wrong(output, "cannot be written: " + written.error().message(), kExitFailed);
  }
  if (output != "-") {
    std::fprintf(stderr, "wrote %s: %s, %.1f MB\n", output.c_str(), told.c_str(),
                 static_cast<double>(page.size()) / 1e6);
  }
  return kExitDone;
}

/// What the verdict.json of a gate says of its a.json and b.json. Nothing: it is not beside them,
/// or of other results.
std::optional<boost::json::object> gate_verdict_beside(const ViewInput& a, const ViewInput& b) {
  constexpr std::uintmax_t kVerdictBytesMax = std::uintmax_t{64} << 20;
  auto const paths = whole_paths({a.path, b.path});
  auto const folder = paths[0].parent_path();
  if (paths[0] != folder / "a.json" || paths[1] != folder / "b.json") return std::nullopt;
  auto const text = read_text_file(folder / "verdict.json", kVerdictBytesMax);
  return text ? gate_verdict_json(*text, *a.result, *b.result) : std::nullopt;
}

/// The verdict about two results, if these are all inputs: that of the gate that made them, or else
/// what `reprise compare` says.
void add_verdict(const std::vector<ViewInput>& inputs, ViewModel& model) {
  if (inputs.size() != 2 || !inputs[0].result || !inputs[1].result) return;
  if (auto const verdict = gate_verdict_beside(inputs[0], inputs[1])) {
    return model.add_comparison(*verdict);
  }
  auto const a = measurements_of(*inputs[0].result);
  auto const b = measurements_of(*inputs[1].result);
  // A result without what a comparison needs can still be shown.
  if (a && b) model.add_comparison(verdict_json(compare_as_chosen(*a, *b)));
}

int view(const ViewOptions& options) {
  if (!are_different_files("FILE", options.inputs, {{"-o", output_of(options)}})) {
    return kExitUsage;
  }
  std::vector<ViewInput> inputs;
  auto const names = input_names(whole_paths(options.inputs));
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto input = read_input(options.inputs[i], names[i]);
    if (!input) return input.error();
    inputs.push_back(std::move(*input));
  }
  Redaction redaction;
  bool const redacted = options.heads != "full";
  if (auto const learnt = redacted ? learn(inputs, redaction) : Result<void>(); !learnt) {
    return say_wrong(options.inputs.front(), "its secrets are too many to be hidden", kExitFailed);
  }
  ViewModel model(redacted ? &redaction : nullptr);
  if (options.heads == "none") model.leave_out_heads();
  for (const ViewInput& input : inputs) {
    if (input.archive) add_archive(*input.archive->reader, input.name, model, input.graphs);
    if (!input.result) continue;
    auto const graph = graph_of(input);
    model.use_dependencies(graph ? &*graph : nullptr);
    add_result(*input.result, input.name, model,
               [&input](const PageLoad& page) { return visuals_of(page, input.path); });
    model.use_dependencies(nullptr);
  }
  add_verdict(inputs, model);
  return write_page(options, std::move(model));
}

}  // namespace

void add_view_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<ViewOptions>();
  auto* const sub = add_command(
      app, "view",
      "Make an HTML page from loads or recordings: reprise view FILE... [-o page.html]");
  sub->add_option("FILE", options->inputs,
                  "Archives, recordings of other tools, and results of `load -o`")
      ->required();
  sub->add_option(
      "-o,--output", options->output,
      "Write the page here; - writes to standard output [first FILE with .html appended]");
  sub->add_option("--explain", options->explanation,
                  "Link to this page of `reprise explain`, written with the same files");
  sub->add_option(
         "--heads", options->heads,
         "Show the heads of recorded messages: none; redacted, without cookies, credentials "
         "and tokens, here and in URLs; or full, with them [redacted]")
      ->check(CLI::IsMember({"none", "redacted", "full"}));
  sub->callback([options, &exit_code] { exit_code = view(*options); });
}

}  // namespace reprise
