// Hosts files of any form: what is taken has names and addresses as the rest of dns/ wants them,
// and a plan of the same names writes no rule that a name smuggled in.

#include <algorithm>
#include <cstdlib>
#include <string>

#include "dns/host.h"
#include "dns/hosts_file.h"
#include "dns/plan.h"

using namespace reprise::dns;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

/// The plan as lines of /etc/hosts.
std::string hosts_text(const Plan& plan) {
  std::string text;
  for (const Plan::Host& host : plan.hosts()) {
    if (host.literal) continue;
    for (const auto& address : host.addresses) {
      text += address.to_string() + " " + host.host + "\n";
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  auto const file = parse_hosts(text);
  check(file.problems.size() <= 20);
  for (const auto& entry : file.zone.entries) {
    check(normal_host(entry.host) == entry.host);
    check(!entry.v4.empty() || !entry.v6.empty());
  }
  // The lines, taken for hosts and addresses of a recording.
  std::vector<RecordedHost> recorded;
  for (auto rest = text; !rest.empty();) {
    auto const line = rest.substr(0, rest.find('\n'));
    auto const blank = std::min(line.find(' '), line.size());
    recorded.push_back({.host = std::string(line.substr(0, blank)),
                        .addresses = {std::string(line.substr(std::min(blank + 1, line.size())))}});
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  auto const plan = Plan::create(recorded, {});
  check(plan.has_value() || recorded.size() > 1000);
  if (!plan) return 0;
  auto const rules = plan->chromium_rules({.http = 1, .https = 1}, false);
  check(static_cast<std::size_t>(std::ranges::count(rules, ',')) == plan->hosts().size());
  auto const again = parse_hosts(hosts_text(*plan));
  check(again.problems.empty() && again.zone.entries.size() == plan->zone(false).entries.size());
  return 0;
}
