#pragma once

// Reads JSON (RFC 8259) as it is asked for, holding one buffer of it however long the document and
// its strings are. (Boost.JSON pushes events at a handler instead, names no byte in its errors, and
// refuses lone surrogates, which browsers do write.) Not thread-safe.

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

/// Length of a JSONP's beginning ("onInputData("), white space included; 0 when it is none.
std::size_t call_length(std::string_view text);

/// After a fault every call returns nothing, so that loops end; the reader below keeps the fault,
/// which names the byte. Each member and each element must be taken by one call, skip() at least.
class JsonReader {
 public:
  static constexpr int kDepthMax = 512;

  /// Skips a byte order mark, and the name of the function that JSONP calls.
  explicit JsonReader(ByteReader& from);

  JsonKind peek();
  /// Enters an object. False when the value is something else, which is skipped then.
  bool enter_object();
  /// The next member's name (at most its first 1,024 bytes). False behind the last one.
  bool next_member(std::string& name);
  bool enter_array();
  bool next_element();

  /// A string, or a number or literal as it is written; empty for null and for what is skipped
  /// because it is none of these. Fault: longer than `limit` bytes.
  std::string text(std::size_t limit);
  std::optional<double> number();
  void skip();
  /// Hands a string over in pieces. False when the value is no string, which is skipped then.
  bool string_pieces(const std::function<void(std::string_view)>& take);

  /// Expects that nothing but white space follows, and the end of JSONP's call.
  void end();
  /// Of the next byte.
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
  bool first_ = false;  // just behind a '{' or '['
};

}  // namespace reprise::importing
