#pragma once

// Takes a request apart into parameters, the parts that matching compares: MATCHING.md. Pure; input
// is hostile.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "archive/record.h"
#include "base/http/headers.h"

namespace reprise {

inline constexpr std::size_t kParametersReadMax = 4'096;  ///< of one request
inline constexpr std::size_t kNormalisedBodyBytesMax = 1 << 20;
inline constexpr std::size_t kJsonDepthMax = 64;

/// Views into the request, or into the Parameters that it is of.
struct Parameter {
  bool in_body = false;
  bool percent_encoded = false;  ///< as it stands here: compare decoded() forms
  std::string_view name;
  std::string_view value;
};

/// `text` without percent-encoding, '+' as a space; a '%' that two hex digits do not follow stays.
std::string decoded(std::string_view text);

/// The parameters of one request. Borrows what it was made from.
class Parameters {
 public:
  /// Splits at '&' and '='.
  void add_query(std::string_view query, bool in_body = false);
  /// Takes a whole body apart. False, and nothing added, where it is of no form that is known: then
  /// it is compared by its digest and its length. `headers` are the request's.
  bool add_body(HeaderList headers, Bytes body);

  const std::vector<Parameter>& list() const { return list_; }

 private:
  bool add_json(std::string_view text);
  bool add_multipart(std::string_view boundary, std::string_view text);
  bool is_full() const { return list_.size() >= kParametersReadMax; }

  std::vector<Parameter> list_;
  std::deque<std::string> names_;  ///< those that stand nowhere in the request
};

/// The query of a target, without its '?'; empty when it has none.
std::string_view query_of(std::string_view target);

/// The media type of a Content-Type field, as it stands there, without its parameters.
std::string_view media_type_of(std::string_view content_type);

}  // namespace reprise
