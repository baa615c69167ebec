#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/differences/builder.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;

bool differ(nanoseconds a, nanoseconds b) {
  auto const by = std::chrono::abs(b - a);
  return by >= kLeastTime && double(by.count()) >= kLeastTimeShare * double(std::max(a, b).count());
}

/// "538 ms instead of 48 ms".
std::string instead_text(nanoseconds a, nanoseconds b) {
  using Ms = std::chrono::duration<double, std::milli>;
  return ms_text(Ms(b).count()) + " instead of " + ms_text(Ms(a).count());
}

/// The hosts at the address of each host, without itself.
std::map<std::string, std::set<std::string>> company(const RecordedPage& page,
                                                     const std::set<std::string>& among) {
  std::map<std::string, std::set<std::string>> at;
  for (auto const& [host, facts] : page.hosts) {
    if (among.contains(host) && !facts.address.empty()) at[facts.address].insert(host);
  }
  std::map<std::string, std::set<std::string>> found;
  for (auto const& [address, hosts] : at) {
    for (const std::string& host : hosts) {
      found[host] = hosts;
      found[host].erase(host);
    }
  }
  return found;
}

std::string names_text(const std::set<std::string>& hosts) {
  if (hosts.empty()) return "no other host";
  std::string text;
  for (const std::string& host : hosts) text += (text.empty() ? "" : ", ") + host;
  return text;
}

/// How an origin's times for one response differ; empty if they do not.
struct OtherTimes {
  std::string text;
  nanoseconds by{};

  void compare(std::string_view of_what, nanoseconds a, nanoseconds b) {
    if (!differ(a, b)) return;
    text.append(text.empty() ? "" : " and ").append(of_what);
    text += instead_text(a, b);
    by += std::chrono::abs(b - a);
  }
};

OtherTimes other_times(const RecordedExchange& a, const RecordedExchange& b) {
  OtherTimes times;
  if (a.status == 0 || b.status == 0) return times;
  if (a.think && b.think) times.compare("", *a.think, *b.think);
  bool const whole = a.outcome == Outcome::kComplete && b.outcome == Outcome::kComplete;
  if (whole) times.compare("pauses of ", a.pauses, b.pauses);
  return times;
}

void compare_think_times(DifferenceBuilder& builder) {
  struct Changed {
    std::size_t count = 0;
    OtherTimes most;
    std::size_t pair = 0;
  };
  std::map<std::string, Changed> changed;
  for (std::size_t pair = 0; pair < builder.made.alignment.pairs.size(); ++pair) {
    auto const& b = builder.b(pair);
    auto times = other_times(builder.a(pair), b);
    if (times.text.empty()) continue;
    auto& host = changed[b.host];
    ++host.count;
    if (times.by <= host.most.by) continue;
    host.most = std::move(times);
    host.pair = pair;
  }
  for (auto const& [host, what] : changed) {
    auto text = what.most.text + " for " + builder.b(what.pair).target;
    if (what.count > 1) text += "; other times for " + counted(what.count - 1, "more request");
    builder.add({.kind = DifferenceKind::kThinkTime,
                 .where = host,
                 .what = std::move(text),
                 .pair = {},
                 .host = host});
  }
}

}  // namespace

void compare_hosts(DifferenceBuilder& builder) {
  compare_think_times(builder);
  auto const& made = builder.made;
  std::set<std::string> both;
  for (auto const& [host, facts] : made.a.hosts) {
    if (made.b.hosts.contains(host)) both.insert(host);
  }
  auto const company_a = company(made.a, both);
  auto const company_b = company(made.b, both);
  for (const std::string& host : both) {
    auto const& a = made.a.hosts.at(host);
    auto const& b = made.b.hosts.at(host);
    auto const add = [&](DifferenceKind kind, std::string what, std::string same = {}) {
      builder.add({.kind = kind, .where = host, .what = std::move(what), .pair = {}, .host = host},
                  {.added = {}, .removed = {}, .same = std::move(same)});
    };
    auto const longer = std::max(a.chain_bytes, b.chain_bytes);
    auto const shorter = std::min(a.chain_bytes, b.chain_bytes);
    if (shorter > 0 && longer - shorter >= kLeastChainBytes) {
      add(DifferenceKind::kChain, "a chain of " + std::to_string(b.chain_bytes) +
                                      " bytes instead of " + std::to_string(a.chain_bytes));
    }
    if (a.protocol != b.protocol && !a.protocol.empty() && !b.protocol.empty()) {
      add(DifferenceKind::kProtocol, b.protocol + " instead of " + a.protocol);
    }
    auto const with_a = company_a.find(host);
    auto const with_b = company_b.find(host);
    if (with_a != company_a.end() && with_b != company_b.end() &&
        with_a->second != with_b->second) {
      add(DifferenceKind::kCoalescing,
          "at the address of " + names_text(with_b->second) + " instead of " +
              names_text(with_a->second),
          "addresses");
    }
    if (a.resolved_in && b.resolved_in && differ(*a.resolved_in, *b.resolved_in)) {
      add(DifferenceKind::kNameResolution,
          "resolved in " + instead_text(*a.resolved_in, *b.resolved_in));
    }
  }
}

}  // namespace reprise
