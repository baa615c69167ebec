#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "archive/record.h"
#include "base/system/private_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/archive/given_archive.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "view/inputs.h"
#include "view/page.h"
#include "view/page_link.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct ViewOptions {
  std::vector<fs::path> inputs;
  fs::path output;
  fs::path explanation;
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

int add_result_file(const fs::path& path, ViewModel& model) {
  auto const result = read_result_file(path);
  if (!result) {
    return say_wrong(path, "neither an archive nor a result of load: " + result.error(),
                     kExitFailed);
  }
  add_result(*result, as_utf8(path.filename().native()), model);
  return kExitDone;
}

int read_input(const fs::path& path, ViewModel& model) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || !fs::is_regular_file(path, error)) {
    return say_wrong(path, "cannot be read; give an archive or a result of `load -o`", kExitFailed);
  }
  auto given = GivenArchive::take(path);
  if (!given) return given.error();
  bool const imported = given->path() != path;
  if (!imported && !begins_as_archive(file)) return add_result_file(path, model);
  auto const archive = open_with_remarks(given->path());
  given->remove_copy();
  if (!archive) return kExitArchive;
  add_archive(*archive->reader, path.filename().native(), model);
  return kExitDone;
}

int view(const ViewOptions& options) {
  ViewModel model;
  for (const fs::path& input : options.inputs) {
    if (auto const exit_code = read_input(input, model); exit_code != kExitDone) return exit_code;
  }
  auto const output =
      options.output.empty() ? fs::path(options.inputs.front().string() + ".html") : options.output;
  auto const told = counted(model.loads(), "load") + ", " + counted(model.requests(), "request");
  if (model.requests_left_out() > 0) {
    std::fprintf(stderr, "reprise: %s not shown: a page shows at most %zu\n",
                 counted(model.requests_left_out(), "request is", "requests are").c_str(),
                 ViewModel::kRequestsMax);
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

}  // namespace

void add_view_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<ViewOptions>();
  auto* const sub = app.add_subcommand(
      "view", "Make an HTML page from loads or recordings: reprise view FILE... [-o page.html]");
  sub->add_option("FILE", options->inputs, "Archives and results of `load -o`")->required();
  sub->add_option(
      "-o,--output", options->output,
      "Write the page here; - writes to standard output [first FILE with .html appended]");
  sub->add_option("--explain", options->explanation,
                  "Link to this page of `reprise explain`, written with the same files");
  sub->callback([options, &exit_code] { exit_code = view(*options); });
}

}  // namespace reprise
