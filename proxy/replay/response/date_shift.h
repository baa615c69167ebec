#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// Moves dates of messages by whole seconds, so that what was fresh, or a cookie that lived, when a
/// session was recorded is and does so again. Texts keep their width and form: IMF-fixdate and what
/// cookies make of it. Pure.
class DateShift {
 public:
  /// Zero moves nothing.
  explicit DateShift(std::chrono::seconds by) : by_(by) {}

  std::chrono::seconds by() const { return by_; }

  /// The value of a response's field: Date, Expires, Last-Modified, or the Expires attribute of
  /// Set-Cookie. Nothing when it stays as it is: another field, no date, or one that would leave
  /// the years 1 to 9999.
  std::optional<std::string> moved(std::string_view name, std::string_view value) const;
  /// The value of a request's field, moved back: If-Modified-Since, If-Unmodified-Since, If-Range.
  std::optional<std::string> moved_back(std::string_view name, std::string_view value) const;

 private:
  std::chrono::seconds by_;
};

}  // namespace reprise
