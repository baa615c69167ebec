#include "tools/serve/what_if.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "archive/match/match.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "dns/host.h"
#include "dns/responder.h"
#include "proxy/whatif/changed_archive.h"
#include "proxy/whatif/intervention.h"
#include "proxy/whatif/page_requests.h"
#include "tools/archive/errors.h"
#include "tools/serve/spoken_protocols.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using whatif::Effect;
using whatif::Intervention;

std::unexpected<CommandRefusal> refuse(int exit_code, std::string text) {
  return std::unexpected(CommandRefusal{exit_code, std::move(text)});
}

/// Those of the archive's hosts that only an import has are given an address, so that it can be
/// told apart (RFC 6666: the discard prefix is nobody's).
class HostAddresses {
 public:
  /// Borrows the entries, of which a host has one for each connection.
  explicit HostAddresses(std::vector<dns::RecordedHost>& hosts) {
    for (dns::RecordedHost& each : hosts) of_host_[each.host].push_back(&each);
  }

  std::vector<std::string> of(const std::string& host) {
    std::vector<std::string> addresses;
    auto const known = of_host_.find(host);
    if (known == of_host_.end()) return addresses;
    for (dns::RecordedHost* const each : known->second) {
      if (each->addresses.empty()) each->addresses = {"100::" + std::to_string(++made_)};
      addresses.insert(addresses.end(), each->addresses.begin(), each->addresses.end());
    }
    return addresses;
  }

 private:
  std::map<std::string, std::vector<dns::RecordedHost*>> of_host_;
  int made_ = 0;
};

/// Those that a name resolves to: the first ones that differ, as many as an answer has.
std::vector<std::string> addresses_in_answer(const std::vector<std::string>& addresses) {
  std::set<net::ip::address> known;
  std::vector<std::string> taken;
  for (const std::string& text : addresses) {
    if (taken.size() == dns::Responder::kAddressesMax) break;
    auto const address = dns::parse_address(text);
    if (address && known.insert(*address).second) taken.push_back(text);
  }
  return taken;
}

}  // namespace

std::expected<WhatIfArchive, CommandRefusal> WhatIfArchive::make(const fs::path& archive,
                                                                 const WhatIfOptions& options) {
  WhatIfArchive made(archive);
  if (options.texts.empty()) return made;
  auto const interventions = whatif::parse_interventions(options.texts);
  if (!interventions) return refuse(kExitUsage, interventions.error());
  auto reader = ArchiveReader::open(archive, {});
  if (!reader) return refuse(kExitArchive, archive_error_text(archive, reader.error()));
  if (!has_session(**reader, options.session)) {
    return refuse(kExitArchive, no_session_text(archive, options.session));
  }
  // Why something may be missing that a filter names.
  auto const damage = (*reader)->report().remarks.empty()
                          ? std::string()
                          : "; " + archive.string() + ": " + (*reader)->report().remarks.front();
  auto const session = options.session == 0 ? session_to_replay(**reader) : options.session;

  bool edits = false;
  for (const Intervention& each : *interventions) {
    if (each.is_condition()) made.condition_texts_.push_back(each.text);
    edits = edits || !each.is_condition();
    made.effects_.push_back({.text = each.text});
  }
  if (edits) {
    auto folder = PrivateFolder::make("reprise-what-if-");
    if (!folder) {
      return refuse(kExitFailed, "cannot create a folder: " + folder.error().message());
    }
    made.path_ = folder->path() / "changed.reprise";
    made.folder_ = std::move(*folder);
    std::optional<int> ended;
    auto effects = whatif::write_changed_archive(**reader, session, *interventions, made.path_,
                                                 [&options, &ended] {
                                                   if (options.ended) ended = options.ended();
                                                   return ended.has_value();
                                                 });
    if (ended) return refuse(*ended, "interrupted while the what-ifs were applied");
    if (!effects) return refuse(kExitArchive, archive_error_text(archive, effects.error()));
    made.effects_ = std::move(*effects);
    reader = ArchiveReader::open(made.path_, {});
    if (!reader) return refuse(kExitFailed, archive_error_text(made.path_, reader.error()));
  }
  auto const requests = whatif::PageRequests::read(**reader, session, *interventions);
  bool const speaks = std::ranges::any_of(
      *interventions, [](const Intervention& each) { return each.as<whatif::Speak>() != nullptr; });
  auto const spoken =
      speaks ? spoken_protocols(**reader, session, options.protocols) : whatif::SpokenProtocols();
  made.conditions_ = whatif::conditions_of(requests, *interventions, options.seed, made.effects_,
                                           options.has_think_times, spoken);
  for (const Effect& effect : made.effects_) {
    if (options.may_be_idle) break;
    if (auto const why = refusal(effect); !why.empty()) return refuse(kExitUsage, why + damage);
  }
  return made;
}

std::string what_if_text(const std::vector<Effect>& effects) {
  std::string text;
  for (const Effect& effect : effects) {
    text += "what if " + effect.text + ": " + counted(effect.changed, "change") + " by " +
            counted(effect.selected, "request") + "\n";
    for (const auto& remark : effect.remarks) text += "  not changed: " + remark.text() + "\n";
  }
  return text;
}

json::array what_if_json(const std::vector<Effect>& effects) {
  json::array all;
  for (const Effect& effect : effects) {
    json::array places;
    for (auto const& [where, what] : effect.places) {
      places.push_back({{"where", as_utf8(where)}, {"what", as_utf8(what)}});
    }
    json::array remarks;
    for (const auto& remark : effect.remarks) remarks.emplace_back(as_utf8(remark.text()));
    all.push_back({{"text", as_utf8(effect.text)},
                   {"selected", effect.selected},
                   {"changed", effect.changed},
                   {"places", std::move(places)},
                   {"remarks", std::move(remarks)}});
  }
  return all;
}

void change_naming(const whatif::Conditions& conditions, Naming& naming) {
  if (!naming.hosts) return;
  for (dns::RecordedHost& each : *naming.hosts) {
    auto const slower = conditions.slower_names.find(each.host);
    if (slower != conditions.slower_names.end()) each.delay += slower->second;
  }
  naming.needs_resolver = naming.needs_resolver || !conditions.slower_names.empty();
  naming.needs_packets = naming.needs_packets || !conditions.further_away.empty();
  HostAddresses addresses(*naming.hosts);
  auto const& coalesced = conditions.tls.coalesced;
  std::vector<std::string> page;
  if (!coalesced.empty()) page = addresses_in_answer(addresses.of(conditions.tls.page));
  // Hosts that share an address are as far away as the furthest of them.
  for (auto const& [host, by] : conditions.further_away) {
    for (const std::string& text : coalesced.contains(host) ? page : addresses.of(host)) {
      if (auto const address = dns::parse_address(text)) {
        auto& further = naming.further_away[*address];
        further = std::max(further, by);
      }
    }
  }
  std::set<std::string> moved;
  for (dns::RecordedHost& host : *naming.hosts) {
    if (!coalesced.contains(host.host)) continue;
    // There is an entry for each connection of a host, and their addresses add up.
    bool const first = moved.insert(host.host).second;
    host.addresses = first ? page : std::vector<std::string>();
  }
}

}  // namespace reprise
