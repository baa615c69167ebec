#pragma once

// What helps against what disturbs loads. Pure.

#include <string>
#include <string_view>

namespace reprise {

/// A sentence without its point for a reason of reason_to_skip(), with or without its figures:
/// "Give the container a larger processor quota...". Of what is not known: to wait.
std::string remedy_text(std::string_view reason);

}  // namespace reprise
