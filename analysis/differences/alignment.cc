#include "analysis/differences/alignment.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "archive/match/steady_request.h"
#include "base/http/digest.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

using KeyOf = std::function<std::string(const RecordedExchange&)>;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A number, a hash, a random word of a path: what has a digit and is no version such as "v2" or
/// "h264". Paths name builds: shorter words count than do as values (archive/match/MATCHING.md).
bool is_build_or_number(std::string_view word) {
  auto const digits = std::ranges::count_if(word, [](char c) { return c >= '0' && c <= '9'; });
  bool const hexadecimal = std::ranges::all_of(word, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  if (std::size_t(digits) == word.size()) return digits > 0;
  return (hexadecimal && digits > 0 && word.size() >= 6) || (digits >= 2 && word.size() >= 8);
}

class Pairing {
 public:
  Pairing(const RecordedPage& a, const RecordedPage& b) : a_(a), b_(b) {
    for (std::size_t i = 0; i < a.exchanges.size(); ++i) left_a_.push_back(i);
    for (std::size_t i = 0; i < b.exchanges.size(); ++i) left_b_.push_back(i);
  }

  /// Those with the same key, which is not empty: the n-th with the n-th.
  void pair_by(const KeyOf& key_of) {
    std::map<std::string, std::vector<std::size_t>> of_b;
    for (auto const i : left_b_) of_b[key_of(b_.exchanges[i])].push_back(i);
    of_b.erase("");
    std::map<std::string, std::size_t> next;
    std::vector<std::size_t> left;
    std::set<std::size_t> taken;
    for (auto const i : left_a_) {
      auto const key = key_of(a_.exchanges[i]);
      auto const found = of_b.find(key);
      if (found == of_b.end() || next[key] == found->second.size()) {
        left.push_back(i);
        continue;
      }
      auto const partner = found->second[next[key]++];
      pairs_.push_back({.a = i, .b = partner});
      taken.insert(partner);
    }
    left_a_ = std::move(left);
    std::erase_if(left_b_, [&](std::size_t i) { return taken.contains(i); });
  }

  Alignment result() && {
    std::ranges::sort(pairs_, {}, &AlignedPair::a);
    return {.pairs = std::move(pairs_), .only_a = std::move(left_a_), .only_b = std::move(left_b_)};
  }

 private:
  const RecordedPage& a_;
  const RecordedPage& b_;
  std::vector<std::size_t> left_a_;
  std::vector<std::size_t> left_b_;
  std::vector<AlignedPair> pairs_;
};

}  // namespace

std::string shape_of_target(std::string_view target) {
  auto const parts = url_parts(target);
  std::string shape;
  for (std::size_t at = 0; at < parts.path.size();) {
    auto end = at;
    while (end < parts.path.size() && is_alphanumeric(parts.path[end])) ++end;
    if (end == at) {
      shape += parts.path[at++];
      continue;
    }
    auto const word = parts.path.substr(at, end - at);
    shape += is_build_or_number(word) ? std::string_view("*") : word;
    at = end;
  }
  std::set<std::string_view> names;
  for (auto query = parts.query; !query.empty();) {
    auto const end = std::min(query.find('&'), query.size());
    auto const parameter = query.substr(0, end);
    auto const name = parameter.substr(0, parameter.find('='));
    names.insert(is_build_or_number(name) ? "*" : name);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  for (auto const name : names) shape.append(shape.contains('?') ? "&" : "?").append(name);
  return shape;
}

Alignment align(const RecordedPage& a, const RecordedPage& b) {
  Pairing pairing(a, b);
  auto const method = [](const RecordedExchange& of) {
    return of.method + " " + (of.is_part() ? of.range : "") + " ";
  };
  auto const place = [&](const RecordedExchange& of) { return method(of) + of.origin; };
  pairing.pair_by([&](const RecordedExchange& of) {
    return hex(of.request_digest) + of.range + " " + place(of) + of.target;
  });
  pairing.pair_by([&](const RecordedExchange& of) { return place(of) + of.target; });
  pairing.pair_by([&](const RecordedExchange& of) {
    auto const steady = steady_request(of.target);
    return steady.volatile_values.empty() ? std::string() : place(of) + steady.text;
  });
  pairing.pair_by([&](const RecordedExchange& of) {
    return place(of) + std::string(url_parts(of.target).path);
  });
  pairing.pair_by(
      [&](const RecordedExchange& of) { return place(of) + shape_of_target(of.target); });
  pairing.pair_by([&](const RecordedExchange& of) {
    if (of.size_bytes == 0) return std::string();
    return method(of) + of.media_type + " " + hex(of.digest);
  });
  return std::move(pairing).result();
}

}  // namespace reprise
