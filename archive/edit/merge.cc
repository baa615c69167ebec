#include "archive/edit/merge.h"

#include <algorithm>
#include <optional>

#include "archive/edit/select.h"
#include "archive/match/match.h"

namespace reprise {
namespace {

/// The highest numbers that a session has used so far.
struct Numbers {
  std::uint64_t sequence = 0;
  std::uint64_t client_connection = 0;
  std::uint64_t origin_connection = 0;
};

SessionTime shifted(SessionTime time, SessionTime by) {
  SessionTime::rep moved = 0;
  if (time == kNoTime || __builtin_add_overflow(time.count(), by.count(), &moved)) return kNoTime;
  return SessionTime(moved);
}

/// Copies a selection of a session to the end of the open session.
class JoiningCopy final : public SelectedCopy {
 public:
  /// `later`: how much later its session started. `used` is updated.
  JoiningCopy(const ArchiveReader& from, const ExchangeSelection& selection, ArchiveWriter& to,
              SessionTime later, Numbers& used)
      : SelectedCopy(from, selection, to), later_(later), before_(used), used_(used) {}

 protected:
  Result<void> change_connection(ConnectionFacts& facts) override {
    for (auto* time : {&facts.dns_start, &facts.connect_start, &facts.tls_start, &facts.ready}) {
      *time = shifted(*time, later_);
    }
    return renumber(facts.id, before_.origin_connection, used_.origin_connection);
  }

  Result<void> change_answer(DnsAnswer& answer) override {
    for (auto* time : {&answer.asked, &answer.answered}) *time = shifted(*time, later_);
    return {};
  }

  Result<void> change_message(const Exchange&, WebSocketMessage& message,
                              std::vector<std::byte>&) override {
    message.time = shifted(message.time, later_);
    return {};
  }

  Result<void> carry(std::uint32_t /*ordinal*/, Exchange& exchange) override {
    auto& [queued, sent, first_byte, end] = exchange.timings;
    for (auto* time : {&queued, &sent, &first_byte, &end}) *time = shifted(*time, later_);
    for (auto& interim : exchange.interim) interim.time = shifted(interim.time, later_);
    for (auto& chunk : exchange.response.chunk_times) chunk.time = shifted(chunk.time, later_);
    auto done = renumber(exchange.sequence, before_.sequence, used_.sequence);
    if (done) {
      done = renumber(exchange.client_connection_id, before_.client_connection,
                      used_.client_connection);
    }
    if (done) {
      done = renumber(exchange.origin_connection_id, before_.origin_connection,
                      used_.origin_connection);
    }
    return done ? carry_bodies(exchange) : done;
  }

 private:
  /// 0 means "unknown", and stays 0.
  static Result<void> renumber(std::uint64_t& number, std::uint64_t before, std::uint64_t& used) {
    if (number == 0) return {};
    if (__builtin_add_overflow(number, before, &number)) return fail(archive_errc::too_large);
    used = std::max(used, number);
    return {};
  }

  SessionTime later_;
  Numbers before_;
  Numbers& used_;
};

/// Gives sessions the next free numbers.
class AddingCopy final : public SelectedCopy {
 public:
  using SelectedCopy::SelectedCopy;

 protected:
  void change_session(SessionInfo& info) override { info.number = 0; }
};

/// The selected exchanges of one archive.
struct Part {
  const ArchiveReader* reader = nullptr;
  std::uint32_t session = 0;  ///< the one that a replay would serve
  ExchangeSelection selection;
  MergedPart counts;

