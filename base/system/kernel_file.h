#pragma once

// The text files of /proc and /sys.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// A whole file, whose size the kernel does not tell; empty if it cannot be read.
std::string kernel_text(const std::filesystem::path& path);

/// The whole numbers among the words of `line`; others count as 0.
std::vector<std::uint64_t> numbers_in(std::string_view line);

/// The first line that begins with `name`, without it.
std::optional<std::string> line_after(const std::string& text, std::string_view name);

}  // namespace reprise
