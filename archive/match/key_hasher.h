#pragma once

// The hash of the index: FORMAT.md defines it.

#include <cstdint>
#include <string_view>

namespace reprise {

/// The finalizer of MurmurHash3: every bit of the result depends on every bit of `hash`.
constexpr std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdU;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53U;
  return hash ^ (hash >> 33);
}

/// FNV-1a over the parts, each text after its length, followed by mixed() so that the top bits,
/// which select a bucket, depend on every byte.
class KeyHasher {
 public:
  void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * kPrime; }
  /// Bytes of zero only multiply: all at once, since each would wait for the one before.
  template <unsigned kCount>
  void add_zeros() {
    static constexpr auto kFactor = power(kCount);
    state_ *= kFactor;
  }
  void add_number(std::uint32_t number) {
    add_byte(static_cast<std::uint8_t>(number));
    if (number < 0x100) return add_zeros<3>();
    add_byte(static_cast<std::uint8_t>(number >> 8));
    if (number < 0x10000) return add_zeros<2>();
    add_byte(static_cast<std::uint8_t>(number >> 16));
    add_byte(static_cast<std::uint8_t>(number >> 24));
  }
  void add_text(std::string_view text) {
    add_number(static_cast<std::uint32_t>(text.size()));
    for (char const c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  std::uint64_t finish() const { return mixed(state_); }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3U;
  static constexpr std::uint64_t power(unsigned exponent) {
    std::uint64_t result = 1;
    for (; exponent > 0; --exponent) result *= kPrime;
    return result;
  }

  std::uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace reprise