  bool takes(std::uint32_t ordinal) const { return selection.has_exchange(ordinal); }
  /// Whether a complete exchange with that key is selected. Like the matcher, compares only a
  /// limited number of exchanges that just share the hash.
  bool has_complete(const MatchKey& key, std::uint64_t hash) const;
};

bool same_key(const MatchKey& a, const MatchKey& b) {
  return a.method == b.method && a.scheme == b.scheme && a.host == b.host && a.port == b.port &&
         a.target == b.target && a.body_digest == b.body_digest;
}

bool Part::has_complete(const MatchKey& key, std::uint64_t hash) const {
  auto const found = reader->find_key(hash);
  auto ordinal = static_cast<std::uint32_t>(found.data() - reader->entries().data());
  std::size_t looked_at = 0;
  for (const IndexEntry& entry : found) {
    auto const candidate = ordinal++;
    if (entry.session != session || entry.outcome != Outcome::kComplete || !takes(candidate)) {
      continue;
    }
    if (++looked_at > Matcher::kCandidatesMax) return false;
    auto const exchange = reader->exchange(candidate);
    if (exchange && same_key(key_of(exchange->request), key)) return true;
  }
  return false;
}

/// `joins`: only the session that a replay would serve.
Result<Part> choose(const ArchiveReader& from, const MergeOptions& options, bool joins) {
  Part part{.reader = &from};
  part.session = Matcher(from, 0).session();
  auto selection = ExchangeSelection::make(
      from, [&](const Exchange& exchange, std::uint32_t /*ordinal*/, std::size_t number) {
        if (options.only && !options.only(exchange, number)) return false;
        if (!joins || exchange.session == part.session) return true;
        ++part.counts.other_sessions;
        return false;
      });
  if (!selection) return fail(selection.error());
  part.selection = std::move(*selection);
  return part;
}

/// Removes from each part the exchanges that a preferred part has, and incomplete ones that another
/// part has complete. `reading`, here and below: the index of the part that is being read.
Result<void> leave_duplicates_out(std::vector<Part>& parts, Duplicates policy,
                                  std::size_t& reading) {
  std::vector<ExchangeSelection> remaining;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    reading = i;
    auto const all = std::span<const Part>(parts);
    auto const preferred = policy == Duplicates::kFirst ? all.first(i) : all.subspan(i + 1);
    auto selection = ExchangeSelection::make(
        *parts[i].reader,
        [&](const Exchange& exchange, std::uint32_t ordinal, std::size_t /*number*/) {
          if (!parts[i].takes(ordinal)) return false;
          if (exchange.session != parts[i].session) return true;
          auto const key = key_of(exchange.request);
          auto const hash = key_hash(key);
          auto const has = [&](const Part& part) { return part.has_complete(key, hash); };
          auto const is_elsewhere = std::ranges::any_of(preferred, has) ||
                                    (!has(parts[i]) && std::ranges::any_of(all, has));
          if (is_elsewhere) ++parts[i].counts.duplicates;
          return !is_elsewhere;
        });
    if (!selection) return fail(selection.error());
    remaining.push_back(std::move(*selection));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].selection = std::move(remaining[i]);
  return {};
}

const SessionContents& session_of(const std::vector<SessionContents>& contents,
                                  std::uint32_t number) {
  static const SessionContents kNone;
  auto const found = std::ranges::find(
      contents, number, [](const SessionContents& session) { return session.info.number; });
  return found == contents.end() ? kNone : *found;
}

/// The properties of the common session.
SessionInfo common_info(const std::vector<std::vector<SessionContents>>& contents,
                        const std::vector<Part>& parts, bool all_pages) {
  auto info = session_of(contents.front(), parts.front().session).info;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!all_pages && !info.pages.empty()) break;
    for (auto const& page : session_of(contents[i], parts[i].session).info.pages) {
      if (std::ranges::find(info.pages, page) == info.pages.end()) info.pages.push_back(page);
    }
  }
  return info;
}

SessionTime time_between(const SessionInfo& first, const SessionInfo& other) {
  using std::chrono::nanoseconds;
  auto const ns = [](const SessionInfo& info) {
    return std::chrono::duration_cast<nanoseconds>(info.started.time_since_epoch()).count();
  };
  SessionTime::rep between = 0;
  if (__builtin_sub_overflow(ns(other), ns(first), &between)) return SessionTime(0);
  return SessionTime(between);
}

/// Replaces the first archive's session by the sessions of all.
Result<void> join_sessions(const std::vector<std::vector<SessionContents>>& contents,
                           const std::vector<Part>& parts, bool all_pages, ArchiveWriter& to,
                           std::size_t& reading) {
  auto const info = common_info(contents, parts, all_pages);
  if (auto begun = to.begin_session(info); !begun) return fail(begun.error());
  Numbers used;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    reading = i;
    auto const& session = session_of(contents[i], parts[i].session);
    auto const later = i == 0 ? SessionTime(0) : time_between(info, session.info);
    JoiningCopy copy(*parts[i].reader, parts[i].selection, to, later, used);
    if (auto copied = copy.copy_contents(session); !copied) return copied;
  }
  return info.complete ? to.end_session() : Result<void>();
}

Result<void> join(const std::vector<Part>& parts, bool all_pages, ArchiveWriter& to,
                  std::size_t& reading) {
  std::vector<std::vector<SessionContents>> contents;
  for (const Part& part : parts) contents.push_back(contents_of(*part.reader));
  if (contents.front().empty()) return join_sessions(contents, parts, all_pages, to, reading);
  SelectedCopy first(*parts.front().reader, parts.front().selection, to);
  for (const SessionContents& session : contents.front()) {
    if (session.info.number == parts.front().session) {
      auto joined = join_sessions(contents, parts, all_pages, to, reading);
      if (!joined) return joined;
    } else if (parts.front().selection.has_session(session)) {
      reading = 0;
      if (auto copied = first.copy_session(session); !copied) return copied;
    }
  }
  return {};
}

Result<void> put_side_by_side(const std::vector<Part>& parts, ArchiveWriter& to,
                              std::size_t& reading) {
  for (reading = 0; reading < parts.size(); ++reading) {
    const Part& part = parts[reading];
    if (auto copied = AddingCopy(*part.reader, part.selection, to).run(); !copied) return copied;
  }
  return {};
}

}  // namespace

std::expected<std::vector<MergedPart>, MergeError> merge_archives(
    std::span<const ArchiveReader* const> from, const MergeOptions& options, ArchiveWriter& to) {
  std::vector<Part> parts;
  for (const ArchiveReader* reader : from) {
    auto part = choose(*reader, options, !options.separate_sessions && !parts.empty());
    if (!part) return std::unexpected(MergeError{part.error(), parts.size()});
    parts.push_back(std::move(*part));
  }
  std::size_t reading = 0;
  Result<void> done;
  if (options.duplicates != Duplicates::kKeep) {
    done = leave_duplicates_out(parts, options.duplicates, reading);
  }
  if (done) {
    done = options.separate_sessions ? put_side_by_side(parts, to, reading)
                                     : join(parts, options.all_pages, to, reading);
  }
  if (!done) return std::unexpected(MergeError{done.error(), reading});
  std::vector<MergedPart> counts;
  for (Part& part : parts) {
    part.counts.taken = part.selection.count();
    counts.push_back(part.counts);
  }
  return counts;
}

}  // namespace reprise
