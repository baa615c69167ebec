// How often serving what lies prepared asks for memory over HTTP/3, from a client's datagrams to
// the server's: every malloc() of the process meanwhile, those of ngtcp2, nghttp3 and GnuTLS too.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/proxy/http/h3/h3_pair.h"

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* old, std::size_t size);

namespace {
std::size_t allocations = 0;
}  // namespace

// In the place of glibc's, which the manual permits ("Replacing malloc").
extern "C" void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}

namespace reprise {
namespace {

/// Counts what the server's side asks for while it serves one object after another.
class H3Allocations : public testing::Test {
 protected:
  static constexpr std::size_t kWarmUp = 200;
  static constexpr std::size_t kCounted = 1000;
  static constexpr std::array<HeaderView, 2> kHead{
      {{"Content-Type", "text/html"}, {"Cache-Control", "max-age=31536000"}}};

  double a_request(std::size_t body_bytes) {
    std::string const body(body_bytes, 'x');
    StoredResponse::Parts parts;
    parts.head = {.status = 200, .reason = "OK", .headers = kHead};
    parts.body = Bytes(bytes_of(body));
    pair.site.responses["/a"] = std::make_shared<StoredResponse>("GET", std::move(parts));
    auto& client = pair.open();
    std::size_t counted = 0;
    for (std::size_t i = 0; i < kWarmUp + kCounted; ++i) {
      auto const before = counted_;
      client.get("/a");
      while (client.completed().size() == i) turn();
      if (i >= kWarmUp) counted += counted_ - before;
    }
    return static_cast<double>(counted) / kCounted;
  }

  H3Pair pair;

 private:
  /// As H3Pair::run(), but what the client does is not counted.
  void turn() {
    auto const datagrams = pair.client->write(pair.now);
    auto before = allocations;
    for (auto const& datagram : datagrams) pair.give(datagram);
    pair.context.restart();
    pair.context.poll();
    counted_ += allocations - before;
    while (pair.server) {
      before = allocations;
      auto const burst = pair.server->write(out_, pair.now);
      counted_ += allocations - before;
      if (burst.size_bytes == 0) break;
      Bytes rest = Bytes(out_).first(burst.size_bytes);
      while (!rest.empty()) {
        auto const packet = rest.first(std::min(burst.segment_bytes, rest.size()));
        rest = rest.subspan(packet.size());
        pair.client->read(packet, pair.now);
      }
    }
    pair.now += std::chrono::milliseconds(1);
    if (pair.now >= pair.client->due()) pair.client->pass(pair.now);
    if (pair.server && pair.now >= pair.server->due()) pair.server->pass(pair.now);
  }

  std::vector<std::byte> out_ = std::vector<std::byte>(QuicConnection::kBurstBytesMax + 2048);
  std::size_t counted_ = 0;
};

/// nghttp3 asks for 9 objects, ours are the stream, its place and the answer's fields: all were
/// those of an earlier request.
TEST_F(H3Allocations, OfARequestAreNone) {
  EXPECT_EQ(a_request(1024), 0.0);
}

TEST_F(H3Allocations, OfALargeAnswerAreNone) {
  EXPECT_EQ(a_request(100 * 1024), 0.0);
}

}  // namespace
}  // namespace reprise
