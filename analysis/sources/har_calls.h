#pragma once

// The call trees of a HAR (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/) of any tool:
// browsers, WebPageTest, sitespeed.io, Charles. Pure.

#include <expected>
#include <string>
#include <vector>

#include "analysis/calls/call.h"
#include "archive/import/source/byte_source.h"

namespace reprise {

inline constexpr std::size_t kHarPagesMax = 100'000;

/// Reads an untrusted HAR; bodies are skipped. One tree a page, up to its load event (`onLoad`;
/// without one, to its last response); entries of no page are one more. What cannot be read is a
/// loss. Errors: a sentence with the place in the file.
std::expected<std::vector<CallTree>, std::string> read_har_calls(importing::ByteReader& from);

}  // namespace reprise
