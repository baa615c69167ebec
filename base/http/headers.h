#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// One header field as on the wire: case kept, value without the optional white space around it
/// (RFC 9110 section 5.5). Borrows its text.
struct HeaderView {
  std::string_view name;
  std::string_view value;
};

/// Header fields in wire order, duplicates included. Borrows.
using HeaderList = std::span<const HeaderView>;

/// ASCII case-insensitive equality, as field names and most tokens compare.
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
/// Converts ASCII letters to lower case; all other bytes are unchanged.
std::string lower_case(std::string_view text);

/// The value of the first field called `name` (any case).
std::optional<std::string_view> find_header(HeaderList headers, std::string_view name);

/// Whether any field called `name` lists `token` among its comma-separated elements (any case).
bool header_has_token(HeaderList headers, std::string_view name, std::string_view token);

/// Header fields that own their text: immutable once made, cheap to move, one allocation for all
/// text. Thread-safe to read.
class Headers {
 public:
  Headers() = default;
  /// Copies every field of `fields`.
  explicit Headers(HeaderList fields);
  Headers(std::initializer_list<HeaderView> fields);
  Headers(const Headers& other) : Headers(other.list()) {}
  Headers& operator=(const Headers& other);
  Headers(Headers&&) = default;
  Headers& operator=(Headers&&) = default;

  /// Valid as long as this object lives, even after a move to another.
  HeaderList list() const { return fields_; }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

  bool operator==(const Headers& other) const;

 private:
  std::unique_ptr<char[]> text_;
  std::vector<HeaderView> fields_;
};

}  // namespace reprise
