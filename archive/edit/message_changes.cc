#include "archive/edit/message_changes.h"

#include <array>
#include <cstddef>
#include <span>

#include "base/http/digest.h"

namespace reprise {
namespace {

/// A whole message. Its payload is compared by digest, since it can be longer than memory.
struct WholeMessage {
  MessageSender sender = MessageSender::kClient;
  MessageKind kind = MessageKind::kText;
  bool complete = false;       ///< its last piece was recorded
  SessionTime time = kNoTime;  ///< of the last recorded piece
  Sha256 digest{};
};

bool same_message(const WholeMessage& a, const WholeMessage& b) {
  return a.sender == b.sender && a.kind == b.kind && a.complete == b.complete &&
         a.digest == b.digest;
}

/// A message of which pieces may follow.
struct Begun {
  WholeMessage message;
  Digester digester;
};

/// The messages of a WebSocket, each joined from its pieces.
class Conversation {
 public:
  Conversation(const ArchiveReader& archive, const MessageOwner& owner)
      : archive_(archive), places_(archive.messages(owner)) {}

  /// Nothing after the last one. Errors: corrupt.
  Result<std::optional<WholeMessage>> next();

 private:
  static WholeMessage take(std::optional<Begun>& begun) {
    auto message = begun->message;
    message.digest = begun->digester.finish();
    begun.reset();
    return message;
  }

  const ArchiveReader& archive_;
  std::span<const ArchiveReader::MessagePlace> places_;  ///< of the pieces that are left
  std::array<std::optional<Begun>, 2> begun_;            ///< of the client, of the origin
};

Result<std::optional<WholeMessage>> Conversation::next() {
  while (!places_.empty()) {
    auto const piece = archive_.message(places_.front());
    if (!piece) return fail(piece.error());
    places_ = places_.subspan(1);
    if (!is_data(piece->kind)) {
      return WholeMessage{.sender = piece->sender,
                          .kind = piece->kind,
                          .complete = true,
                          .time = piece->time,
                          .digest = sha256(piece->payload)};
    }
    auto& begun = begun_[piece->sender == MessageSender::kClient ? 0 : 1];
    if (!begun) {
      begun.emplace();
      begun->message.sender = piece->sender;
      begun->message.kind = piece->kind;
    }
    begun->digester.update(piece->payload);
    begun->message.time = piece->time;
    begun->message.complete = piece->fin;
    if (piece->fin) return take(begun);
  }
  for (auto& begun : begun_) {
    if (begun) return take(begun);
  }
  return std::nullopt;
}

}  // namespace

Result<MessageChanges> compare_messages(const ArchiveReader& a, const MessageOwner& of_a,
                                        const ArchiveReader& b, const MessageOwner& of_b) {
  Conversation in_a(a, of_a);
  Conversation in_b(b, of_b);
  MessageChanges changes;
  for (std::uint64_t number = 1;; ++number) {
    auto const one = in_a.next();
    if (!one) return fail(one.error());
    auto const other = in_b.next();
    if (!other) return fail(other.error());
    auto const& from_a = *one;
    auto const& from_b = *other;
    if (!from_a && !from_b) return changes;
    if (from_a) ++changes.a_count;
    if (from_b) ++changes.b_count;
    bool const same = from_a && from_b && same_message(*from_a, *from_b);
    if (!same && !changes.first_changed) changes.first_changed = number;
    if (same && from_a->time != from_b->time) changes.other_times = true;
  }
}

}  // namespace reprise
