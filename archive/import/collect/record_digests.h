#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/import/collect/http_text.h"
#include "base/http/digest.h"

namespace reprise::importing {

/// The digests that a WARC record's head names, held against the record's block as that goes by.
///
/// A block digest (over the block) covers all there is. Without one the payload digest is looked
/// at: tools do not agree on what a payload is (over the body as it is stored, without its chunks,
/// decoded, or over the whole block), and a digest that fits any of these is good.
class RecordDigests {
 public:
  /// Of a longer payload only the body as it is stored is tried.
  static constexpr std::size_t kHeldBytesMax = 16 << 20;

  enum class Verdict : std::uint8_t {
    kNone,  ///< no digest, or only ones that cannot be compared
    kGood,
    kBad,
  };

  /// `head` is that of the record, `block_bytes` what it says of its length.
  RecordDigests(const Fields& head, std::uint64_t block_bytes);

  void append(std::string_view piece);
  /// The whole block went by.
  Verdict finish();
  /// After finish() was kBad: one clause with both digests.
  const std::string& problem() const { return problem_; }
  /// A digest of which the kind or the length is not known here; mostly empty.
  const std::string& unknown() const { return unknown_; }

 private:
  /// What a head says: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".
  struct Named {
    std::string text;
    const char* algorithm = nullptr;  ///< as OpenSSL calls it
  };

  std::string_view payload() const;
  std::optional<Named> read(const Fields& head, std::string_view field);
  Verdict compare(const std::string& digest, std::string_view of_what);
  Verdict try_payload();
  void let_go();

  std::string_view kind_;  ///< "block digest"
  std::optional<Named> named_;
  std::optional<NamedDigester> digester_;  ///< of the block, or of a long payload
  std::string held_;                       ///< the block, as long as its payload may be asked for
  bool is_payload_ = false;
  bool has_http_head_ = false;
  bool is_coded_ = false;  ///< what was let go: the digest may be that of the body decoded
  std::string problem_;
  std::string unknown_;
};

}  // namespace reprise::importing
