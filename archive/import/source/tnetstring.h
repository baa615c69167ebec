#pragma once

#include <optional>
#include <string>
#include <vector>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads tnetstrings ("5:hello,": length, payload, type) as they are asked for: what a value is
/// says its last byte only, so that the caller must know what it wants. After a fault, which the
/// reader below keeps, nothing more comes.
class TnetReader {
 public:
  static constexpr std::size_t kDepthMax = 32;

  explicit TnetReader(ByteReader& from) : from_(from) {}

  /// Enters the next value, reading its length. False at the end of what it stands in.
  bool open();
  /// Passes over what is left of the value and returns its type; 0 after a fault.
  char close();
  /// Whether there is more in the innermost open value.
  bool more() const { return !from_.failed() && from_.offset() < ends_.back(); }

  /// The next key of a dictionary that is open, behind which its value stands. False at the end.
  bool next_key(std::string& key);
  /// Closes what is a dictionary (true) or null (false); anything else is a fault.
  bool close_dictionary();
  /// The next value as bytes, whatever it is; nothing when it is null. Fault: over `limit` bytes,
  /// or a number or truth value that is none.
  std::optional<std::string> text(std::size_t limit);
  /// Hands the payload of the value that is open to `take`, in pieces.
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

  /// Ends reading at this byte.
  void fail(const char* what) { bad(what); }

 private:
  void bad(const char* what);

  ByteReader& from_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace reprise::importing
