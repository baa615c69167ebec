#include "proxy/replay/response/held_body.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

#include "archive/match/parameters.h"
#include "base/http/digest.h"

namespace reprise {
namespace {

/// So much content, in pieces; notes the most that was held when one was asked for.
class Upload final : public BodyReader {
 public:
  Upload(std::uint64_t size_bytes, const std::atomic<std::size_t>& held)
      : left_bytes_(size_bytes), held_(held) {}

  Task<Bytes> read() override {
    most_held_bytes = std::max<std::size_t>(most_held_bytes, held_);
    auto const size = std::min<std::uint64_t>(left_bytes_, piece_.size());
    left_bytes_ -= size;
    digester_.update(bytes_of(std::string_view(piece_).substr(0, size)));
    co_return bytes_of(std::string_view(piece_).substr(0, size));
  }
  bool finished() const override { return left_bytes_ == 0; }
  HeaderList trailers() const override { return {}; }
  Sha256 digest() { return digester_.finish(); }

  std::size_t most_held_bytes = 0;

 private:
  std::string const piece_ = std::string(10'000, 'x');
  std::uint64_t left_bytes_;
  const std::atomic<std::size_t>& held_;
  Digester digester_;
};

class HeldBodies : public testing::Test {
 protected:
  void read(HeldBody& held, BodyReader& body) {
    net::io_context context;
    bool done = false;
    auto const work = [&]() -> awaitable<void> { done = (co_await held.read(body)).has_value(); };
    net::co_spawn(context, work(), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
    context.run();
    EXPECT_TRUE(done);
  }

  std::atomic<std::size_t> held_bytes_ = 0;
};

TEST_F(HeldBodies, KeepWhatCanBeTakenApart) {
  {
    HeldBody held(held_bytes_, true);
    Upload upload(kNormalisedBodyBytesMax, held_bytes_);
    read(held, upload);
    AskedRequest asked;
    held.describe(asked);
    EXPECT_EQ(asked.body.size(), kNormalisedBodyBytesMax);
    EXPECT_EQ(asked.body_bytes, kNormalisedBodyBytesMax);
    EXPECT_EQ(asked.key.body_digest, upload.digest());
    EXPECT_EQ(held_bytes_, kNormalisedBodyBytesMax);
  }
  EXPECT_EQ(held_bytes_, 0U);
}

TEST_F(HeldBodies, KnowOfALongOneOnlyItsDigestAndLength) {
  constexpr std::uint64_t kLong = 100 << 20;
  HeldBody held(held_bytes_, true);
  Upload upload(kLong, held_bytes_);
  read(held, upload);
  AskedRequest asked;
  held.describe(asked);
  EXPECT_TRUE(asked.body.empty());
  EXPECT_EQ(asked.body_bytes, kLong);
  EXPECT_EQ(asked.key.body_digest, upload.digest());
  EXPECT_LE(upload.most_held_bytes, kNormalisedBodyBytesMax);
  EXPECT_EQ(held_bytes_, 0U);
}

TEST_F(HeldBodies, TogetherKeepNoMoreThanTheirLimit) {
  held_bytes_ = HeldBody::kHeldBytesMax - 15'000;  // what others hold
  HeldBody held(held_bytes_, true);
  Upload upload(30'000, held_bytes_);
  read(held, upload);
  AskedRequest asked;
  held.describe(asked);
  EXPECT_TRUE(asked.body.empty());
  EXPECT_EQ(asked.body_bytes, 30'000U);
  EXPECT_LE(upload.most_held_bytes, HeldBody::kHeldBytesMax);
  EXPECT_EQ(held_bytes_, HeldBody::kHeldBytesMax - 15'000);
}

TEST_F(HeldBodies, KeepNothingThatNobodyLooksAt) {
  HeldBody held(held_bytes_, false);
  Upload upload(1'000, held_bytes_);
  read(held, upload);
  AskedRequest asked;
  held.describe(asked);
  EXPECT_TRUE(asked.body.empty());
  EXPECT_EQ(asked.key.body_digest, upload.digest());
  EXPECT_EQ(upload.most_held_bytes, 0U);
}

TEST_F(HeldBodies, OfNoContentHaveNoDigest) {
  HeldBody held(held_bytes_, true);
  Upload upload(0, held_bytes_);
  read(held, upload);
  AskedRequest asked;
  held.describe(asked);
  EXPECT_EQ(asked.key.body_digest, Sha256{});
}

}  // namespace
}  // namespace reprise
