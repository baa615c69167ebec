#pragma once

// What code needs in order to run: a digest of it in an element, a script or a policy (Subresource
// Integrity; CSP Level 3, section 2.3.1), or a policy that permits its source. Pure; linear.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/differences/builder.h"
#include "base/bytes.h"
#include "base/http/digest.h"
#include "base/http/headers.h"

namespace reprise {

/// The digests by which `code` can be named: "sha256-...", "sha384-...", "sha512-...".
std::vector<std::string> digests_of(std::string_view code);

/// The same of code that comes in pieces, which are not kept.
class CodeDigester {
 public:
  CodeDigester();
  void update(Bytes piece);
  /// Of everything so far; ends this digester.
  std::vector<std::string> finish();

 private:
  std::vector<NamedDigester> digesters_;  // one for each way to name it
};

/// All digests that `text` names, as digests_of() writes them.
std::vector<std::string> digests_named_in(std::string_view text);

/// What one directive of a Content-Security-Policy permits.
struct PolicySource {
  std::string directive;  ///< in lower case
  std::string source;     ///< "https://cdn.test", "'unsafe-inline'"; "'nonce'" for any nonce
  auto operator<=>(const PolicySource&) const = default;
};
/// Those of the policies of one response that those of the other do not have.
std::vector<PolicySource> sources_of_one(HeaderList fields, HeaderList other);

/// The host of a source ("https://cdn.test:443/js/", "cdn.test"); empty without one, or with a
/// wildcard.
std::string_view host_of_source(std::string_view source);

/// Which differences would be blocked, or block, without another one.
class Permissions {
 public:
  /// Borrows it; nothing is added to it any more.
  explicit Permissions(const DifferenceBuilder& builder);
  /// Calls `join` with each difference that goes with that one.
  void each_of(std::size_t difference, const std::function<void(std::size_t)>& join);

 private:
  using Differing = std::unordered_map<std::string, std::vector<std::size_t>>;
  enum class Side : bool { kA, kB };

  void note(std::size_t difference, Side side);
  void each_of_sources(std::size_t policy, Side side, const std::function<void(std::size_t)>& join);
  void each_named(const std::string& key, const std::function<void(std::size_t)>& join);
  bool is_permitted_inline(std::size_t difference, const PolicySource& by) const;

  const DifferenceBuilder& builder_;
  std::unordered_map<std::string, std::size_t> of_digest_;  // the first difference with that code
  Differing by_host_;                                       // by key_of()
  std::set<std::string> joined_;                            // keys: all of them are one group
  std::unordered_map<std::size_t, std::vector<std::size_t>> edits_of_pair_;
};

}  // namespace reprise
