#pragma once

// Parses one serialized policy. Borrows its text. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::inject {

/// A directive whose value is read as a list of sources.
struct Directive {
  std::string name;        ///< in lower case
  std::string_view value;  ///< without white space around it; if empty, at the end of the name
  std::vector<std::string_view> sources;

  /// Whether the list matches nothing: it is empty, or only 'none'.
  bool sources_are_none() const;
  /// Whether every inline script may run: 'unsafe-inline' without a nonce, hash or
  /// 'strict-dynamic'.
  bool allows_all_inline() const;
  /// The first nonce; empty if it has none.
  std::string_view nonce() const;
  bool has_nonce(std::string_view nonce) const;
  bool has_hash(std::string_view hash_source) const;
};

class Policy {
 public:
  explicit Policy(std::string_view text);

  std::string_view text() const { return text_; }
  /// The first directive of this name; later ones have no effect.
  const Directive* find(std::string_view name) const;
  /// The directive that governs <script> elements: script-src-elem, else script-src, else
  /// default-src. Null if it has none of them.
  const Directive* governing_script_elements() const;
  /// Whether it has a sandbox directive without allow-scripts.
  bool sandboxes_scripts() const;
  /// Whether an inline script with this hash and this nonce (may be empty) may run.
  bool lets_run(std::string_view hash_source, std::string_view nonce) const;

 private:
  std::string_view text_;
  std::vector<Directive> directives_;
};

/// The policies in one header field's value, separated by commas, without empty ones.
std::vector<std::string_view> split_policies(std::string_view field_value);

}  // namespace reprise::inject
