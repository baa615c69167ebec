#pragma once

// One side of an experiment: the arguments of `reprise load`, in one text.

#include <expected>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/load_groups.h"
#include "tools/archive/given_archive.h"
#include "tools/load/load_options.h"
#include "tools/load/load_start.h"
#include "tools/load/said_once.h"

namespace reprise {

class ExperimentSide {
 public:
  /// `text` as load takes it, such as "page.reprise https://a.test/ --link wpt:4g".
  static std::expected<ExperimentSide, CommandRefusal> parse(const std::string& text);
  /// The same, already in words.
  static std::expected<ExperimentSide, CommandRefusal> of_words(std::vector<std::string> words);

  /// The files of its loads are named so from now on, "NAME-load-0001": several sides can write
  /// their traces to one folder.
  void name_files(std::string_view name) { file_prefix_ = std::string(name) + "-"; }
  bool has_file_name() const { return !file_prefix_.empty(); }
  /// What its replays say is said once by all sides that have the same `said`.
  void say_by(std::shared_ptr<SaidOnce> said) { said_ = std::move(said); }

  /// Loads every page once, in each configuration. Prints the replay's messages and failures.
  /// False if nothing can be measured: the archive is unusable, or the user interrupted.
  bool load(std::size_t run);
  /// The exit code of what made load() false.
  int exit_code() const { return exit_code_; }
  /// What the replay of the last load told people, lines; can be empty.
  const std::string& messages() const { return messages_; }

  /// What its what-ifs change, and the archive that is served.
  const WhatIfArchive& what_if() const { return what_if_; }
  const WhatIfOptions& what_if_options() const { return what_if_options_; }
  const std::vector<whatif::Effect>& effects() const { return what_if_.effects(); }

  const LoadResult& result() const { return result_; }
  LoadResult& result() { return result_; }
  const std::vector<LoadCell>& cells() const { return cells_; }
  /// As recorded.
  const std::filesystem::path& archive() const { return archive_.path(); }

 private:
  ExperimentSide(GivenArchive archive, WhatIfArchive what_if)
      : archive_(std::move(archive)), what_if_(std::move(what_if)) {}

  GivenArchive archive_;
  WhatIfArchive what_if_;
  WhatIfOptions what_if_options_;
  std::vector<LoadCell> cells_;
  LoadSetup setup_;
  LoadResult result_;
  std::shared_ptr<SaidOnce> said_ = std::make_shared<SaidOnce>();
  std::string file_prefix_;
  int exit_code_ = 0;
  std::string messages_;
};

/// Reads arguments of `reprise load`, also the browser's after `--`, into `options`. The error is a
/// sentence.
std::optional<std::string> parse_load_words(std::vector<std::string> words, LoadOptions& options);

/// What the user has written differently of A and B, which therefore is the question.
std::set<Mismatch> stated_differences(const ExperimentSide& a, const ExperimentSide& b);

}  // namespace reprise
