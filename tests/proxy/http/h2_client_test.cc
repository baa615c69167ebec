#include "proxy/http/h2_client.h"

#include <gmock/gmock.h>

#include "tests/proxy/http/h2_frames.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A connection to an origin that sends the frames which a test wants.
class H2ClientTest : public testing::Test {
 protected:
  struct Answer {
    std::vector<std::uint16_t> statuses;
    std::string content;
    Fields trailers;
    std::error_code error;
  };
  using Part = std::function<awaitable<void>(FrameClient&)>;

  /// Asks `count` times at once, and plays `origin` once that has come.
  std::vector<Answer> ask(std::size_t count, Part part, const H2Client::Settings& settings = {}) {
    H2Client client(std::move(ends.client), settings);
    std::vector<Answer> answers(count);
    std::size_t under_way = count;
    ends.spawn([&]() -> awaitable<void> { (void)co_await client.serve(); });
    for (Answer& answer : answers) {
      ends.spawn([&]() -> awaitable<void> {
        co_await exchange(client, answer);
        if (--under_way == 0) client.stream().close();
      });
    }
    FrameClient origin(*ends.server);
    ends.spawn([&]() -> awaitable<void> {
      co_await origin.take_magic();
      co_await origin.send(frame(NGHTTP2_SETTINGS, 0, 0) +
                           frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0));
      co_await origin.until(NGHTTP2_HEADERS, static_cast<std::uint32_t>(2 * count - 1));
      co_await part(origin);
      while (co_await origin.next()) continue;
      ends.server->close();
    });
    ends.run();
    return answers;
  }

  Loopback ends;

 private:
  static awaitable<void> exchange(H2Client& client, Answer& answer) {
    RequestHead const head{.method = "GET",
                           .scheme = Scheme::kHttps,
                           .host = "a.test",
                           .port = 443,
                           .target = "/",
                           .version = HttpVersion::kH2,
                           .headers = {}};
    auto const stream = client.request(head, {}, false);
    if (auto const read = co_await receive(**stream, answer); !read) answer.error = read.error();
    client.drop(**stream);
  }
  static Task<void> receive(H2ClientStream& stream, Answer& answer) {
    do {
      auto const head = co_await stream.read_head();
      if (!head) co_return fail(head.error());
      answer.statuses.push_back(head->status);
    } while (is_interim(answer.statuses.back()));
    while (!stream.finished()) {
      auto const piece = co_await stream.read();
      if (!piece) co_return fail(piece.error());
      answer.content += text_of(*piece);
    }
    for (const HeaderView& field : stream.trailers()) {
      answer.trailers.emplace_back(field.name, field.value);
    }
    co_return Result<void>{};
  }
};

TEST_F(H2ClientTest, TakesHeadsContentAndTrailersThatArriveTogether) {
  auto const answers = ask(2, [](FrameClient& origin) -> awaitable<void> {
    std::string text;
    for (std::uint32_t id = 1; id <= 3; id += 2) {
      text += origin.head(id, {{":status", "103"}, {"link", "</a.css>"}}, 0) +
              origin.head(id, {{":status", "200"}}, 0) + FrameClient::data(id, "content") +
              origin.head(id, {{"x-sum", std::to_string(id)}});
    }
    co_await origin.send(text);
  });
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(answers[i].statuses, ElementsAre(103, 200));
    EXPECT_EQ(answers[i].content, "content");
    EXPECT_THAT(answers[i].trailers, ElementsAre(Pair("x-sum", std::to_string(2 * i + 1))));
    EXPECT_FALSE(answers[i].error);
  }
}

TEST_F(H2ClientTest, TakesAResponseOfNothingButHeadAndTrailers) {
  auto const answers = ask(1, [](FrameClient& origin) -> awaitable<void> {
    co_await origin.send(origin.head(1, {{":status", "200"}}, 0) +
                         origin.head(1, {{"grpc-status", "0"}}));
  });
  EXPECT_THAT(answers[0].statuses, ElementsAre(200));
  EXPECT_THAT(answers[0].content, IsEmpty());
  EXPECT_THAT(answers[0].trailers, ElementsAre(Pair("grpc-status", "0")));
}

TEST_F(H2ClientTest, ResetsAResponseThatIsInterimHeadsWithoutEnd) {
  std::uint32_t error = 0;
  auto const answers = ask(1, [&](FrameClient& origin) -> awaitable<void> {
    std::string text;
    for (std::size_t i = 0; i <= InterimLimit::kCountMax; ++i) {
      text += origin.head(1, {{":status", "102"}}, 0);
    }
    text += origin.head(1, {{":status", "200"}});
    co_await origin.send(text);
    error = u32_at((co_await origin.until(NGHTTP2_RST_STREAM, 1)).payload, 0);
  });
  EXPECT_EQ(error, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(answers[0].error, std::error_code(NGHTTP2_ENHANCE_YOUR_CALM, h2_category()));
  EXPECT_EQ(answers[0].statuses, std::vector<std::uint16_t>(InterimLimit::kCountMax, 102));
}

TEST(InterimLimit, IsOneOfBytesToo) {
  std::string const value(InterimLimit::kBytesMax / 4, 'x');
  std::vector<HeaderView> const fields{{"Link", value}};
  InterimLimit limit;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.takes(fields));
  EXPECT_FALSE(limit.takes(fields));
}

/// An origin may be shown a table that is much larger than a server's.
TEST_F(H2ClientTest, LeavesAnOriginWhoseHeadUnfoldsToTooMuch) {
  constexpr std::uint32_t kTableBytes = 64 << 10;
  std::uint32_t error = 0;
  auto const answers = ask(
      2,
      [&](FrameClient& origin) -> awaitable<void> {
        origin.resize_encoder(kTableBytes);
        Fields fields{{":status", "200"}};
        std::string const value(kTableBytes / 2, 'b');
        for (std::size_t size = 0; size <= kH2UnfoldedBytesMax; size += value.size()) {
          fields.emplace_back("x-bomb", value);
        }
        // What follows could not be decoded.
        co_await origin.send(FrameClient::long_head(1, origin.block(fields) + "\xff\xff\xff\x7f"));
        error = u32_at((co_await origin.until(NGHTTP2_GOAWAY, 0)).payload, 4);
      },
      {{NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, kTableBytes}});
  EXPECT_EQ(error, NGHTTP2_ENHANCE_YOUR_CALM);
  for (const Answer& answer : answers) EXPECT_TRUE(answer.error);
}

}  // namespace
}  // namespace reprise
