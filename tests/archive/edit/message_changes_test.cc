#include "archive/edit/message_changes.h"

#include <gmock/gmock.h>

#include "archive/edit/diff.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kClient = MessageSender::kClient;
constexpr auto kOrigin = MessageSender::kOrigin;

/// A message, or a piece of one.
struct Piece {
  MessageSender sender = kClient;
  std::string_view text;
  std::int64_t ns = 0;
  MessageKind kind = MessageKind::kText;
  bool fin = true;
};
using Pieces = std::vector<Piece>;

class MessageChangesOf : public testing::Test {
 protected:
  std::filesystem::path archive_of(const char* name, const Pieces& pieces) {
    auto const path = folder_ / name;
    std::filesystem::remove(path);
    auto const writer = create_archive(path);
    EXPECT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/socket");
    exchange.request.method = "CONNECT";
    exchange.request.protocol = kWebSocketProtocol;
    exchange.response.status = 101;
    add(*writer, exchange);
    for (const Piece& each : pieces) {
      WebSocketMessage const message{.sender = each.sender,
                                     .kind = each.kind,
                                     .fin = each.fin,
                                     .time = SessionTime(each.ns),
                                     .payload = as_bytes(each.text)};
      EXPECT_TRUE(writer->add_message(1, message));
    }
    EXPECT_TRUE(writer->close());
    return path;
  }

  MessageChanges compare(const Pieces& a, const Pieces& b) {
    auto const in_a = open_archive(archive_of("a", a));
    auto const in_b = open_archive(archive_of("b", b));
    auto const changes = compare_messages(*in_a, kOwner, *in_b, kOwner);
    EXPECT_TRUE(changes);
    return changes.value_or(MessageChanges());
  }

  /// What diff_archives() reports of the WebSocket.
  std::vector<std::string> diff(const Pieces& a, const Pieces& b, const DiffOptions& options = {}) {
    std::vector<std::string> names;
    auto const counts = diff_archives(
        *open_archive(archive_of("a", a)), *open_archive(archive_of("b", b)), options,
        [&names](const DiffSide&, const DiffSide&, const std::vector<Difference>& differences) {
          for (auto const each : differences) names.emplace_back(to_string(each));
        });
    EXPECT_TRUE(counts);
    EXPECT_EQ(counts && counts->any_difference(), !names.empty());
    return names;
  }

  static constexpr MessageOwner kOwner{.session = 1, .sequence = 1};
  ScratchFolder folder_;
};

TEST_F(MessageChangesOf, EqualConversationsAreNone) {
  Pieces const pieces = {{.sender = kClient, .text = "hello"}, {.sender = kOrigin, .text = "news"}};
  auto const changes = compare(pieces, pieces);
  EXPECT_EQ(changes.a_count, 2U);
  EXPECT_EQ(changes.b_count, 2U);
  EXPECT_FALSE(changes.any(true));
  EXPECT_FALSE(compare({}, {}).any(true));
  EXPECT_THAT(diff(pieces, pieces, {.times = true}), IsEmpty());
}

TEST_F(MessageChangesOf, NameTheFirstMessageThatDiffers) {
  Pieces const before = {{.sender = kClient, .text = "hello"}, {.sender = kOrigin, .text = "news"}};
  auto after = before;
  after[1].text = "olds";
  EXPECT_EQ(compare(before, after).first_changed, 2U);
  after = before;
  after[0].sender = kOrigin;
  EXPECT_EQ(compare(before, after).first_changed, 1U);
  after = before;
  after[1].kind = MessageKind::kBinary;
  EXPECT_EQ(compare(before, after).first_changed, 2U);
  EXPECT_EQ(compare(before, {before[1], before[0]}).first_changed, 1U) << "another order";
  EXPECT_THAT(diff(before, after), ElementsAre("messages"));
}

TEST_F(MessageChangesOf, NameTheFirstMessageThatOneArchiveLacks) {
  Pieces const more = {{.sender = kClient, .text = "hello"},
                       {.sender = kOrigin, .text = "", .kind = MessageKind::kEnd}};
  Pieces const fewer = {more[0]};
  auto const changes = compare(more, fewer);
  EXPECT_EQ(changes.a_count, 2U);
  EXPECT_EQ(changes.b_count, 1U);
  EXPECT_EQ(changes.first_changed, 2U);
  EXPECT_EQ(compare({}, fewer).first_changed, 1U);
  EXPECT_THAT(diff(more, fewer), ElementsAre("messages"));
  EXPECT_THAT(diff(fewer, more), ElementsAre("messages"));
}

TEST_F(MessageChangesOf, MessagesInOtherPiecesAreNone) {
  Pieces const whole = {{.sender = kClient, .text = "", .ns = 2, .kind = MessageKind::kPing},
                        {.sender = kOrigin, .text = "other", .ns = 3},
                        {.sender = kClient, .text = "one two", .ns = 5}};
  Pieces const cut = {{.sender = kClient, .text = "one ", .ns = 1, .fin = false},
                      whole[0],
                      {.sender = kOrigin, .text = "ot", .ns = 3, .fin = false},
                      {.sender = kOrigin, .text = "her", .ns = 3},
                      {.sender = kClient, .text = "", .ns = 4, .fin = false},
                      {.sender = kClient, .text = "two", .ns = 5}};
  auto const changes = compare(whole, cut);
  EXPECT_EQ(changes.a_count, 3U);
  EXPECT_EQ(changes.b_count, 3U);
  EXPECT_FALSE(changes.any(true));
  auto unfinished = cut;
  unfinished.back().fin = false;
  EXPECT_EQ(compare(whole, unfinished).first_changed, 3U) << "its last piece is missing";
}

TEST_F(MessageChangesOf, TimesCountOnlyIfAsked) {
  Pieces const before = {{.sender = kClient, .text = "hello", .ns = 1}};
  Pieces const after = {{.sender = kClient, .text = "hello", .ns = 2}};
  EXPECT_THAT(diff(before, after), IsEmpty());
  EXPECT_THAT(diff(before, after, {.times = true}), ElementsAre("messages"));
  EXPECT_FALSE(compare(before, after).first_changed);
}

TEST_F(MessageChangesOf, ADamagedMessageIsAnError) {
  auto const path = archive_of("a", {{.sender = kOrigin, .text = "news"}});
  auto bytes = read_file(path);
  bytes[bytes.find("news")] = 'N';
  write_file(path, bytes);
  auto const in_a = open_archive(path);
  auto const in_b = open_archive(archive_of("b", {{.sender = kOrigin, .text = "news"}}));
  EXPECT_EQ(compare_messages(*in_a, kOwner, *in_b, kOwner).error(), archive_errc::corrupt);
  for (bool const is_in_b : {false, true}) {
    auto const counts =
        diff_archives(is_in_b ? *in_b : *in_a, is_in_b ? *in_a : *in_b, {}, [](auto&&...) {});
    ASSERT_FALSE(counts);
    EXPECT_EQ(counts.error().is_in_b, is_in_b);
    EXPECT_EQ(counts.error().number, 1U);
    EXPECT_THAT(counts.error().url, testing::EndsWith("/socket"));
  }
}

}  // namespace
}  // namespace reprise
