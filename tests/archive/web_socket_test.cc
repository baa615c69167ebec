#include "archive/web_socket.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "archive/copy.h"
#include "archive/repair.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kClient = MessageSender::kClient;
constexpr auto kOrigin = MessageSender::kOrigin;

/// The handshake of a WebSocket.
Exchange an_opening(std::uint64_t sequence) {
  auto exchange = an_exchange(sequence, "/socket?id=" + std::to_string(sequence));
  exchange.request.method = "CONNECT";
  exchange.request.protocol = kWebSocketProtocol;
  exchange.response.status = 101;
  exchange.response.reason = "Switching Protocols";
  return exchange;
}

WebSocketMessage a_message(MessageSender sender, std::string_view text, std::int64_t ns,
                           MessageKind kind = MessageKind::kText) {
  return {.sender = sender, .kind = kind, .time = SessionTime(ns), .payload = as_bytes(text)};
}

void add(ArchiveWriter& writer, std::uint64_t sequence, const WebSocketMessage& message) {
  ASSERT_TRUE(writer.add_message(sequence, message));
}

/// "client text 5 hello", a message a line.
std::vector<std::string> conversation(const ArchiveReader& reader, const MessageOwner& owner) {
  std::vector<std::string> lines;
  for (auto const& place : reader.messages(owner)) {
    auto const message = reader.message(place);
    if (!message) {
      lines.emplace_back("damaged");
      continue;
    }
    lines.push_back(std::string(to_string(message->sender)) + " " +
                    std::string(to_string(message->kind)) + " " +
                    std::to_string(message->time.count()) + (message->fin ? " " : "+ ") +
                    as_text(message->payload));
  }
  return lines;
}

/// Two conversations at the same time, and a third in another session.
void write_conversations(const std::filesystem::path& path, bool close = true) {
  auto writer = create_archive(path);
  ASSERT_TRUE(writer->begin_session(a_session()));
  add(*writer, an_opening(1));
  add(*writer, 1, a_message(kClient, "hello", 10));
  add(*writer, an_opening(2));
  add(*writer, 2, a_message(kOrigin, "news", 20));
  add(*writer, 1, a_message(kOrigin, std::string_view("\0\x01", 2), 30, MessageKind::kBinary));
  add(*writer, 1,
      a_message(kOrigin,
                "\x03\xe8"
                "bye",
                40, MessageKind::kClose));
  add(*writer, 2, a_message(kOrigin, "", 50, MessageKind::kEnd));
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->begin_session(a_session()));
  add(*writer, an_opening(1));
  auto piece = a_message(kClient, "half", 60);
  piece.fin = false;
  add(*writer, 1, piece);
  add(*writer, 1, a_message(kClient, "", 70, MessageKind::kPing));
  ASSERT_TRUE(writer->end_session());
  if (close) ASSERT_TRUE(writer->close());
}

void expect_conversations(const ArchiveReader& reader) {
  EXPECT_THAT(conversation(reader, {.session = 1, .sequence = 1}),
              ElementsAre("client text 10 hello", std::string("origin binary 30 \0\x01", 19),
                          "origin close 40 \x03\xe8"
                          "bye"));
  EXPECT_THAT(conversation(reader, {.session = 1, .sequence = 2}),
              ElementsAre("origin text 20 news", "origin end 50 "));
  EXPECT_THAT(conversation(reader, {.session = 2, .sequence = 1}),
              ElementsAre("client text 60+ half", "client ping 70 "));
  EXPECT_THAT(conversation(reader, {.session = 2, .sequence = 2}), IsEmpty());
  for (auto const& exchange : exchanges_of(reader)) EXPECT_TRUE(opens_web_socket(exchange));
}

class WebSocketRecords : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
};

TEST_F(WebSocketRecords, ComeBackByTheirExchange) {
  write_conversations(path_);
  auto const reader = open_archive(path_);
  EXPECT_TRUE(reader->report().indexed);
  EXPECT_THAT(problems_of(*reader), IsEmpty());
  expect_conversations(*reader);
}

TEST_F(WebSocketRecords, OfAFileThatWasNotClosedAreScanned) {
  write_conversations(path_, false);
  auto const reader = open_archive(path_);
  EXPECT_FALSE(reader->report().indexed);
  expect_conversations(*reader);
}

TEST_F(WebSocketRecords, AreKeptWholeWhereverTheFileWasCut) {
  write_conversations(path_, false);
  auto const whole = read_file(path_);
  auto const complete = conversation(*open_archive(path_), {.session = 1, .sequence = 1});
  for (std::size_t size = whole.size(); size > whole.size() - 700; --size) {
    auto const cut = folder_ / "cut";
    write_file(cut, std::string_view(whole).substr(0, size));
    auto const reader = open_archive(cut);
    auto const left = conversation(*reader, {.session = 1, .sequence = 1});
    ASSERT_LE(left.size(), complete.size());
    for (std::size_t i = 0; i < left.size(); ++i) ASSERT_EQ(left[i], complete[i]) << size;
    std::filesystem::remove(cut);
  }
}

