#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise {

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4) of `bytes`. To go on over several pieces pass the
/// value of the pieces before as `before`. Uses the SSE4.2 instruction where the machine has it.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same without the instruction: what other machines run, and what tests compare with.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace reprise
