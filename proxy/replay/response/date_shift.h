#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// Moves dates of messages by whole seconds, so that responses and cookies are as fresh or valid as
/// when the session was recorded. Texts keep their width and form: IMF-fixdate and its variants in
/// cookies. Pure.
class DateShift {
 public:
  /// Zero moves nothing.
  explicit DateShift(std::chrono::seconds by) : by_(by) {}

  std::chrono::seconds by() const { return by_; }

  /// The value of a response's field: Date, Expires, Last-Modified, or the Expires attribute of
  /// Set-Cookie. Nothing if it does not change: another field, not a date, or a result outside the
  /// years 1 to 9999.
  std::optional<std::string> moved(std::string_view name, std::string_view value) const;

 private:
  std::chrono::seconds by_;
};

}  // namespace reprise
