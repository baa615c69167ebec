#pragma once

// Eight bytes of a text at once, in a word: the first byte is the lowest one. Pure.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace reprise {

inline constexpr auto kWordBytes = sizeof(std::uint64_t);

/// `byte` eight times.
constexpr std::uint64_t each_byte(std::uint64_t byte) {
  return 0x0101010101010101 * byte;
}

/// The eight bytes from `text` on, which must be readable.
inline std::uint64_t word_at(const char* text) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

/// The first place of `byte`; 8 if it is not there.
constexpr std::size_t place_of(char byte, std::uint64_t bytes) {
  auto const other = bytes ^ each_byte(static_cast<unsigned char>(byte));
  auto const found = (other - each_byte(1)) & ~other & each_byte(0x80);
  return static_cast<std::size_t>(std::countr_zero(found)) / 8;
}

/// A bit for each of the 32 bytes from `text` on, the lowest for the first: whether it is `byte`.
inline std::uint32_t places_in_32(char byte, const char* text) {
#ifdef __SSE2__
  auto const half = [byte, text](std::size_t at) {
    auto const bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))));
  };
  return half(0) | half(16) << 16;
#else
  std::uint32_t places = 0;
  for (std::size_t i = 0; i < 32; ++i) places |= std::uint32_t{text[i] == byte ? 1U : 0U} << i;
  return places;
#endif
}

}  // namespace reprise
