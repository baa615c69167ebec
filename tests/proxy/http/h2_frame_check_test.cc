#include "proxy/http/h2_frame_check.h"

#include <algorithm>

#include "tests/proxy/http/h2_frames.h"

namespace reprise {
namespace {

/// The error of `frames` behind a preface, in pieces of that size; 0 if none is refused.
std::uint32_t error_of(const std::string& frames, std::size_t piece_bytes = SIZE_MAX) {
  H2FrameCheck check;
  auto const text = FrameClient::preface() + frames;
  for (Bytes rest = bytes_of(text); !rest.empty();) {
    auto const piece = rest.first(std::min(piece_bytes, rest.size()));
    auto const refusal = check.next(piece);
    if (refusal) {
      EXPECT_LT(refusal->before_bytes, piece.size());
      return refusal->error;
    }
    rest = rest.subspan(piece.size());
  }
  return NGHTTP2_NO_ERROR;
}
std::string whole_request(std::uint32_t id) {
  return frame(NGHTTP2_HEADERS, kEnd | kWholeHead, id, "\x82\x87\x84");
}

TEST(H2FrameCheck, FindsTheSameHoweverTheBytesArrive) {
  auto const good = whole_request(1) + frame(NGHTTP2_HEADERS, kWholeHead, 3, "\x83\x87\x84") +
                    FrameClient::data(3, "content") + FrameClient::data(3, "", kEnd);
  for (std::size_t size = 1; size < 80; ++size) {
    EXPECT_EQ(error_of(good, size), NGHTTP2_NO_ERROR) << size;
    EXPECT_EQ(error_of(good + FrameClient::data(1, "late"), size), NGHTTP2_STREAM_CLOSED) << size;
    EXPECT_EQ(error_of(good + whole_request(3), size), NGHTTP2_STREAM_CLOSED) << size;
  }
}

TEST(H2FrameCheck, AdmitsWhatComesBeforeTheRefusedFrame) {
  H2FrameCheck check;
  auto const good = FrameClient::preface() + whole_request(1);
  auto const text = good + FrameClient::data(1, "late");
  auto const refusal = check.next(bytes_of(text));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->before_bytes, good.size());
}

TEST(H2FrameCheck, TakesContentForNoHead) {
  EXPECT_EQ(error_of(frame(NGHTTP2_HEADERS, kWholeHead, 1, "\x83") +
                     FrameClient::data(1, whole_request(1) + whole_request(1), kEnd)),
            NGHTTP2_NO_ERROR);
}

TEST(H2FrameCheck, KnowsTheLastIdsThatThereAre) {
  EXPECT_EQ(error_of(whole_request(0x7ffffffe) + whole_request(0x7fffffff)), NGHTTP2_NO_ERROR);
  EXPECT_EQ(error_of(whole_request(0x7fffffff) + whole_request(0x7ffffffd)),
            NGHTTP2_PROTOCOL_ERROR);
}

TEST(H2FrameCheck, ForgetsTheOldestOfManyEndedStreams) {
  std::string many;
  auto const last = static_cast<std::uint32_t>(2 * H2FrameCheck::kEndedMax + 1);
  for (std::uint32_t id = 1; id <= last; id += 2) many += whole_request(id);
  EXPECT_EQ(error_of(many + FrameClient::data(1, "x")), NGHTTP2_NO_ERROR);
  EXPECT_EQ(error_of(many + FrameClient::data(3, "x")), NGHTTP2_STREAM_CLOSED);
}

TEST(H2FrameCheck, TellsOfAHeadThatIsUnderWay) {
  H2FrameCheck check;
  auto const after = [&check](const std::string& text) {
    EXPECT_FALSE(check.next(bytes_of(text)));
    return check.head_under_way();
  };
  auto const split = whole_request(5);
  EXPECT_EQ(after(FrameClient::preface()), std::nullopt);
  EXPECT_EQ(after(whole_request(1)), std::nullopt);
  EXPECT_EQ(after(frame(NGHTTP2_HEADERS, kEnd, 3, "\x82")), 2U);
  EXPECT_EQ(after(frame(NGHTTP2_CONTINUATION, 0, 3, "\x87")), 2U);
  EXPECT_EQ(after(frame(NGHTTP2_CONTINUATION, kWholeHead, 3, "\x84")), std::nullopt);
  EXPECT_EQ(after(split.substr(0, split.size() - 1)), 3U);
  EXPECT_EQ(after(split.substr(split.size() - 1)), std::nullopt);
}

}  // namespace
}  // namespace reprise
