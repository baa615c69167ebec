#pragma once

#include <optional>
#include <string_view>

#include "archive/match/match.h"

namespace reprise {

/// How the first GET of that target of example.org, on the default port, would be answered.
inline MatchKind decided_kind(const ArchiveReader& reader, const Matcher& matcher, Scheme scheme,
                              std::string_view target) {
  SequenceCursors cursors(reader.entries().size());
  std::optional<Exchange> held;
  auto const request_of = [&](std::uint32_t ordinal) -> const StoredRequest* {
    held = reader.exchange(ordinal).value();
    return &held->request;
  };
  AskedRequest const asked{.key = {.method = "GET",
                                   .scheme = scheme,
                                   .host = "example.org",
                                   .port = default_port(scheme),
                                   .target = target},
                           .headers = {}};
  return matcher.decide(asked, cursors, request_of).kind;
}

}  // namespace reprise
