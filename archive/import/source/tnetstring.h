#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads tnetstrings ("5:hello,": length, payload, type) on demand. Only the last byte of a value
/// has its type, so the caller must know what it expects. After a fault, which the ByteReader
/// keeps, every call returns nothing.
class TnetReader {
 public:
  static constexpr std::size_t kDepthMax = 32;

  explicit TnetReader(ByteReader& from) : from_(from) {}

  /// Enters the next value, reading its length. False at the end of the enclosing value.
  bool open();
  /// Skips the rest of the value and returns its type; 0 after a fault.
  char close();
  /// Whether the innermost open value has more.
  bool more() const { return !from_.failed() && from_.offset() < ends_.back(); }

  /// The next key of the open dictionary (at most its first 1,024 bytes), followed by its value.
  /// False at the end.
  bool next_key(std::string& key);
  /// Closes a dictionary (true) or null (false); any other type is a fault.
  bool close_dictionary();
  /// The next value as bytes, of any type; nothing for null. Of a longer one only the first `limit`
  /// bytes; `is_cut` is then set. Fault: an invalid number or truth value.
  std::optional<std::string> text_up_to(std::size_t limit, bool& is_cut);
  /// Passes the payload of the open value to `take`, in pieces.
  template <class Take>
  void read(Take take) {
    while (more()) {
      auto const piece = from_.some().substr(0, ends_.back() - from_.offset());
      if (piece.empty()) return bad("the file ends inside a value");
      take(piece);
      from_.consume(piece.size());
    }
  }
  void skip() {
    if (open()) close();
  }

  /// Where the payload of the innermost open value ends; its type follows. There must be one.
  std::uint64_t end() const { return ends_.back(); }
  /// Forgets all open values, after a fault.
  void reset() { ends_.clear(); }

 private:
  void bad(const char* what);

  ByteReader& from_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace reprise::importing
