#pragma once

// Web Page Replay's rules file: what to add to recorded responses.

#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/headers.h"

namespace re2 {
class RE2;
}

namespace reprise::wpr {

/// One rule. It is for one URL, or for all that a pattern finds (RE2, Go's syntax).
struct Rule {
  std::string url;
  std::shared_ptr<const re2::RE2> pattern;  ///< shared since rules are copied; null: `url` counts
  Headers extra_headers;                    ///< to add to responses
  std::filesystem::path script;             ///< to inject into documents; empty: none
  bool pushes = false;                      ///< has HTTP/2 pushes, which browsers no longer take

  bool selects(std::string_view of_url) const;
};

/// Parses the JSON of a rules file: a list of objects with URL or URLPattern, and ExtraHeaders
/// ({name: [values]}), Push or InjectedScript. Names are taken in any case, as by Go. `text` is
/// hostile. Paths of scripts are relative to `folder`. The error is a sentence that names the rule.
std::expected<std::vector<Rule>, std::string> parse_rules(std::string_view text,
                                                          const std::filesystem::path& folder);

/// The rule of --inject_script_by_url: "SCRIPT::PATTERN", where the pattern is as URLPattern. The
/// error is a sentence.
std::expected<Rule, std::string> parse_script_by_url(std::string_view text);

}  // namespace reprise::wpr
