#pragma once

// The text of scripts that callers of Web Page Replay inject. Pure.

#include <chrono>
#include <string>

namespace reprise::wpr {

/// Replaces {{WPR_TIME_SEED_TIMESTAMP}} and {{WPR_CONSTANT_RANDOM_RESULT}}, with or without braces,
/// by `time` in milliseconds and `random` (empty: null).
std::string fill_in(std::string script, std::chrono::milliseconds time, const std::string& random);

/// The same script in ASCII and without the texts that would end a script element or a CDATA
/// section. `script` is UTF-8; bytes that are not become U+FFFD. In literals and names other
/// characters become escapes, between them spaces and line ends; `<!--` that begins a comment
/// becomes `//`. Its meaning changes only in a template whose raw text is read, and where
/// `</script` is code: a comparison with a regular expression.
std::string fit_for_documents(const std::string& script);

}  // namespace reprise::wpr
