#pragma once

// What `reprise archive` prints, each view as text for people and as JSON. Data goes to stdout,
// remarks to stderr. All return an exit code.

#include <cstddef>
#include <cstdint>
#include <expected>

#include "archive/edit/filter.h"
#include "tools/archive/open.h"

namespace reprise {

/// `ls`: a line an exchange that `filter` takes; as JSON one array, an element a line.
int list_exchanges(const OpenArchive& archive, const Filter& filter, bool json);

/// `show`: all about exchange `number`, counted from 1 as `ls` does.
int show_exchange(const OpenArchive& archive, std::size_t number, bool json);

struct CatOptions {
  bool of_request = false;
  bool decoded = false;
  bool head = false;      ///< of the response, as `edit --headers` takes it
  bool messages = false;  ///< of a WebSocket, a line of JSON each
};
/// `cat`: the bytes of the response's body, or of the request's, exactly as stored or without their
/// content codings. They are checked against their digest before the first one is written.
int cat_part(const OpenArchive& archive, std::size_t number, const CatOptions& options);

/// `stats`: how much of what the archive holds.
int print_statistics(const OpenArchive& archive, bool json);

/// `verify`: a line a problem. Exit code 0 when all that can be read is whole.
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
