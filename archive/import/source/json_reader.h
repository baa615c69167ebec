#pragma once

// Reads JSON (RFC 8259) on demand, and holds one buffer of it, however long the document and its
// strings are. (Boost.JSON instead pushes events to a handler, names no byte in its errors, and
// rejects lone surrogates, which browsers do write.) Not thread-safe.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

enum class JsonKind : std::uint8_t {
  kObject,
  kArray,
  kString,
  kNumber,
  kTrue,
  kFalse,
  kNull,
  kBad
};

/// Length of a JSONP's start ("onInputData("), including white space; 0 if it has none.
std::size_t call_length(std::string_view text);

/// After a fault every call returns nothing, so loops end; the ByteReader keeps the fault, which
/// names the byte. Each member and element must be taken by one call, at least skip().
class JsonReader {
 public:
  static constexpr int kDepthMax = 512;

  /// Skips a byte order mark, and a JSONP's function name.
  explicit JsonReader(ByteReader& from);

  JsonKind peek();
  /// Enters an object. False for any other value, which is then skipped.
  bool enter_object();
  /// The next member's name (at most its first 1,024 bytes). False after the last one.
  bool next_member(std::string& name);
  bool enter_array();
  bool next_element();

  /// A string, or a number or literal as written; empty for null and for other values, which are
  /// skipped. Of a longer string only the first `limit` bytes; `is_cut` is then set. Nothing more
  /// is held in memory.
  std::string text_up_to(std::size_t limit, bool& is_cut);
  /// Also one in a string; nothing for other values, which are skipped.
  std::optional<double> number();
  void skip();
  /// Passes a string on in pieces. False if the value is not a string; it is then skipped.
  bool string_pieces(const std::function<void(std::string_view)>& take);

  /// Requires that only white space follows, and the end of JSONP's call.
  void end();
  /// The offset of the next byte.
  std::uint64_t offset() const { return from_.offset(); }
  bool failed() const { return from_.failed(); }

 private:
  char next_char();
  void expect(char wanted);
  void bad(const char* what);
  bool enter(char open);
  bool next(char close);
  template <class Take>
  void read_string(Take&& take);
  void read_escape(std::string& out);
  unsigned read_hex();
  std::string read_bare();

  ByteReader& from_;
  bool in_call_ = false;
  int depth_ = 0;
  bool first_ = false;  // directly after a '{' or '['
};

}  // namespace reprise::importing
