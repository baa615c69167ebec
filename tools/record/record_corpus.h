#pragma once

// `reprise record --urls FILE -o DIR`: many pages, an archive each.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "pageload/run/load_run.h"

namespace reprise {

struct CorpusOptions {
  std::filesystem::path list;    ///< a URL a line, see corpus_list.h
  std::filesystem::path folder;  ///< made when it is not there
  unsigned retries = 2;          ///< after a first attempt that got no page
  std::string browser = "chromium";
  std::chrono::seconds timeout{30};           ///< of a page
  std::vector<std::string> record_arguments;  ///< further options of each `record`
  LoadSetup check;                            ///< of the load that judges an archive, but for it
};

/// Records each page with a separate `record`, loads it once from the archive, and checks it.
/// FOLDER/NAME.reprise exists only once that is done; FOLDER/corpus.json is rewritten after each
/// page, and pages that it lists as recorded are not recorded again. Prints progress on stderr and
/// a table on stdout. Returns the exit code: done; failed if a page has no archive; gate if all
/// have one but some have warnings; usage; 128 plus its number for a signal.
int record_corpus(const CorpusOptions& options);

}  // namespace reprise
