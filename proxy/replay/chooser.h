#pragma once

// Chooses the answer to a request: the one place where a replay decides
// (archive/match/MATCHING.md).

#include <atomic>
#include <optional>
#include <vector>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "proxy/replay/answer.h"
#include "proxy/replay/asked_connection.h"
#include "proxy/replay/early_answers.h"
#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/stitched_files.h"

namespace reprise {

/// The answers that a client session has received so far: the only state that a choice depends on,
/// and changes. Thread-safe.
struct Sequences {
  /// For `session` of `archive`, which must outlive this.
  Sequences(const ArchiveReader& archive, std::uint32_t session)
      : cursors(archive.entries().size()),
        early(archive, session),
        rewritten(archive.entries().size()) {}
  /// Restarts every sequence.
  void reset() {
    cursors.reset();
    early.reset();
  }
  /// Notes that the client received all of `ordinal` in this form.
  void note(std::uint32_t ordinal, const ServedForm& form) {
    auto& known = rewritten[ordinal];
    if (form.is_rewritten && !known.load(std::memory_order_relaxed)) {
      known.store(true, std::memory_order_relaxed);
    }
  }

  SequenceCursors cursors;
  EarlyAnswers early;  ///< to requests that are answered before their content has arrived
  /// By ordinal: whether it was served rewritten (ServedForm). Not cleared by reset(): a client can
  /// keep its copies. Those of other replays have the same validators, but another content.
  std::vector<std::atomic<bool>> rewritten;
};

/// Maps requests to answers. The input is a request and the answers that the session has received;
/// the output is an Answer, whose exchange is then taken from its sequence. (A HEAD that is
/// answered from a GET takes nothing: the GET stays the next one.) Sends, counts and waits for
/// nothing. Forms made for an answer (for example, a document with the script in it) are kept for
/// the next client. Thread-safe.
class Chooser {
 public:
  /// The inputs of choices; all must outlive it.
  struct Sources {
    const ArchiveReader& archive;
    const Matcher& matcher;
    const TlsPlans& tls_plans;
    PreparedExchanges& exchanges;
    StitchedFiles& files;
  };
  explicit Chooser(const Sources& from) : from_(from) {}

  /// The answer to a request without content, if it is the complete exact exchange and due at once:
  /// always kStored. Otherwise nothing, and nothing is taken from the sequence: use
  /// choose_by_head() or choose(). Allocates nothing once the exchange is prepared.
  std::optional<Answer> choose_prepared(const RequestHead& head, AskedConnection& connection,
                                        Sequences& sequences) const;

  /// The answer to a request of which only the head has arrived, if that is enough: kMisdirected,
  /// or with `content_follows` the answer that the recorded origin gave before it had the content.
  std::optional<Answer> choose_by_head(const RequestHead& head, AskedConnection& connection,
                                       bool content_follows, Sequences& sequences) const;

  /// The answer to a complete request. `asked`: `head` and the content.
  Answer choose(const RequestHead& head, const AskedRequest& asked, Sequences& sequences) const;

 private:
  /// The next exchange with exactly that key, if `takes` accepts it.
  template <class Takes>
  Decision find(const MatchKey& key, HeaderList headers, Sequences& sequences, Takes&& takes) const;
  /// The exchange for HEAD: a recorded HEAD, or a GET with a head.
  Decision decide_head(const RequestHead& head, const AskedRequest& asked, Sequences& sequences,
                       const Matcher::RequestOf& request_of) const;
  /// The answer from the chosen exchange.
  Answer answer_by(Decision decision, const RequestHead& head, const AskedRequest& asked,
                   Sequences& sequences) const;
  /// Whether the body of `ordinal` was served rewritten, by that exchange or an equal repeat.
  bool was_served_rewritten(std::uint32_t ordinal, const Sequences& sequences) const;
  /// The same if the client cannot use the chosen exchange, or if another answer to the same key,
  /// or the recorded parts together, fit better.
  Answer answer_in_other_form(Decision decision, const RequestHead& head, const AskedRequest& asked,
                              Sequences& sequences) const;
  /// The chosen exchange unchanged, or as changed by a condition, a range or HEAD.
  Answer answer_as_recorded(const Decision& decision, const RequestHead& head,
                            const AskedRequest& asked, Sequences& sequences) const;
  /// The answer if no exchange matches, or only a preflight that allows something else: a made-up
  /// preflight, one to the browser's own request, or a miss.
  Answer answer_unmatched(const AskedRequest& asked) const;
  Answer miss(const AskedRequest& asked, std::string reason) const;

  Sources from_;
};

/// The key of an incoming request, without the digest of its content.
MatchKey key_of(const RequestHead& head);

}  // namespace reprise
