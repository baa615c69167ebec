#pragma once

// CORS preflights that were not recorded: allowed is what the recorded answer to the actual request
// allows. Pure. Source: https://fetch.spec.whatwg.org/#cors-preflight-fetch

#include <expected>
#include <string>

#include "archive/match/request.h"
#include "archive/reader.h"
#include "proxy/replay/made_up.h"

namespace reprise {

/// Whether `asked` is a preflight.
bool is_preflight(const AskedRequest& asked);

/// Whether the recorded preflight `recorded` answers the preflight `asked`: it has the same
/// same_cors_fields(), or its response allows the origin, method and fields.
bool answers_preflight(const Exchange& recorded, const AskedRequest& asked);

/// The limit of exchanges visited on its path to find the one that a preflight precedes.
inline constexpr std::size_t kPreflightVisitsMax = 1024;

/// The answer to the preflight `asked`, from the exchange of `session` that it precedes: with the
/// requested method and the same scheme, host, port and path; of several, one whose response allows
/// its origin, then one with the same query. Its method and fields are allowed if that response
/// allows its origin. The error is the reason, a phrase.
std::expected<MadeUp, std::string> answer_preflight(const ArchiveReader& archive,
                                                    std::uint32_t session,
                                                    const AskedRequest& asked);

}  // namespace reprise
