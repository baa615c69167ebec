#pragma once

// Of the answers that were recorded for one key, which a client can make something of: a part of a
// file, "not modified" and a body that is coded with a dictionary are of no use to who did not ask
// for them. Pure. archive/match/MATCHING.md, "Parts of a file", "Not modified" and "Dictionaries".

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "archive/reader.h"

namespace reprise {

/// How many recorded answers to one key are looked at.
inline constexpr std::size_t kFormsMax = 4'096;

/// Whether its body is coded with a dictionary (RFC 9842: dcb, dcz).
bool needs_dictionary(const Exchange& exchange);
/// Whether a client with these fields has the dictionary that `exchange` needs: the same
/// Available-Dictionary.
bool has_dictionary(const Exchange& exchange, HeaderList asked);
/// Whether `exchange` brought a part of a file, or the beginning of one, and `asked` is not for
/// that part.
bool is_other_part(const Exchange& exchange, HeaderList asked);
/// Why a client with these fields can make nothing of `exchange` as it was recorded; empty where it
/// can.
std::string_view why_unfit(const Exchange& exchange, HeaderList asked);
inline bool fits(const Exchange& exchange, HeaderList asked) {
  return why_unfit(exchange, asked).empty();
}
/// Whether `exchange` fits whoever asks for it.
bool fits_all(const Exchange& exchange);

/// The first exchange that is complete, of the session and key of `ordinal`, and wanted.
std::optional<std::uint32_t> find_form(const ArchiveReader& archive, std::uint32_t ordinal,
                                       const std::function<bool(const Exchange&)>& wanted);

}  // namespace reprise
