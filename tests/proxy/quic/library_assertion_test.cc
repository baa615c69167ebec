#include "proxy/quic/library_assertion.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>

#include "tests/proxy/http/h3/h3_pair.h"

#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace reprise {
namespace {

/// While it exists: what the libraries allocate is not reported as leaked. After a failed assertion
/// it is never freed.
struct LeaksExpected {
#if __has_feature(address_sanitizer)
  __lsan::ScopedDisabler disabler;
#endif
};

/// Calls ngtcp2 so that an assertion in it fails.
void break_the_library() {
  ngtcp2_cid id;
  std::array<std::uint8_t, 64> const bytes{};
  ngtcp2_cid_init(&id, bytes.data(), NGTCP2_MAX_CIDLEN + 1);
}

TEST(LibraryAssertion, EndsItsCallAlone) {
  auto const before = survived_assertions();
  bool returned = false;
  EXPECT_FALSE(survives_assertions([&] {
    break_the_library();
    returned = true;
  }));
  EXPECT_FALSE(returned);
  EXPECT_EQ(survived_assertions(), before + 1);
  EXPECT_TRUE(survives_assertions([&] { returned = true; }));
  EXPECT_TRUE(returned);
}

TEST(LibraryAssertion, OfACallbackEndsTheOuterCall) {
  bool inner_returned = false;
  EXPECT_FALSE(survives_assertions(
      [&] { inner_returned = survives_assertions(break_the_library) || true; }));
  EXPECT_FALSE(inner_returned);
}

TEST(LibraryAssertion, ElsewhereEndsTheProcess) {
  EXPECT_DEATH(break_the_library(), "Assertion .* failed");
}

/// Here through frames of ngtcp2 and GnuTLS.
TEST(LibraryAssertion, EndsTheConnectionOfItsDatagram) {
  [[maybe_unused]] LeaksExpected const leaks;
  H3Pair pair;
  H3Pair other;
  pair.on_name = break_the_library;
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return pair.server && pair.server->over(); });
  EXPECT_TRUE(pair.server->over());
  EXPECT_TRUE(pair.server->final_packet().empty());
  pair.finish();
  EXPECT_EQ(pair.why, failed_assertion());
  auto& good = other.open();
  auto const stream = good.get("/early");
  other.run([&] { return good.answer(stream).complete; });
  EXPECT_EQ(good.answer(stream).body, "early");
}

/// A coroutine would keep what its first step throws from the call that it belongs to.
TEST(LibraryAssertion, NoHandlerBeginsInsideACall) {
  H3Pair pair;
  bool inside = false;
  pair.site.on_serve = [&inside] { inside = inside || LibraryCall::under_way(); };
  auto& client = pair.open();
  auto const stream = client.get("/early");
  // On the thread that runs the handlers, as a server's socket does.
  for (int round = 0; round < 100 && !client.answer(stream).complete; ++round) {
    net::post(pair.context, [&pair] { pair.to_server(); });
    pair.context.restart();
    pair.context.poll();
    pair.to_client();
    pair.now += std::chrono::milliseconds(1);
  }
  EXPECT_TRUE(client.answer(stream).complete);
  EXPECT_FALSE(inside);
  pair.site.on_serve = nullptr;
}

}  // namespace
}  // namespace reprise
