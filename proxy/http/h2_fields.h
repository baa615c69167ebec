#pragma once

// Heads between HTTP/2 and the version-neutral form (RFC 9113 section 8). Pure.

#include <nghttp2/nghttp2.h>

#include <string>
#include <vector>

#include "base/http/message.h"

namespace reprise {

/// Whether the field belongs to an HTTP/1.x connection and is invalid in HTTP/2 (section 8.2.2).
bool is_connection_field(const HeaderView& field);

/// Whether HTTP/2 peers accept a field's value: they reject a message with control characters in a
/// value.
bool is_h2_value(std::string_view value);

/// A head in nghttp2's form: pseudo fields first, names in lower case, without connection fields,
/// and for a response without fields whose values are invalid in HTTP/2. Owns the names; borrows
/// the values. nghttp2 can send it later, so data() is for heads that outlive the session; use
/// copied() for others.
class H2Fields {
 public:
  explicit H2Fields(const ResponseHead& head);
  /// `pseudo_order`: the pseudo names in their order (sites look at it); missing ones are
  /// appended.
  H2Fields(const RequestHead& head, const std::vector<std::string>& pseudo_order);
  H2Fields(H2Fields&&) = default;

  const nghttp2_nv* data() const { return fields_.data(); }
  std::size_t size() const { return fields_.size(); }
  /// On the heap.
  std::size_t memory_bytes() const {
    return names_.capacity() + values_.capacity() + fields_.capacity() * sizeof(nghttp2_nv);
  }
  /// The same fields, to be copied by nghttp2 when they are submitted.
  std::vector<nghttp2_nv> copied() const;

 private:
  void add(std::string_view name, std::string_view value);
  void add_all(HeaderList headers);
  void settle();

  std::string names_;   // all names, as one text
  std::string values_;  // the values created here
  std::vector<nghttp2_nv> fields_;
};

/// Limits the interim responses of one exchange over HTTP/2: no window holds them back, so a peer
/// could send any number, and they wait in memory whatever their receiver takes.
class InterimLimit {
 public:
  static constexpr std::size_t kCountMax = 1024;     ///< as in an archive
  static constexpr std::size_t kBytesMax = 4 << 20;  ///< as RFC 9113 section 6.5.2 counts heads

  /// Counts one. False: it is one too many.
  bool takes(HeaderList fields) {
    bytes_ += kFieldBytes * fields.size();
    for (const HeaderView& field : fields) bytes_ += field.name.size() + field.value.size();
    return ++count_ <= kCountMax && bytes_ <= kBytesMax;
  }

 private:
  static constexpr std::size_t kFieldBytes = 32;

  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace reprise
