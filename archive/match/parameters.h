#pragma once

// Splits a request into parameters, the parts that matching compares: MATCHING.md. Pure; input is
// hostile.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "archive/record.h"
#include "base/http/headers.h"

namespace reprise {

inline constexpr std::size_t kParametersReadMax = 4'096;  ///< per request
inline constexpr std::size_t kNormalisedBodyBytesMax = 1 << 20;
inline constexpr std::size_t kJsonDepthMax = 64;
/// The paths of all leaves of one JSON body together.
inline constexpr std::size_t kJsonPathBytesMax = 4 << 20;

/// Views into the request, or into its Parameters.
struct Parameter {
  bool in_body = false;
  bool percent_encoded = false;  ///< as written: compare decoded() forms
  std::string_view name;
  std::string_view value;
};

/// `text` without percent-encoding, '+' as a space; a '%' without two hex digits is kept.
std::string decoded(std::string_view text);

/// The parameters of one request. Borrows its inputs.
class Parameters {
 public:
  /// Splits at '&' and '='.
  void add_query(std::string_view query, bool in_body = false);
  /// Splits a whole body. Returns false and adds nothing for an unknown form, or beyond a limit:
  /// the body is then compared by its digest and length. `headers` are the request's.
  bool add_body(HeaderList headers, Bytes body);

  const std::vector<Parameter>& list() const { return list_; }

 private:
  bool add_json(std::string_view text);
  bool add_multipart(std::string_view boundary, std::string_view text);
  bool is_full() const { return list_.size() >= kParametersReadMax; }

  std::vector<Parameter> list_;
  std::deque<std::string> names_;  ///< names that are not in the request
};

/// The query of a target, without its '?'; empty when it has none.
std::string_view query_of(std::string_view target);

}  // namespace reprise
