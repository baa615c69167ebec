#include "archive/match.h"

#include <algorithm>

#include "archive/record.h"

namespace reprise {
namespace {

/// FNV-1a over the parts, each text after its length, ended by the finalizer of MurmurHash3 so that
/// the top bits, which choose a bucket, depend on every byte. FORMAT.md defines it.
class KeyHasher {
 public:
  void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }
  void add_number(std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      add_byte(static_cast<std::uint8_t>(number >> shift));
  }
  void add_text(std::string_view text) {
    add_number(static_cast<std::uint32_t>(text.size()));
    for (char const c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  std::uint64_t finish() const {
    auto hash = state_;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace

MatchKey key_of(const StoredRequest& request) {
  return {.method = request.method,
          .scheme = request.scheme,
          .host = request.host,
          .port = request.port,
          .target = request.target,
          .body_digest = request.body_partial ? Sha256{} : request.body.digest};
}

std::uint64_t key_hash(const MatchKey& key) {
  KeyHasher hasher;
  hasher.add_text(key.method);
  hasher.add_byte(static_cast<std::uint8_t>(key.scheme));
  hasher.add_text(key.host);
  hasher.add_number(key.port);
  hasher.add_text(key.target);
  for (auto const byte : key.body_digest) hasher.add_byte(static_cast<std::uint8_t>(byte));
  return hasher.finish();
}

std::uint64_t path_hash(std::string_view host, std::string_view target) {
  KeyHasher hasher;
  hasher.add_text(host);
  hasher.add_text(target.substr(0, target.find('?')));
  return hasher.finish();
}

void SequenceCursors::reset() {
  for (auto& taken : taken_) taken.store(0, std::memory_order_relaxed);
}

Matcher::Matcher(const ArchiveReader& reader, std::uint32_t session)
    : reader_(&reader), session_(session) {
  if (session_ == 0) session_ = choose_session();
  auto const all = reader.entries();
  next_answer_.assign(all.size(), kNone);
  for (auto ordinal = static_cast<std::uint32_t>(all.size()); ordinal-- > 0;) {
    auto const& entry = all[ordinal];
    next_answer_[ordinal] = entry.session == session_ && entry.outcome == Outcome::kComplete
                                ? ordinal
                                : next_answer_after(ordinal);
  }
}

std::uint32_t Matcher::choose_session() const {
  std::uint32_t last_complete = 0;
  std::uint32_t last = 0;
  for (const SessionInfo& info : reader_->sessions()) {
    last = std::max(last, info.number);
    if (info.complete) last_complete = std::max(last_complete, info.number);
  }
  if (last_complete > 0) return last_complete;
  if (last > 0) return last;
  // The records of the sessions are lost, but those of the exchanges are not.
  for (const IndexEntry& entry : reader_->entries()) last = std::max(last, entry.session);
  return last;
}

std::uint32_t Matcher::first_answer(std::uint64_t hash) const {
  auto const found = reader_->find_key(hash);
  if (found.empty()) return kNone;
  return next_answer_[static_cast<std::size_t>(found.data() - reader_->entries().data())];
}

}  // namespace reprise
