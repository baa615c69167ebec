#include "tools/why/server_traces.h"

#include <boost/json/parse.hpp>
#include <utility>

#include "analysis/sources/archive_traces.h"
#include "analysis/trench/trench_json.h"
#include "base/text/printable.h"

namespace reprise {

boost::json::object ServerTraces::skipped() const {
  return {{"too_large", too_large}, {"unreadable", unreadable}, {"missing", missing}};
}

ServerTraces server_traces(const ArchiveReader& archive, std::uint32_t session,
                           std::size_t bytes_max) {
  ServerTraces made;
  ArchiveTraces traces(archive);
  std::size_t bytes = 0;
  for (auto const ordinal : archive.ordinals_in_order()) {
    if (archive.entries()[ordinal].session != session) continue;
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) continue;
    auto const found = traces.of(*exchange);
    if (!found.trace) {
      made.unreadable += found.error.empty() ? 0 : 1;
      made.missing += found.is_missing ? 1 : 0;
      continue;
    }
    auto const text = as_utf8(trench_json(*found.trace));
    if (text.size() > bytes_max - bytes) {
      ++made.too_large;
      continue;
    }
    bytes += text.size();
    made.list.push_back(boost::json::object{{"url", as_utf8(url_of(exchange->request))},
                                            {"trace", boost::json::parse(text)}});
  }
  return made;
}

}  // namespace reprise
