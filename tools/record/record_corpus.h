#pragma once

// `reprise record --urls FILE -o DIR`: many pages, one archive each.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "pageload/run/load_run.h"

namespace reprise {

struct CorpusOptions {
  std::filesystem::path list;    ///< one URL per line, see corpus_list.h
  std::filesystem::path folder;  ///< created if it does not exist
  unsigned retries = 2;          ///< after a first attempt without a page
  std::string browser = "chromium";
  std::chrono::seconds timeout{30};           ///< per page
  std::vector<std::string> record_arguments;  ///< more options for each `record`
  LoadSetup check;  ///< of the load that checks an archive, except for the archive
};

/// Records each page with a separate `record`, loads it once from the archive, and checks it.
/// FOLDER/NAME.reprise exists only once that is done; FOLDER/corpus.json is rewritten after each
/// page, and pages that it lists as recorded are not recorded again. Prints progress on stderr and
/// a table on stdout. Returns the exit code: done; failed if a page has no archive; gate if all
/// have one but some have warnings; usage; 128 plus its number for a signal.
int record_corpus(const CorpusOptions& options);

}  // namespace reprise
