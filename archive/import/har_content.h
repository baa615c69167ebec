#pragma once

#include <optional>
#include <string>

#include "archive/import/collect/collector.h"
#include "archive/import/import.h"
#include "base/text/base64.h"

namespace reprise::importing {

/// A body as HAR's `content.text` holds it: text or base64, of which `encoding` tells only
/// afterwards. What is longer than kHeldBytes goes on to the archive before that, as what it looks
/// like.
class HarText {
 public:
  static constexpr std::size_t kHeldBytes = 16 << 20;

  HarText(Collector& collector, std::string content_encoding)
      : collector_(collector), content_encoding_(std::move(content_encoding)) {}

  void append(std::string_view piece);
  /// Nothing when it is not what `is_base64` says it is.
  std::optional<FoundBody> finish(bool is_base64);

 private:
  void let_go(bool is_base64);
  void pass_on(std::string_view text);

  Collector& collector_;
  std::string content_encoding_;
  std::string held_;
  std::optional<BodyFeed> feed_;
  Base64Decoder decoder_;
  bool as_base64_ = false;
  bool good_ = true;
};

/// A body that stands in a file beside the HAR. Nothing, with a remark, when there is no such file;
/// nothing at a fault.
std::optional<FoundBody> read_attachment(Collector& collector, const Attachments& attachments,
                                         const std::string& name,
                                         const std::string& content_encoding);

}  // namespace reprise::importing
