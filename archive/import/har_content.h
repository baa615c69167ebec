#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "archive/import/collect/collector.h"
#include "archive/import/import.h"
#include "base/text/base64.h"
#include "base/text/utf8.h"

namespace reprise::importing {

/// A body as in HAR's `content.text`: text or base64, which `encoding` tells only afterwards. A
/// body longer than kHeldBytes passes on to the archive before that, as what it looks like.
class HarText {
 public:
  static constexpr std::size_t kHeldBytes = 16 << 20;

  HarText(Collector& collector, std::string content_encoding)
      : collector_(collector), content_encoding_(std::move(content_encoding)) {}

  void append(std::string_view piece);
  /// Nothing if it does not match `is_base64`.
  std::optional<FoundBody> finish(bool is_base64);
  /// Whether it is text beyond ASCII, in UTF-8. HAR 1.2 has all text so, whatever its charset was.
  bool is_beyond_ascii() const { return !as_base64_ && beyond_ascii_ && utf8_.finish(); }

 private:
  void let_go(bool is_base64);
  void pass_on(std::string_view text);

  Collector& collector_;
  std::string content_encoding_;
  std::string held_;
  std::optional<BodyFeed> feed_;
  Base64Decoder decoder_;
  Utf8Check utf8_;
  bool beyond_ascii_ = false;
  bool as_base64_ = false;
  bool good_ = true;
};

/// Reads bodies from the files beside a HAR, or in its zip. However many entries name a file, it is
/// stored once (or again after kKnownMax others).
class AttachmentReader {
 public:
  static constexpr std::size_t kKnownMax = 65'536;

  AttachmentReader(Collector& collector, Attachments attachments)
      : collector_(collector), attachments_(std::move(attachments)) {}

  /// Nothing, with a remark, if the file does not exist; nothing after a fault.
  std::optional<FoundBody> read(const std::string& name, const std::string& content_encoding);

 private:
  struct Known {
    std::string content_encoding;
    FoundBody body;
  };
  template <class Take>
  bool read_file(ByteSource& source, Take&& take);

  Collector& collector_;
  Attachments attachments_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace reprise::importing
