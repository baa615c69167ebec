#include "tools/dns/dns_report.h"

#include "base/text/counted.h"

namespace reprise {
namespace {

std::string type_name(std::uint16_t type) {
  switch (static_cast<dns::Type>(type)) {
    case dns::Type::kA:
      return "A";
    case dns::Type::kAaaa:
      return "AAAA";
    case dns::Type::kHttps:
      return "HTTPS";
    default:
      return "TYPE" + std::to_string(type);  // as RFC 3597 writes types
  }
}

}  // namespace

boost::json::object dns_report_json(const dns::Responder::Counts& counts) {
  boost::json::object by_type;
  for (const auto& [type, count] : counts.by_type) by_type[type_name(type)] = count;
  boost::json::object missing_names;
  for (const auto& [name, count] : counts.missing_names) missing_names[name] = count;
  return {{"queries", counts.queries},
          {"by_type", std::move(by_type)},
          {"malformed", counts.malformed},
          {"dropped", counts.dropped},
          {"truncated", counts.truncated},
          {"missing", counts.missing},
          {"missing_names", std::move(missing_names)}};
}

std::string dns_report_text(const dns::Responder::Counts& counts) {
  std::string types;
  for (const auto& [type, count] : counts.by_type) {
    types += (types.empty() ? " (" : ", ") + type_name(type) + " " + std::to_string(count);
  }
  if (!types.empty()) types += ")";
  return counted(counts.queries, "query", "queries") + types + ", " +
         std::to_string(counts.missing) + " for names that do not exist";
}

}  // namespace reprise
