#include "proxy/tls/prepared_leaves.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/proxy/tls/tls_ends.h"

namespace reprise {
namespace {

class PreparedLeavesTest : public TlsEnds {
 protected:
  const Leaf* leaf(const LeafNames& names) { return minter_->leaf(leaf_key(names), names).value(); }

  std::vector<LeafNames> const names_ = {{.names = {"a.test"}, .chain_bytes = 4000},
                                         {.names = {"b.test", "*.b.test"}},
                                         {.names = {"b.test", "*.b.test"}}};
  PreparedLeaves prepared_{minter_->twin(), names_};
};

TEST_F(PreparedLeavesTest, TheFirstHandshakeOfAPreparedNameMintsNothing) {
  EXPECT_EQ(prepared_.mint({}), 2) << "equal names share a leaf";
  minter_->use(prepared_);
  for (const LeafNames& each : names_) {
    SslPtr server(SSL_new(server_context_.get()));
    SSL_set_accept_state(server.get());
    ASSERT_TRUE(use_leaf(server.get(), *leaf(each), *minter_));
    auto const client = make_client(each.names.front());
    auto const shaken = shake_hands(client.get(), server.get());
    EXPECT_TRUE(shaken.client && shaken.server);
  }
  EXPECT_EQ(minter_->minted(), 0);
}

TEST_F(PreparedLeavesTest, ANameThatIsNotThereYetIsMintedByItsHandshake) {
  minter_->use(prepared_);
  auto const* const own = leaf(names_[0]);
  EXPECT_EQ(minter_->minted(), 1);
  prepared_.mint({});
  EXPECT_EQ(leaf(names_[0]), own) << "a kept leaf stays";
  EXPECT_EQ(leaf(names_[1]), prepared_.find(leaf_key(names_[1])));
  leaf({.names = {"c.test"}});
  EXPECT_EQ(minter_->minted(), 2) << "and so is one that nobody expected";
}

TEST_F(PreparedLeavesTest, LeavesOutWhatCannotBeCertified) {
  PreparedLeaves some(minter_->twin(), std::vector<LeafNames>{{.names = {"no name"}}, names_[0]});
  EXPECT_EQ(some.mint({}), 1);
  minter_->use(some);
  EXPECT_FALSE(minter_->leaf("no name", {.names = {"no name"}}));
}

TEST_F(PreparedLeavesTest, MintsNoMoreOnceItIsToStop) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(prepared_.mint(stop.get_token()), 0);
  EXPECT_EQ(prepared_.find(leaf_key(names_[0])), nullptr);
}

TEST_F(PreparedLeavesTest, HasNoMoreThanAMinterKeeps) {
  std::vector<LeafNames> many;
  for (std::size_t i = 0; i < LeafMinter::kLeavesMax + 10; ++i) {
    many.push_back({.names = {"host" + std::to_string(i) + ".test"}});
  }
  PreparedLeaves all(minter_->twin(), many);
  EXPECT_EQ(all.mint({}), LeafMinter::kLeavesMax);
}

TEST_F(PreparedLeavesTest, AnotherThreadTakesLeavesAsTheyBecomeReady) {
  std::vector<LeafNames> many;
  for (int i = 0; i < 200; ++i) many.push_back({.names = {"host" + std::to_string(i) + ".test"}});
  PreparedLeaves all(minter_->twin(), many);
  minter_->use(all);
  std::jthread const minting([&all](const std::stop_token& stop) { all.mint(stop); });
  for (const LeafNames& each : many) {
    auto const* const taken = leaf(each);
    EXPECT_EQ(X509_check_host(taken->certificate.get(), each.names.front().data(), 0, 0, nullptr),
              1);
    EXPECT_EQ(EVP_PKEY_eq(X509_get0_pubkey(taken->certificate.get()), minter_->key()), 1);
  }
}

}  // namespace
}  // namespace reprise
