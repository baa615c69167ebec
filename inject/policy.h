#pragma once

// One serialized policy, read. Borrows its text. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::inject {

/// A directive whose value is, or is read as, a list of sources.
struct Directive {
  std::string name;        ///< in lower case
  std::string_view value;  ///< without white space around it; at the end of the name when empty
  std::vector<std::string_view> sources;

  /// The list matches nothing: it is empty, or 'none' alone.
  bool sources_are_none() const;
  /// Whether any inline script runs: 'unsafe-inline' without a nonce, hash or 'strict-dynamic'.
  bool allows_all_inline() const;
  /// The first nonce, empty when there is none.
  std::string_view nonce() const;
  bool has_nonce(std::string_view nonce) const;
  bool has_hash(std::string_view hash_source) const;
};

class Policy {
 public:
  explicit Policy(std::string_view text);

  std::string_view text() const { return text_; }
  /// Where a directive is repeated, the first counts.
  const Directive* find(std::string_view name) const;
  /// What decides on <script> elements: script-src-elem, else script-src, else default-src. Null
  /// when nothing does.
  const Directive* governing_script_elements() const;
  /// A sandbox directive without allow-scripts.
  bool sandboxes_scripts() const;
  /// Whether an inline script runs that has this hash and this nonce (may be empty).
  bool lets_run(std::string_view hash_source, std::string_view nonce) const;

 private:
  std::string_view text_;
  std::vector<Directive> directives_;
};

/// The policies of one header field's value, separated by commas, without those that say nothing.
std::vector<std::string_view> split_policies(std::string_view field_value);

}  // namespace reprise::inject
