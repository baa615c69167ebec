#include "tools/serve/handshake_report.h"

namespace reprise {

boost::json::object handshake_report_json(const FailedHandshakes::Counts& counts) {
  boost::json::object alerts;
  for (auto const& [name, count] : counts.alerts) alerts[name] = count;
  return {{"alerts", std::move(alerts)},
          {"closed", counts.closed},
          {"malformed", counts.malformed},
          {"other", counts.other}};
}

std::string handshake_report_text(const FailedHandshakes::Counts& counts) {
  if (!counts.any()) return {};
  if (counts.alerts.empty() && counts.malformed == 0 && counts.other == 0) {
    return "TLS handshakes that the client did not finish: " + std::to_string(counts.closed) +
           " (usual for browsers, which open more connections than they need)\n";
  }
  std::string text;
  auto const add = [&text](std::uint64_t count, const std::string& how) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + how;
  };
  for (auto const& [name, count] : counts.alerts) add(count, "by the client's alert " + name);
  add(counts.closed, "closed by the client");
  add(counts.malformed, "by a malformed ClientHello");
  add(counts.other, "for another reason");
  return "TLS handshakes that failed: " + text + "\n";
}

}  // namespace reprise
