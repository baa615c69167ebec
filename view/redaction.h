#pragma once

// Hides secrets in what a page shows: URLs, fields of heads, messages.

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "archive/edit/redact_fields.h"
#include "archive/edit/secrets.h"
#include "archive/reader.h"

namespace reprise {

/// Replaces secrets by kMark. Secrets are: the values of cookies; credentials (Authorization, and
/// in URLs before `@`); fields and parameters of URLs whose name says so (token, key, session, ...)
/// or whose value looks so (20 characters or more, letters and digits mixed); JSON Web Tokens. Of
/// learnt secrets with 8 characters or more and a digit, every other occurrence is replaced, too.
class Redaction {
 public:
  static constexpr std::string_view kMark = "REDACTED";

  /// Learns the secrets of all heads and URLs. Damaged exchanges have none. Errors: too_large.
  Result<void> learn(const ArchiveReader& archive);
  /// Learns the secrets of a URL. Errors: too_large.
  Result<void> learn(std::string_view url);

  /// A URL, or any text with URLs in it.
  std::string text(std::string_view text);
  /// The value of a field.
  std::string value(const HeaderView& field);
  /// All strings in `json`, but not the names of members.
  void hide_in(boost::json::value& json);

 private:
  /// Visits the secrets of a text, or of a field; returns it with the visitor's values.
  static std::string visit_text(std::string_view text, const VisitSecret& visit, int depth = 0);
  static std::string visit_value(const HeaderView& field, const VisitSecret& visit);
  Result<void> learn(const Exchange& exchange);
  VisitSecret learning(Result<void>& done);

  Secrets secrets_{std::string(kMark)};
};

}  // namespace reprise
