#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

#include "analysis/measurements.h"
#include "base/system/json_file.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/compare/comparison_text.h"
#include "tools/compare/folder_comparison.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

struct Files {
  std::filesystem::path a, b;
};

int run_compare(const Files& files, const CompareFlags& flags) {
  auto const options = compare_options(flags);
  if (!options) {
    std::fprintf(stderr, "reprise: compare: %s\n", options.error().c_str());
    return kExitUsage;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(files.a, ignored) &&
      std::filesystem::is_directory(files.b, ignored)) {
    if (flags.markdown || !flags.junit.empty()) {
      std::fputs("reprise: compare: --markdown and --junit are for two results, not for folders\n",
                 stderr);
      return kExitUsage;
    }
    return compare_folders(files.a, files.b, *options, flags);
  }
  if (!are_different_files("a result", {files.a, files.b}, {{"--junit", flags.junit}})) {
    return kExitUsage;
  }
  if (!remove_stale_file(flags.junit, "--junit")) return kExitFailed;
  Measurements sides[2];
  for (auto const& [path, side] : {std::pair{&files.a, &sides[0]}, {&files.b, &sides[1]}}) {
    auto read = read_measurements(*path);
    if (!read) {
      auto const why = path->string() + " is not a result of `reprise load -o`: " + read.error();
      std::fprintf(stderr, "reprise: %s\n", why.c_str());
      write_junit_error(why, flags);
      return kExitFailed;
    }
    *side = std::move(*read);
  }
  auto comparison = compare(sides[0], sides[1], *options);
  std::ranges::copy(setting_remarks(sides[0], sides[1]), std::back_inserter(comparison.remarks));
  tell_comparison(comparison, *options, flags);
  if (!write_junit(comparison, *options, flags)) return kExitFailed;
  return exit_code_of(comparison, flags);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  auto const files = std::make_shared<Files>();
  auto const flags = std::make_shared<CompareFlags>();
  auto* const sub =
      add_command(app, "compare", "Compare two results of load -o: is B slower than A?");
  sub->add_option("A", files->a, "Result A, to compare with; or a folder of results")->required();
  sub->add_option("B", files->b, "Result B, in question; or a folder of results by the same names")
      ->required();
  add_compare_flags(*sub, *flags);
  add_verdict_flags(*sub, *flags);
  sub->callback([files, flags, &exit_code] { exit_code = run_compare(*files, *flags); });
}

}  // namespace reprise
