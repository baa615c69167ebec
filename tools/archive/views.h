#pragma once

// The views of `reprise archive`, each as text for users and as JSON. Data goes to stdout, remarks
// to stderr. All return an exit code.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <vector>

#include "archive/edit/filter.h"
#include "tools/archive/open.h"

namespace reprise {

/// `ls`: one line per exchange that `filter` selects; as JSON one array, one element per line.
int list_exchanges(const OpenArchive& archive, const Filter& filter, bool json);

/// `ls` of a folder: the exchanges of its archives (*.reprise), from its index (corpus_index.h). An
/// archive that cannot be read is reported, and the others are listed.
int list_corpus(const std::filesystem::path& folder, const Filter& filter, bool json);

/// `show`: all data of exchange `number`, counted from 1 as in `ls`.
int show_exchange(const OpenArchive& archive, std::size_t number, bool json);

struct CatOptions {
  bool of_request = false;
  bool decoded = false;
  bool head = false;      ///< of the response, in the form of `edit --headers`
  bool messages = false;  ///< of a WebSocket, one line of JSON each
};
/// `cat`: the body of the response or of the request, exactly as stored or decoded. Its digest is
/// checked before the first byte is written.
int cat_part(const OpenArchive& archive, std::size_t number, const CatOptions& options);

/// `stats`: amounts of the archive's contents.
int print_statistics(const OpenArchive& archive, bool json);

/// `stats` of archives, folders of archives (*.reprise) and partial results together. What cannot
/// be read is reported, and the rest printed.
int print_sums(const std::vector<std::filesystem::path>& inputs, bool json);

/// `stats --partial` of the same, or of those that standard input names, one per line: lines of
/// sums to standard output, and counters to standard error (tools/partials/engine_lines.h). Returns
/// 0; kExitHopelessData if every archive is unusable, which `stats` otherwise counts; or
/// kExitTryAgain if something could not be read or written, with nothing on standard output.
int write_partial_statistics(const std::vector<std::filesystem::path>& inputs);

/// `verify`: one line per problem. Exit code 0 if everything readable is undamaged.
int verify_archive(const OpenArchive& archive, bool json);

struct NumberedExchange {
  std::uint32_t ordinal = 0;  ///< in the reader's entries
  Exchange exchange;
};
/// The exchange with this number in `ls`. The error is an exit code; its message has been printed.
std::expected<NumberedExchange, int> exchange_at(const OpenArchive& archive, std::size_t number);

/// Prints on stderr that an exchange cannot be read, and the remedy.
void report_damaged(const OpenArchive& archive, std::size_t number);

}  // namespace reprise
