#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "dns/look_up.h"

namespace reprise::dns {

/// Keeps answers until they expire, at most a fixed number; beyond it, those that expire first are
/// dropped. Pure: time is an argument.
class AnswerCache {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit AnswerCache(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Null if there is no answer, or it has expired.
  std::shared_ptr<const LookUpAnswer> find(const std::string& host, Type type, Time now);
  void put(std::shared_ptr<const LookUpAnswer> answer, Time expires);
  std::size_t size() const { return entries_.size(); }

 private:
  using Key = std::pair<std::string, Type>;
  struct Entry {
    std::shared_ptr<const LookUpAnswer> answer;
    Time expires;
  };
  void erase(const Key& key);

  std::size_t entries_max_;
  std::map<Key, Entry> entries_;
  std::multimap<Time, Key> by_expiry_;
};

}  // namespace reprise::dns
