#include "archive/import/har_content.h"

#include <algorithm>
#include <utility>

namespace reprise::importing {

void HarText::append(std::string_view piece) {
  if (feed_) return pass_on(piece);
  held_ += piece;
  if (held_.size() > kHeldBytes) let_go(looks_like_base64(held_));
}

void HarText::let_go(bool is_base64) {
  as_base64_ = is_base64;
  feed_.emplace(collector_.sink(), false, content_encoding_);
  pass_on(std::exchange(held_, {}));
}

void HarText::pass_on(std::string_view text) {
  if (!good_ || collector_.failed()) return;
  if (!as_base64_) {
    auto const is_beyond = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    beyond_ascii_ = beyond_ascii_ || std::ranges::any_of(text, is_beyond);
    utf8_.append(text);
    collector_.took(feed_->append(text));
    return;
  }
  std::string bytes;
  good_ = decoder_.append(text, bytes);
  collector_.took(feed_->append(bytes));
}

std::optional<FoundBody> HarText::finish(bool is_base64) {
  if (!feed_) let_go(is_base64);
  if (as_base64_ != is_base64 || !good_ || !decoder_.is_whole() || collector_.failed()) {
    return std::nullopt;
  }
  auto found = feed_->finish();
  if (!collector_.took(found)) return std::nullopt;
  return std::move(*found);
}

std::optional<FoundBody> read_attachment(Collector& collector, const Attachments& attachments,
                                         const std::string& name,
                                         const std::string& content_encoding) {
  auto const source = attachments(name);
  if (!source) {
    collector.report().remark("an attachment is missing: " + name.substr(0, 200));
    return std::nullopt;
  }
  BodyFeed feed(collector.sink(), false, content_encoding);
  std::string buffer(64 << 10, '\0');
  while (auto const got = source->read(buffer)) {
    if (!collector.took(feed.append(std::string_view(buffer).substr(0, got)))) return std::nullopt;
  }
  if (source->fault()) {
    collector.fail(*source->fault());
    return std::nullopt;
  }
  auto found = feed.finish();
  if (!collector.took(found)) return std::nullopt;
  return std::move(*found);
}

}  // namespace reprise::importing
