#include "proxy/tls/prepared_leaves.h"

namespace reprise {

PreparedLeaves::PreparedLeaves(std::unique_ptr<LeafMinter> minter, std::span<const LeafNames> names)
    : minter_(std::move(minter)) {
  for (const LeafNames& each : names) {
    if (slots_.size() == LeafMinter::kLeavesMax) break;
    slots_[leaf_key(each)].names = each;
  }
}

std::size_t PreparedLeaves::mint(const std::stop_token& stop) {
  std::size_t minted = 0;
  for (auto& [key, slot] : slots_) {
    if (stop.stop_requested()) break;
    auto made = minter_->make(slot.names);
    if (!made) continue;
    slot.leaf = std::move(*made);
    // OpenSSL derives values from a certificate when it is first used.
    X509_check_purpose(slot.leaf.certificate.get(), -1, 0);
    slot.ready.store(true, std::memory_order_release);
    ++minted;
  }
  return minted;
}

const Leaf* PreparedLeaves::find(std::string_view key) const {
  auto const found = slots_.find(key);
  bool const ready = found != slots_.end() && found->second.ready.load(std::memory_order_acquire);
  return ready ? &found->second.leaf : nullptr;
}

}  // namespace reprise
