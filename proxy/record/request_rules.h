#pragma once

// What the user changes in requests while recording: fields that origins get in addition, and
// requests that are not sent. Pure.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "archive/edit/filter.h"
#include "base/http/message.h"

namespace reprise {

/// One `--header '[HOST=]NAME: VALUE'`. HOST is a glob in which `*` matches any text; without it,
/// all hosts get the field.
struct AddedField {
  std::string host = "*";  ///< in lower case
  std::string name;
  std::string value;

  /// The error is a sentence, without the value.
  static std::expected<AddedField, std::string> parse(std::string_view text);
};

/// The fields of a request that a filter of `--block` can test: host, path, query, url, method,
/// scheme, and resource, which is known if the client sends Sec-Fetch-Dest.
const FilterVocabulary& request_vocabulary();

struct RequestRules {
  struct Blocked {
    std::string text;  ///< as the user wrote it
    Filter filter;     ///< of request_vocabulary()
  };
  std::vector<AddedField> fields;
  std::vector<Blocked> blocked;

  /// The text of the first filter that takes the request; null: it is sent.
  const std::string* blocked_by(const RequestHead& request) const;
  /// The same as a sentence; empty: it is sent.
  std::string why_blocked(const RequestHead& request) const;
  /// Adds to `headers` the fields for the request's host; those of the same name are replaced.
  /// Borrows from these rules.
  void add_fields(const RequestHead& request, std::vector<HeaderView>& headers) const;
};

}  // namespace reprise
