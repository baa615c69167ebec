#include "tools/replay/replay_report.h"

#include <algorithm>
#include <cmath>

#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "pageload/results/replay_summary.h"
#include "proxy/replay/ledger.h"

namespace reprise {
namespace {

// A load finds its requests in this report.
static_assert(kReportTextMax == ReplayLedger::kTextMax);

/// What users see of the misses without a report.
constexpr std::size_t kPrintedMissesMax = 10;

boost::json::object synthesised_json(const Synthesised& made) {
  return {{"served_as_h2", made.served_as_h2},
          {"served_as_h1", made.served_as_h1},
          {"connection_fields_removed", made.connection_fields_removed},
          {"reason_phrase_added", made.reason_phrase_added},
          {"framing_added", made.framing_added},
          {"trailers_removed", made.trailers_removed}};
}

boost::json::array tls_hosts_json(const ReplayReport& report) {
  boost::json::array hosts;
  for (const TlsHost& each : report.tls_hosts) {
    hosts.push_back({{"host", each.host},
                     {"port", each.port},
                     {"protocol", each.protocol},
                     {"assumed", each.assumed}});
  }
  return hosts;
}

boost::json::array inexact_json(const std::vector<InexactHit>& hits) {
  boost::json::array all;
  for (const InexactHit& hit : hits) {
    boost::json::array differences;
    for (const std::string& each : hit.differences) differences.emplace_back(as_utf8(each));
    all.push_back({{"method", as_utf8(hit.method)},
                   {"url", as_utf8(hit.url)},
                   {"count", hit.count},
                   {"score", hit.score},
                   {"scheme_substituted", hit.scheme_substituted},
                   {"recorded_url", as_utf8(hit.recorded_url)},
                   {"differences", std::move(differences)}});
  }
  return all;
}

boost::json::object special_counts_json(const SpecialCounts& counts) {
  boost::json::object all;
  for (std::size_t i = 0; i < kSpecials; ++i) all[to_string(static_cast<Special>(i))] = counts[i];
  return all;
}

boost::json::array special_json(const std::vector<SpecialAnswer>& answers) {
  boost::json::array all;
  for (const SpecialAnswer& each : answers) {
    all.push_back({{"kind", to_string(each.special)},
                   {"method", as_utf8(each.method)},
                   {"url", as_utf8(each.url)},
                   {"count", each.count},
                   {"why", as_utf8(each.why)}});
  }
  return all;
}

boost::json::array requests_json(const std::vector<RecordedRequest>& requests) {
  boost::json::array all;
  for (const RecordedRequest& each : requests) {
    all.push_back({{"sequence", each.sequence},
                   {"method", as_utf8(each.method)},
                   {"url", as_utf8(each.url)}});
  }
  return all;
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::round(static_cast<double>(time.count()) / 1e4) / 100;
}

const char* pace_name(Pace pace) {
  if (pace == Pace::kNone) return "none";
  return pace == Pace::kAll ? "all" : "streams";
}

boost::json::object timing_json(const ReplayReport& report) {
  auto const waits = [](const WaitCount& count) {
    return boost::json::object{{"waits", count.waits}, {"waited_ms", milliseconds(count.time)}};
  };
  return {{"think_time", report.timing.think.text()},
          {"pace", pace_name(report.timing.pace)},
          {"before_heads", waits(report.counts.think)},
          {"in_bodies", waits(report.counts.pauses)}};
}

std::string seconds_text(std::chrono::nanoseconds time) {
  return formatted("%.3f s", static_cast<double>(time.count()) / 1e9);
}

std::string synthesised_text(const Synthesised& made) {
  auto const count = [](std::uint64_t number, const char* one, const char* many) {
    return number > 0 ? ", " + counted(number, one, many) : "";
  };
  return counted(made.responses(), "response") + " in a different HTTP version than recorded" +
         count(made.served_as_h2, "as h2", "as h2") +
         count(made.served_as_h1, "as HTTP/1.1", "as HTTP/1.1") +
         count(made.connection_fields_removed, "connection field removed",
               "connection fields removed") +
         count(made.reason_phrase_added, "reason phrase added", "reason phrases added") +
         count(made.framing_added, "length field added", "length fields added") +
         count(made.trailers_removed, "trailer removed", "trailers removed");
}

std::string special_text(const SpecialCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < kSpecials; ++i) {
    if (counts[i] == 0) continue;
    text += (text.empty() ? "special: " : ", ") + describe(static_cast<Special>(i), counts[i]);
  }
  return text.empty() ? text : text + "\n";
}

boost::json::object web_sockets_json(const WebSocketReport& report) {
  auto const counts_json = [](const ConversationCounts& counts) {
    return boost::json::object{{"client_recorded", counts.client_recorded},
                               {"client_received", counts.client_received},
                               {"client_differing", counts.client_differing},
                               {"origin_recorded", counts.origin_recorded},
                               {"origin_sent", counts.origin_sent}};
  };
  boost::json::array different;
  for (const ReplayedWebSocket& each : report.different) {
    different.push_back({{"sequence", each.sequence},
                         {"url", as_utf8(each.url)},
                         {"messages", counts_json(each.counts)},
                         {"differing_client_messages",
                          boost::json::array(each.differing.begin(), each.differing.end())}});
  }
  return {{"opened", report.opened},
          {"ended", report.ended},
          {"not_as_recorded", report.differing},
          {"messages", counts_json(report.messages)},
          {"different", std::move(different)}};
}

/// Rounds to a tenth.
double rounded(double percent) {
  return std::floor(percent * 10) / 10;
}

}  // namespace

