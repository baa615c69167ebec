#include "dns/answer_cache.h"

namespace reprise::dns {

std::shared_ptr<const LookUpAnswer> AnswerCache::find(const std::string& host, Type type,
                                                      Time now) {
  Key const key(host, type);
  auto const at = entries_.find(key);
  if (at == entries_.end()) return nullptr;
  if (now < at->second.expires) return at->second.answer;
  erase(key);
  return nullptr;
}

void AnswerCache::put(std::shared_ptr<const LookUpAnswer> answer, Time expires) {
  Key const key(answer->host, answer->type);
  erase(key);
  if (entries_.size() >= entries_max_) erase(Key(by_expiry_.begin()->second));
  by_expiry_.emplace(expires, key);
  entries_.emplace(key, Entry{.answer = std::move(answer), .expires = expires});
}

void AnswerCache::erase(const Key& key) {
  auto const at = entries_.find(key);
  if (at == entries_.end()) return;
  auto const [first, last] = by_expiry_.equal_range(at->second.expires);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second != key) continue;
    by_expiry_.erase(entry);
    break;
  }
  entries_.erase(at);
}

}  // namespace reprise::dns
