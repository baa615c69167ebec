#pragma once

// Selects an answer that the client can use among those recorded for one key: a part of a file,
// "not modified" and a body coded with a dictionary are useless for a client that did not request
// them. Pure. archive/match/MATCHING.md, "Parts of a file", "Not modified" and "Dictionaries".

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "archive/reader.h"

namespace reprise {

/// The limit of recorded answers examined per key.
inline constexpr std::size_t kFormsMax = 4'096;

/// Whether its body is coded with a dictionary (RFC 9842: dcb, dcz).
bool needs_dictionary(const Exchange& exchange);
/// Whether a client with these fields has the dictionary that `exchange` needs: the same
/// Available-Dictionary.
bool has_dictionary(const Exchange& exchange, HeaderList asked);
/// Whether both are for the same Range, or for the whole.
bool has_same_range(const Exchange& exchange, HeaderList asked);
/// Whether `exchange` has a part of a file, or its beginning, and `asked` is not for that part.
bool is_other_part(const Exchange& exchange, HeaderList asked);
/// Why a client with these fields cannot use `exchange` as recorded; empty if it can.
std::string_view why_unfit(const Exchange& exchange, HeaderList asked);
inline bool fits(const Exchange& exchange, HeaderList asked) {
  return why_unfit(exchange, asked).empty();
}
/// Whether `exchange` fits every client.
bool fits_all(const Exchange& exchange);

/// Where find_form() looks first.
enum class FormSearch : std::uint8_t { kLaterFirst, kEarlierFirst };

/// Another complete exchange with the session and key of `ordinal` for which `wanted` returns true:
/// the nearest later one, otherwise the nearest earlier one, or the other way round.
std::optional<std::uint32_t> find_form(const ArchiveReader& archive, std::uint32_t ordinal,
                                       FormSearch search,
                                       const std::function<bool(const Exchange&)>& wanted);

}  // namespace reprise
