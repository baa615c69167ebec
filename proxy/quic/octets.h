#pragma once

#include <openssl/rand.h>

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/invariant.h"

namespace reprise {

// Bytes as ngtcp2 takes them.

inline std::uint8_t* octets(std::byte* bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes);
}
inline const std::uint8_t* octets(Bytes bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

inline void fill_random(std::span<std::uint8_t> out) {
  invariant(RAND_bytes(out.data(), static_cast<int>(out.size())) == 1, "OpenSSL has random bytes");
}

}  // namespace reprise
