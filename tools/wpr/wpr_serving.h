#pragma once

// What `wpr record` and `wpr replay` share, on top of `reprise record` and `reprise replay`.

#include <expected>
#include <string>

#include "tools/serve/injection.h"
#include "tools/serve/serving.h"
#include "tools/wpr/grammar.h"

namespace reprise::wpr {

/// Listeners, lines and paths as callers of Web Page Replay expect them. The error is a sentence.
/// Prints a notice if other machines can reach the listeners.
std::expected<ServingOptions, std::string> serving_options(const Flags& flags);

/// The scripts, in the order in which Web Page Replay's documents have them: the last one first.
/// Prints a notice if our script replaces the default one.
InjectionOptions injection_options(const Flags& flags);

/// Prints an error on stderr.
void say_error(const std::string& text);

}  // namespace reprise::wpr
