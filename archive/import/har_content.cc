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

/// Passes the file to `take` in pieces. False after a fault.
template <class Take>
bool AttachmentReader::read_file(ByteSource& source, Take&& take) {
  std::string buffer(64 << 10, '\0');
  while (auto const got = source.read(buffer)) {
    take(std::string_view(buffer).substr(0, got));
    if (collector_.failed()) return false;
  }
  if (source.fault()) {
    collector_.damage(*source.fault());
    return false;
  }
  return !collector_.failed();
}

std::optional<FoundBody> AttachmentReader::read(const std::string& name,
                                                const std::string& content_encoding) {
  auto const known = known_.find(name);
  bool const is_known = known != known_.end();
  if (is_known && known->second.content_encoding == content_encoding) return known->second.body;
  auto const source = attachments_(name);
  if (!source) {
    collector_.report().remark("an attachment is missing: " + name.substr(0, 200));
    return std::nullopt;
  }
  if (is_known) {
    CodingCheck coding(content_encoding);
    auto const check = [&coding](std::string_view piece) { coding.append(piece); };
    if (!read_file(*source, check)) return std::nullopt;
    auto found = known->second.body;
    found.coding = coding.finish();
    return found;
  }
  BodyFeed feed(collector_.sink(), false, content_encoding);
  auto const store = [&](std::string_view piece) { collector_.took(feed.append(piece)); };
  if (!read_file(*source, store)) return std::nullopt;
  auto found = feed.finish();
  if (!collector_.took(found)) return std::nullopt;
  if (known_.size() == kKnownMax) known_.clear();
  constexpr std::size_t kKeptBytesMax = 100;  // of a longer coding the body is checked again
  known_.emplace(name, Known{content_encoding.substr(0, kKeptBytesMax), *found});
  return std::move(*found);
}

}  // namespace reprise::importing
