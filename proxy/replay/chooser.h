#pragma once

// Which answer a request gets: the one place where a replay decides (archive/match/MATCHING.md).

#include <optional>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "proxy/replay/answer.h"
#include "proxy/replay/asked_connection.h"
#include "proxy/replay/early_answers.h"
#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/stitched_files.h"

namespace reprise {

/// What a client session was given so far: the only state that a choice depends on, and changes.
/// Thread-safe.
struct Sequences {
  /// Of `session` of `archive`, which must outlive this.
  Sequences(const ArchiveReader& archive, std::uint32_t session)
      : cursors(archive.entries().size()), early(archive, session) {}
  /// Starts every sequence again.
  void reset() {
    cursors.reset();
    early.reset();
  }

  SequenceCursors cursors;
  EarlyAnswers early;  ///< to requests that are answered before their content is here
};

/// Maps requests to answers. A request and what the session was given so far come in; an Answer
/// comes out, and its exchange is taken from its sequence. Nothing is sent, counted or waited for
/// here. What has to be made for an answer (a document with the script in it, say) is kept for the
/// next client. Thread-safe.
class Chooser {
 public:
  /// What it chooses from; all outlive it.
  struct Sources {
    const ArchiveReader& archive;
    const Matcher& matcher;
    const TlsPlans& tls_plans;
    PreparedExchanges& exchanges;
    StitchedFiles& files;
  };
  explicit Chooser(const Sources& from) : from_(from) {}

  /// The answer to a request without content, where it is all of what the exact exchange has, and
  /// due at once: always kStored. Otherwise nothing, and nothing is taken from the sequence:
  /// choose_by_head() or choose() says what the request gets. Allocates nothing once the exchange
  /// is prepared.
  std::optional<Answer> choose_prepared(const RequestHead& head, AskedConnection& connection,
                                        Sequences& sequences) const;

  /// The answer to a request of which the head alone is here, where that is enough: kMisdirected,
  /// or with `content_follows` the answer that the recorded origin gave before it had the content.
  std::optional<Answer> choose_by_head(const RequestHead& head, AskedConnection& connection,
                                       bool content_follows, Sequences& sequences) const;

  /// The answer to a request that is whole. `asked` is `head` and what the content is.
  Answer choose(const RequestHead& head, const AskedRequest& asked, Sequences& sequences) const;

 private:
  /// The next exchange of exactly that key, if `takes` accepts it.
  template <class Takes>
  Decision find(const MatchKey& key, HeaderList headers, Sequences& sequences, Takes&& takes) const;
  /// What the chosen exchange gives.
  Answer answer_by(Decision decision, const RequestHead& head, const AskedRequest& asked) const;
  /// The same where the client can make nothing of the chosen exchange, or something better of
  /// another answer to the same key, or of what the recorded parts have together.
  Answer answer_in_other_form(Decision decision, const RequestHead& head,
                              const AskedRequest& asked) const;
  /// The chosen exchange as it is, or what a condition, a range or HEAD makes of it.
  Answer answer_as_recorded(const Decision& decision, const RequestHead& head,
                            const AskedRequest& asked) const;
  /// Where no exchange answers: what the recorded ones allow, the browser's own, or a miss.
  Answer answer_unmatched(const AskedRequest& asked) const;
  Answer miss(const AskedRequest& asked, std::string reason) const;

  Sources from_;
};

/// The key of a request as it comes in, without the digest of its content.
MatchKey key_of(const RequestHead& head);

}  // namespace reprise
