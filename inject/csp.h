#pragma once

// Content Security Policy: lets one inline script run where policies forbid it, and nothing else.
// Pure. Source: W3C CSP Level 3, sections 2.2 (parsing), 6.7.3 (inline checks), 6.8 (fallback).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/headers.h"

namespace reprise::inject {

/// What was done to one policy, for the report.
struct PolicyChange {
  bool report_only = false;
  std::string directive;  ///< "script-src", or the one that was added: "script-src-elem"
  std::string added;      ///< the sources and whatever else was added, as written
  bool replaced_none = false;
};

/// What a response's policies mean for an inline script that is put first into its document.
struct ScriptAllowance {
  /// False when a sandbox without allow-scripts keeps all scripts of the document from running:
  /// there is nothing to inject for, and nothing is changed.
  bool scripts_run = true;
  /// For the script's nonce attribute; empty when no policy has one. Safe in a quoted attribute.
  std::string nonce;
  /// The values of the response's policy fields, in order, where one of them changes. The same
  /// bytes but for what `changes` names.
  std::vector<std::optional<std::string>> values;
  std::vector<PolicyChange> changes;
  /// A policy asks for trusted types: a script that writes HTML or scripts must heed that.
  bool requires_trusted_types = false;
};

/// Works out how scripts whose contents have `hash_sources` ("'sha256-...' ...") may run under the
/// Content-Security-Policy and -Report-Only fields among `headers`:
/// - under a policy that lets all inline scripts run, or one with that hash, nothing is changed;
/// - where a policy has a nonce, the scripts take it; one nonce only, the first;
/// - else the hashes are added to script-src-elem or script-src, whichever governs; where
/// default-src
///   does, a script-src-elem with the same sources is added, so that styles, workers and eval see
///   what they saw. 'none' gives way to the hash.
/// Report-only policies are treated alike, so that no violation is reported that was not before.
/// Policies in <meta> never apply: the script stands before them.
ScriptAllowance allow_script(HeaderList headers, std::string_view hash_sources);

/// Whether `name` is a field that allow_script() reads.
bool is_policy_field(std::string_view name);

/// "'sha256-...'" of a script's text.
std::string hash_source_of(std::string_view script);

}  // namespace reprise::inject
