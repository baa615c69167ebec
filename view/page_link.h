#pragma once

#include <filesystem>
#include <string>

namespace reprise {

/// The address of one page in a link from another, both given as paths: relative, so that a folder
/// with both can be moved; percent-encoded (RFC 3986). Where a page goes to standard output (`-`),
/// links are relative to the working folder. Pure but for the working folder.
std::string link_between(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise
