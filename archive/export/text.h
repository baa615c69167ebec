#pragma once

// Writes JSON (RFC 8259) as a stream.

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/export/output.h"
#include "base/text/utf8.h"

namespace reprise::exporting {

/// Writes JSON, in the order of the calls, with a line end before each element of the outermost
/// arrays. Does not check that the calls make valid JSON.
class JsonWriter {
 public:
  enum class Escapes : std::uint8_t {
    kNeeded,
    kAsGo,  ///< also '<', '>' and '&', as Go's encoding/json does
  };
  explicit JsonWriter(Output& to, Escapes escapes = Escapes::kNeeded)
      : to_(to), as_go_(escapes == Escapes::kAsGo) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  /// Invalid UTF-8 becomes U+FFFD; returns whether there was any.
  bool text(std::string_view text);
  void number(std::int64_t number);
  /// Writes JSON unchanged.
  void raw(std::string_view json);

  /// Writes a string in pieces, each of them UTF-8 or cut inside a character.
  void begin_text();
  void piece(std::string_view text);
  void end_text() { to_.write("\""); }
  /// The same for bytes that need no escapes.
  Output& plain() { return to_; }

 private:
  void comma();
  void open(char bracket);
  void close(char bracket);

  Output& to_;
  bool as_go_;
  bool first_ = true;
  bool after_key_ = false;
  std::string escaped_;
};

}  // namespace reprise::exporting
