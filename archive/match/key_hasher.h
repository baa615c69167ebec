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
  void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }
  void add_number(std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      add_byte(static_cast<std::uint8_t>(number >> shift));
  }
  void add_text(std::string_view text) {
    add_number(static_cast<std::uint32_t>(text.size()));
    for (char const c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  std::uint64_t finish() const { return mixed(state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace reprise