TEST_F(WebSocketRecords, StayWhenASessionIsAppended) {
  write_conversations(path_);
  {
    auto writer = append_archive(path_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    add(*writer, an_opening(1));
    add(*writer, 1, a_message(kClient, "again", 5));
    ASSERT_TRUE(writer->close());
  }
  auto const reader = open_archive(path_);
  expect_conversations(*reader);
  EXPECT_THAT(conversation(*reader, {.session = 3, .sequence = 1}),
              ElementsAre("client text 5 again"));
  EXPECT_THAT(problems_of(*reader), IsEmpty());
}

TEST_F(WebSocketRecords, AreCopied) {
  write_conversations(path_);
  auto const from = open_archive(path_);
  {
    auto to = create_archive(folder_ / "copy");
    ASSERT_TRUE(ArchiveCopy(*from, *to).run());
    ASSERT_TRUE(to->close());
  }
  auto const copy = open_archive(folder_ / "copy");
  expect_conversations(*copy);
  EXPECT_THAT(problems_of(*copy), IsEmpty());
}

TEST_F(WebSocketRecords, OneThatIsDamagedIsFoundAndRepairedAway) {
  write_conversations(path_);
  auto bytes = read_file(path_);
  auto const at = bytes.find("news");
  bytes[at] = 'N';
  write_file(path_, bytes);
  {
    auto const reader = open_archive(path_);
    EXPECT_THAT(conversation(*reader, {.session = 1, .sequence = 2}),
                ElementsAre("damaged", "origin end 50 "));
    EXPECT_THAT(problems_of(*reader), SizeIs(1));
  }
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->remarks, SizeIs(1));
  auto const reader = open_archive(path_);
  EXPECT_THAT(conversation(*reader, {.session = 1, .sequence = 2}), ElementsAre("origin end 50 "));
  EXPECT_THAT(problems_of(*reader), IsEmpty());
}

TEST_F(WebSocketRecords, OfNoExchangeAreAProblem) {
  {
    auto writer = create_archive(path_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    add(*writer, 7, a_message(kClient, "lost", 1));
    add(*writer, 7, a_message(kClient, "too", 2));
    ASSERT_TRUE(writer->close());
  }
  EXPECT_THAT(problems_of(*open_archive(path_)), SizeIs(1));
}

TEST_F(WebSocketRecords, OverTheLimitAreRefused) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session(a_session()));
  std::string const largest(kMessageBytesMax, 'x');
  EXPECT_TRUE(writer->add_message(1, a_message(kClient, largest, 1)));
  EXPECT_EQ(writer->add_message(1, a_message(kClient, largest + "x", 1)),
            fail(archive_errc::too_large));
}

TEST(WebSocketRecord, IsReadOnlyAsItIsWritten) {
  auto const prefix = encode_message_prefix({.session = 1, .sequence = 2},
                                            a_message(kOrigin, "", 3, MessageKind::kClose));
  ASSERT_TRUE(decode_message(prefix));
  auto const is_read = [&prefix](std::size_t at, unsigned value) {
    auto changed = prefix;
    changed[at] = std::byte(value);
    return decode_message(changed).has_value();
  };
  EXPECT_FALSE(is_read(4, 0));  // nobody sent it
  EXPECT_FALSE(is_read(4, 3));
  EXPECT_FALSE(is_read(5, 3));  // no such kind
  EXPECT_FALSE(is_read(5, 11));
  EXPECT_FALSE(is_read(6, 1));  // a close that goes on
  EXPECT_FALSE(is_read(6, 2));
  EXPECT_FALSE(is_read(7, 1));
  EXPECT_FALSE(decode_message(std::span(prefix).first(kMessagePrefixBytes - 1)));
}

TEST(WebSocketGolden, IsReadAndWrittenByteForByte) {
  ScratchFolder folder;
  write_conversations(folder / "a");
  auto const golden = std::filesystem::path(GOLDEN_FOLDER) / "v1-web-socket-2.reprise";
  auto const today = read_file(folder / "a");
  if (!std::filesystem::exists(golden) && std::getenv("REPRISE_WRITE_GOLDEN") != nullptr) {
    write_file(golden, today);
  }
  EXPECT_TRUE(today == read_file(golden));
  expect_conversations(*open_archive(golden));
  // With a match index of version 1.
  expect_conversations(
      *open_archive(std::filesystem::path(GOLDEN_FOLDER) / "v1-web-socket.reprise"));
}

}  // namespace
}  // namespace reprise
