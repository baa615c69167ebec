#include "tools/why/server_traces.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <utility>

#include "analysis/sources/archive_traces.h"
#include "analysis/trench/trench_json.h"
#include "base/text/printable.h"

namespace reprise {

boost::json::array server_traces(const ArchiveReader& archive, std::uint32_t session) {
  boost::json::array made;
  ArchiveTraces traces(archive);
  std::size_t bytes = 0;
  for (auto const ordinal : archive.ordinals_in_order()) {
    if (archive.entries()[ordinal].session != session) continue;
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) continue;
    auto const found = traces.of(*exchange);
    if (!found.trace) continue;
    auto const text = as_utf8(trench_json(*found.trace));
    bytes += text.size();
    if (bytes > kServerTraceBytesMax) break;
    made.push_back(boost::json::object{{"url", as_utf8(url_of(exchange->request))},
                                       {"trace", boost::json::parse(text)}});
  }
  return made;
}

}  // namespace reprise
