#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/import/collect/http_text.h"
#include "base/http/digest.h"

namespace reprise::importing {

/// Compares the digests in a WARC record's head with the record's block as it is read.
///
/// A block digest covers the whole block. Without one, the payload digest is compared: tools
/// disagree on the payload (the body as stored, with its chunks decoded, decoded, or the whole
/// block), so a digest that matches any of these is good.
class RecordDigests {
 public:
  /// For a longer payload, only the body as stored is tried.
  static constexpr std::size_t kHeldBytesMax = 16 << 20;

  enum class Verdict : std::uint8_t {
    kNone,  ///< no digest, or only ones that cannot be compared
    kGood,
    kBad,
  };

  /// `head` is the record's; `block_bytes` the length it gives.
  RecordDigests(const Fields& head, std::uint64_t block_bytes);

  void append(std::string_view piece);
  /// Call it after the whole block.
  Verdict finish();
  /// After finish() returned kBad: a clause with both digests.
  const std::string& problem() const { return problem_; }
  /// A digest of unknown kind or length; usually empty.
  const std::string& unknown() const { return unknown_; }

 private:
  /// A digest in a head: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".
  struct Named {
    std::string text;
    const char* algorithm = nullptr;  ///< OpenSSL's name
  };

  std::string_view payload() const;
  std::optional<Named> read(const Fields& head, std::string_view field);
  Verdict compare(const std::string& digest, std::string_view of_what);
  Verdict try_payload();
  void let_go();

  std::string_view kind_;  ///< "block digest"
  std::optional<Named> named_;
  std::optional<NamedDigester> digester_;  ///< of the block, or of a long payload
  std::string held_;                       ///< the block, while its payload may be needed
  bool is_payload_ = false;
  bool has_http_head_ = false;
  bool is_coded_ = false;  ///< not held any longer, and the digest may be that of the decoded body
  std::string problem_;
  std::string unknown_;
};

}  // namespace reprise::importing
