#pragma once

// `reprise record --urls FILE -o DIR`: many pages, an archive each.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/load/load_run.h"

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

/// Records each page by a `record` of its own, loads it once from the archive, and judges it.
/// FOLDER/NAME.reprise stands there only once that is done; FOLDER/corpus.json is rewritten after
/// each page, and what it calls recorded is not recorded again. Says on stderr what it is at; a
/// table goes to stdout. Returns the exit code: done; failed when a page has no archive; gate when
/// all have one but something speaks against some; usage; 128 and its number for a signal.
int record_corpus(const CorpusOptions& options);

}  // namespace reprise
