#pragma once

// How the browser's bodies become the digests of a result.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "archive/result.h"

namespace reprise {

/// SHA-256 in 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// The same of a file, as it is read. Errors: the system error of open(2) or read(2).
Result<std::string> sha256_hex_of_file(const std::filesystem::path& path);

/// RFC 4648 section 4, with padding and without line breaks. nullopt when `text` is anything else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace reprise
