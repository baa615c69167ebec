#pragma once

// Two recordings and the hybrids between them, for tests.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "archive/think_time.h"
#include "tests/proxy/whatif/recorded_site.h"
#include "tools/serve/h3_offers.h"
#include "tools/serve/recorded_hosts.h"
#include "tools/why/hybrid.h"

namespace reprise {

inline constexpr const char* kPage = "https://a.test/";

inline std::string a_document(std::string_view script, std::string_view text) {
  return "<!doctype html><html><head><title>t</title>\n" + std::string(script) +
         "</head><body>\n<p>" + std::string(text) + "</p>\n</body></html>\n";
}

inline Exchange timed(Exchange exchange, int think_ms) {
  exchange.origin_connection_id = 1;
  exchange.timings.request_sent = std::chrono::milliseconds(100);
  exchange.timings.first_byte = std::chrono::milliseconds(110 + think_ms);  // 10 ms: round trip
  exchange.timings.end = std::chrono::milliseconds(120 + think_ms);
  return exchange;
}

inline ConnectionFacts connection(std::uint64_t id, std::string host, std::string address,
                                  std::uint32_t chain_bytes) {
  return {.id = id,
          .scheme = Scheme::kHttps,
          .host = std::move(host),
          .port = 443,
          .address = std::move(address),
          .alpn = "h2",
          .tls_version = "TLSv1.3",
          .certificate_names = {"a.test"},
          .chain_bytes = chain_bytes,
          .connect_start = std::chrono::milliseconds(1),
          .tls_start = std::chrono::milliseconds(11),
          .ready = std::chrono::milliseconds(31)};
}

/// What is in a hybrid, or in an archive.
struct Contents {
  std::map<std::string, std::string> bodies;  ///< as stored
  std::map<std::string, Exchange> exchanges;
  std::map<std::string, ConnectionFacts> connections;
  std::map<std::string, std::int64_t> think_ms;
  std::map<std::string, LookupTimes, std::less<>> lookups;
  /// Of the hosts that a replay knows.
  std::map<std::string, std::vector<std::string>> addresses;
  /// Of HTTP/3, as "host:port UDP-port ways".
  std::vector<std::string> offers;
  /// "request's Range and body: response's body", in the order of a replay.
  std::vector<std::string> answers;
  /// Of WebSockets, as "URL: message".
  std::vector<std::string> messages;

  explicit Contents(const ArchiveReader& reader) {
    RoundTrips const round_trips(reader);
    for (auto const ordinal : reader.ordinals_in_order()) {
      auto exchange = reader.exchange(ordinal).value();
      auto const url = url_of(exchange.request);
      bodies[url] = text_of(reader.read_body(exchange.response.body, 1 << 20).value());
      think_ms[url] = std::chrono::duration_cast<std::chrono::milliseconds>(
                          think_time_until(exchange.timings.first_byte, exchange.timings,
                                           round_trips.to_origin_of(exchange)))
                          .count();
      auto const range = find_header(exchange.request.headers.list(), "range").value_or("");
      std::string const asked(text_of(reader.read_body(exchange.request.body, 1 << 20).value()));
      answers.push_back(std::string(range) + asked + ": " + bodies[url]);
      for (auto const& place : reader.messages({.session = 1, .sequence = exchange.sequence})) {
        messages.push_back(url + ": " + std::string(text_of(reader.message(place)->payload)));
      }
      exchanges[url] = std::move(exchange);
    }
    for (auto const& facts : reader.connections()) connections.try_emplace(facts.host, facts);
    lookups = lookup_times(reader, 1);
    for (auto const& each : recorded_hosts(reader, 1)) {
      auto& known = addresses[each.host];
      known.insert(known.end(), each.addresses.begin(), each.addresses.end());
    }
    for (const H3Offer& each : h3_offers(reader, 1)) {
      offers.push_back(each.host + ":" + std::to_string(each.port) + " " +
                       std::to_string(each.udp_port) + (each.by_header ? " header" : "") +
                       (each.by_record ? " record" : "") + (each.by_import ? " import" : ""));
    }
  }
};

class Hybrid : public testing::Test {
 protected:
  Hybrid() {
    for (auto* const site : {&a_, &b_}) site->begin_session({kPage});
    a_.add(connection(1, "a.test", "192.0.2.1:443", 3000));
    b_.add(connection(1, "a.test", "198.51.100.1:443", 9000));
    b_.add(connection(2, "new.test", "198.51.100.1:443", 2000));
  }

  void compare() {
    differences_ = find_differences(RecordedPage::read(a_.reader(), 1),
                                    RecordedPage::read(b_.reader(), session_of_b_),
                                    bodies_of(a_.reader()), bodies_of(b_.reader()));
  }
  /// With the groups that have a difference of that kind there.
  Contents hybrid(const std::vector<std::pair<DifferenceKind, std::string>>& which) {
    compare();
    std::vector<bool> groups(differences_.groups.size());
    for (auto const& [kind, where] : which) {
      bool found = false;
      for (auto const& each : differences_.all) {
        if (each.kind != kind || each.where != where) continue;
        groups[each.group] = true;
        found = true;
      }
      EXPECT_TRUE(found) << to_string(kind) << " " << where << told();
    }
    return written(groups);
  }
  std::string told() const {
    std::string text = ", among:\n";
    for (auto const& each : differences_.all) {
      text += std::string(to_string(each.kind)) + " " + each.where + ": " + each.what + "\n";
    }
    return text;
  }
  Contents all() {
    compare();
    std::vector<bool> groups;
    for (auto const& group : differences_.groups) groups.push_back(group.can_be_put_in);
    return written(groups);
  }
  Contents written(const std::vector<bool>& groups) {
    HybridMaker const maker({a_.reader(), 1}, {b_.reader(), session_of_b_}, differences_);
    auto const path = folder_ / ("hybrid" + std::to_string(++count_));
    auto const done = maker.write(groups, path);
    EXPECT_TRUE(done) << done.error();
    auto const reader = ArchiveReader::open(path, {}).value();
    return Contents(*reader);
  }

  whatif::RecordedSite a_;
  whatif::RecordedSite b_;
  std::uint32_t session_of_b_ = 1;
  Differences differences_;
  ScratchFolder folder_;
  int count_ = 0;
};

}  // namespace reprise
