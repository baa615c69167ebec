#include "proxy/http/web_socket.h"

#include <gmock/gmock.h>

#include "base/bytes.h"

namespace reprise {
namespace {

using testing::ElementsAre;

constexpr auto kClient = MessageSender::kClient;
constexpr auto kOrigin = MessageSender::kOrigin;
constexpr FrameHeader::Mask kMask{std::byte(1), std::byte(2), std::byte(3), std::byte(4)};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string a_frame(MessageKind kind, std::string_view payload, bool ends = true,
                    bool continues = false,
                    const std::optional<FrameHeader::Mask>& mask = std::nullopt) {
  auto frame = text_of(FrameHeader(kind, payload.size(), ends, continues, mask).bytes());
  std::vector<std::byte> masked(bytes_of(payload).begin(), bytes_of(payload).end());
  if (mask) apply_mask(*mask, 0, masked);
  return frame + text_of(masked);
}
std::string of_client(MessageKind kind, std::string_view payload, bool ends = true,
                      bool continues = false) {
  return a_frame(kind, payload, ends, continues, kMask);
}

/// "text hello", a message a line; what goes wrong is the last line.
std::vector<std::string> read(WebSocketParser& parser, std::string_view wire, std::size_t at_once) {
  std::vector<std::string> lines;
  std::string message;
  while (!wire.empty()) {
    auto input = bytes_of(wire.substr(0, at_once));
    wire.remove_prefix(input.size());
    while (true) {
      auto const step = parser.next(input);
      if (!step) {
        lines.push_back(step.error().message());
        return lines;
      }
      input = input.subspan(step->consumed);
      if (!step->piece) break;
      auto const& [kind, ends, payload] = *step->piece;
      if (kind >= MessageKind::kClose) {
        lines.push_back(std::string(to_string(kind)) + " " + text_of(payload));
        continue;
      }
      message += text_of(payload);
      if (!ends) continue;
      lines.push_back(std::string(to_string(kind)) + " " + message);
      message.clear();
    }
  }
  return lines;
}
std::vector<std::string> read(MessageSender sender, std::string_view wire,
                              std::size_t at_once = 1 << 20) {
  WebSocketParser parser(sender);
  return read(parser, wire, at_once);
}

TEST(WebSocketFrames, AreThoseOfTheRfc) {
  // RFC 6455 section 5.7.
  EXPECT_EQ(a_frame(MessageKind::kText, "Hello"), "\x81\x05Hello");
  FrameHeader::Mask const mask{std::byte(0x37), std::byte(0xfa), std::byte(0x21), std::byte(0x3d)};
  EXPECT_EQ(a_frame(MessageKind::kText, "Hello", true, false, mask),
            "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  EXPECT_EQ(a_frame(MessageKind::kText, "Hel", false), "\x01\x03Hel");
  EXPECT_EQ(a_frame(MessageKind::kText, "lo", true, true), std::string("\x80\x02lo"));
  EXPECT_EQ(a_frame(MessageKind::kBinary, std::string(256, 'x')).substr(0, 4),
            std::string("\x82\x7e\x01\x00", 4));
  EXPECT_EQ(a_frame(MessageKind::kBinary, std::string(65536, 'x')).substr(0, 10),
            std::string("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
}

TEST(WebSocketHandshake, ProvesThatTheKeyWasRead) {
  // RFC 6455 section 1.3.
  EXPECT_EQ(web_socket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  std::array<std::byte, 16> nonce{};
  EXPECT_EQ(web_socket_key(nonce), "AAAAAAAAAAAAAAAAAAAAAA==");
}

TEST(WebSocketParser, ReadsMessagesHoweverTheyAreCut) {
  std::string const wire =
      of_client(MessageKind::kText, "one") + of_client(MessageKind::kText, "t", false) +
      of_client(MessageKind::kPing, "there?") + of_client(MessageKind::kText, "", false, true) +
      of_client(MessageKind::kText, "wo \xc3\xa9", true, true) +
      of_client(MessageKind::kBinary, std::string(70'000, '\xff')) +
      of_client(MessageKind::kText, "") +
      of_client(MessageKind::kClose,
                "\x03\xe8"
                "bye");
  for (auto const at_once : {1, 2, 3, 7, 1000, 1 << 20}) {
    EXPECT_THAT(read(kClient, wire, static_cast<std::size_t>(at_once)),
                ElementsAre("text one", "ping there?", "text two \xc3\xa9",
                            "binary " + std::string(70'000, '\xff'), "text ",
                            "close \x03\xe8"
                            "bye"));
  }
}

TEST(WebSocketParser, RefusesWhatIsNotWebSocket) {
  auto const frame = make_error_code(web_socket_errc::bad_frame).message();
  EXPECT_THAT(read(kOrigin, "\xc1\x01x"), ElementsAre(frame));  // a reserved bit
  EXPECT_THAT(read(kOrigin, "\x83\x01x"), ElementsAre(frame));  // no such opcode
  EXPECT_THAT(read(kOrigin, "\x8b\x01x"), ElementsAre(frame));
  EXPECT_THAT(read(kOrigin, "\x80\x01x"), ElementsAre(frame));                 // goes on with what?
  EXPECT_THAT(read(kOrigin, "\x01\x01x\x81\x01y"), ElementsAre(frame));        // and the first?
  EXPECT_THAT(read(kOrigin, std::string("\x09\x00", 2)), ElementsAre(frame));  // a ping in pieces
  EXPECT_THAT(read(kOrigin, "\x89\x7e\x01\x01"), ElementsAre(frame));          // a long ping
  EXPECT_THAT(read(kOrigin, std::string("\x81\x7e\x00\x05", 4)), ElementsAre(frame));
  EXPECT_THAT(read(kOrigin, "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), ElementsAre(frame));
}

TEST(WebSocketParser, WantsTheClientMaskedAndTheOriginNot) {
  auto const mask = make_error_code(web_socket_errc::bad_mask).message();
  EXPECT_THAT(read(kClient, a_frame(MessageKind::kText, "x")), ElementsAre(mask));
  EXPECT_THAT(read(kOrigin, of_client(MessageKind::kText, "x")), ElementsAre(mask));
}

TEST(WebSocketParser, RefusesTextThatIsNoText) {
  auto const text = make_error_code(web_socket_errc::bad_text).message();
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kText, "\xc3")), ElementsAre(text));
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kText, "\xed\xa0\x80")), ElementsAre(text));
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kClose, "\x03\xe8\xff")), ElementsAre(text));
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kText, "\xc3", false) +
                                a_frame(MessageKind::kText, "\xa9", true, true)),
              ElementsAre("text \xc3\xa9"));
  EXPECT_EQ(close_code_for(web_socket_errc::bad_text), 1007);
}

TEST(WebSocketParser, RefusesCodesThatNobodyMaySend) {
  auto const close = make_error_code(web_socket_errc::bad_close).message();
  for (auto const code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000}) {
    auto const payload = close_payload(static_cast<std::uint16_t>(code));
    EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kClose, text_of(payload))), ElementsAre(close));
  }
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kClose, "x")), ElementsAre(close));
  EXPECT_THAT(read(kOrigin, a_frame(MessageKind::kClose, "")), ElementsAre("close "));
}

}  // namespace
}  // namespace reprise
