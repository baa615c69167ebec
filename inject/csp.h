#pragma once

// Content Security Policy: permits one inline script that policies forbid, and nothing else. Pure.
// Source: W3C CSP Level 3, sections 2.2 (parsing), 6.7.3 (inline checks), 6.8 (fallback).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/headers.h"

namespace reprise::inject {

/// The change of one policy, for the report.
struct PolicyChange {
  bool report_only = false;
  std::string directive;  ///< "script-src", or the added one: "script-src-elem"
  std::string added;      ///< the sources and other text that was added, as written
  bool replaced_none = false;
};

/// The effect of a response's policies on an inline script at the start of its document.
struct ScriptAllowance {
  /// False if a sandbox without allow-scripts blocks all scripts of the document: then nothing is
  /// injected or changed.
  bool scripts_run = true;
  /// For the script's nonce attribute; empty if no policy has a nonce. Safe in a quoted attribute.
  std::string nonce;
  /// The values of the response's policy fields, in order, if any of them changes. Only what
  /// `changes` lists is different.
  std::vector<std::optional<std::string>> values;
  std::vector<PolicyChange> changes;
  /// A policy requires trusted types: a script that writes HTML or scripts must comply.
  bool requires_trusted_types = false;
};

/// Whether scripts can have a nonce attribute.
enum class NonceUse : std::uint8_t { kWithNonce, kWithoutNonce };

/// Computes how scripts whose contents have `hash_sources` ("'sha256-...' ...") may run under the
/// Content-Security-Policy and -Report-Only fields among `headers`:
/// - a policy that permits all inline scripts, or one with that hash, is not changed;
/// - if a policy has a nonce, the scripts use it; only one nonce, the first, and none without
/// `use`;
/// - otherwise the hashes are added to script-src-elem or script-src, whichever governs. If
///   default-src governs, a script-src-elem with the same sources is added, so that the rules for
///   styles, workers and eval do not change. The hash replaces 'none'.
/// Report-only policies are treated alike, so that no new violation is reported. Policies in <meta>
/// never apply: the script comes before them.
ScriptAllowance allow_script(HeaderList headers, std::string_view hash_sources,
                             NonceUse use = NonceUse::kWithNonce);

/// Whether allow_script() reads the field `name`.
bool is_policy_field(std::string_view name);

/// "'sha256-...'" of a script's text.
std::string hash_source_of(std::string_view script);

}  // namespace reprise::inject
