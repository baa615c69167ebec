#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise {

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4) of `bytes`. For several pieces, pass the
/// value of the previous pieces as `before`. Uses the SSE4.2 instruction if the processor has it.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same without that instruction: for other processors, and for tests to compare with.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace reprise