boost::json::array misses_json(const std::vector<Miss>& misses) {
  boost::json::array all;
  for (const Miss& miss : misses) {
    boost::json::array nearest;
    for (const NearMiss& near : miss.nearest) {
      nearest.push_back({{"url", as_utf8(near.url)}, {"why", as_utf8(near.why)}});
    }
    all.push_back({{"method", as_utf8(miss.method)},
                   {"url", as_utf8(miss.url)},
                   {"count", miss.count},
                   {"reason", as_utf8(miss.reason)},
                   {"nearest", std::move(nearest)}});
  }
  return all;
}

boost::json::object replay_report_json(const ReplayReport& report) {
  auto const& counts = report.counts;
  return {{"schema", "reprise-replay-report/1"},
          {"mode", "replay"},
          {"session", report.session},
          {"hits", counts.hits},
          {"fuzzy_hits", counts.fuzzy_hits},
          {"scheme_substituted", counts.scheme_substituted},
          {"misses", counts.misses},
          {"confidence_percent", rounded(counts.confidence)},
          {"damaged", counts.damaged},
          {"misdirected", counts.misdirected},
          {"decoded", counts.decoded},
          {"derived", counts.derived},
          {"timing", timing_json(report)},
          {"synthesised", synthesised_json(report.synthesised)},
          {"tls_hosts", tls_hosts_json(report)},
          {"web_sockets", web_sockets_json(report.web_sockets)},
          {"exchanges_servable", counts.exchanges_servable},
          {"exchanges_served", counts.exchanges_served},
          {"never_asked_for", requests_json(report.never_asked_for)},
          {"out_of_order_count", report.out_of_order_count},
          {"out_of_order", requests_json(report.out_of_order)},
          {"inexact_hits", inexact_json(report.inexact_hits)},
          {"special", special_counts_json(counts.special)},
          {"special_answers", special_json(report.special_answers)},
          {"distinct_misses", misses_json(report.distinct_misses)}};
}

std::string counts_text(const ReplayCounts& counts) {
  std::string text = counted(counts.hits, "hit");
  if (counts.fuzzy_hits > 0) text += " (" + std::to_string(counts.fuzzy_hits) + " fuzzy)";
  text += ", " + counted(counts.misses, "miss", "misses") + ", " +
          std::to_string(counts.exchanges_served) + " of " +
          counted(counts.exchanges_servable, "exchange") + " used";
  if (counts.damaged > 0) text += ", " + std::to_string(counts.damaged) + " damaged";
  return text;
}

std::string misses_text(const std::vector<Miss>& misses) {
  auto const printed = std::min(misses.size(), kPrintedMissesMax);
  std::string text;
  for (std::size_t i = 0; i < printed; ++i) {
    const Miss& miss = misses[i];
    text += "miss: " + printable(miss.method) + " " + printable(miss.url) + " (" +
            printable(miss.reason) + ")\n";
    if (miss.nearest.empty()) continue;
    const NearMiss& near = miss.nearest.front();
    text += "  near: " + printable(near.url) + " (" + printable(near.why) + ")\n";
  }
  if (printed == misses.size()) return text;
  return text + counted(misses.size() - printed, "more miss", "more misses") +
         ": --report FILE has all\n";
}

std::string differences_text(const ReplayReport& report) {
  auto const& counts = report.counts;
  std::string text;
  if (counts.fuzzy_hits > 0 || counts.scheme_substituted > 0) {
    auto const percent = std::to_string(rounded(counts.confidence));
    text += "inexact: " + counted(counts.fuzzy_hits, "hit") + " by the best score, " +
            std::to_string(counts.scheme_substituted) + " from the other scheme; confidence " +
            percent.substr(0, percent.find('.') + 2) + " %\n";
  }
  text += special_text(counts.special);
  if (report.web_sockets.differing > 0) {
    auto const& sockets = report.web_sockets;
    text += "WebSockets: " + std::to_string(sockets.differing) + " of " +
            std::to_string(sockets.ended) + " differ from the recording; " +
            std::to_string(sockets.messages.client_received) + " of " +
            counted(sockets.messages.client_recorded, "client message") + " received, " +
            std::to_string(sockets.messages.client_differing) + " of them different\n";
  }
  if (report.synthesised.responses() > 0) {
    text += "synthesised: " + synthesised_text(report.synthesised) + "\n";
  }
  return text;
}

std::string waits_text(const ReplayReport& report) {
  auto const& think = report.counts.think;
  auto const& pauses = report.counts.pauses;
  if (think.waits == 0 && pauses.waits == 0) return {};
  auto text = "waited: think time (" + report.timing.think.text() + ") " + seconds_text(think.time);
  return text + ", pauses in bodies " + seconds_text(pauses.time) + ", total\n";
}

}  // namespace reprise
