#include "archive/import/collect/http_message.h"

#include <algorithm>

#include "archive/import/collect/field_list.h"
#include "base/http/h1_parser.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kInterimHeadsMax = 64;

bool is_chunked(const Fields& fields) {
  auto const* const coding = find_field(fields, "Transfer-Encoding");
  HeaderView const field{.name = "", .value = coding == nullptr ? "" : std::string_view(*coding)};
  return header_has_token(HeaderList(&field, 1), "", "chunked");
}

}  // namespace

void HttpMessage::append(std::string_view bytes) {
  if (collector_.failed() || !problem_.empty()) return;
  if (feed_) {
    collector_.took(feed_->append(bytes));
    return;
  }
  held_ += bytes;
  take_heads(false);
}

/// Takes heads from the held bytes, interim ones too; the bytes after them go to the body.
void HttpMessage::take_heads(bool is_all) {
  while (!feed_ && problem_.empty()) {
    if (!has_head_) {
      auto end = find_head_end(held_, searched_, kReturnsMax);
      if (!end && is_all && !held_.empty()) end = held_.size();  // no body, and no empty line
      if (!end) {
        if (held_.size() > kHeadBytesMax) problem_ = "its head is longer than 1 MiB";
        return;
      }
      searched_ = 0;
      if (!take_head(std::string_view(held_).substr(0, *end))) return;
      held_.erase(0, *end);
      head_bytes_ += *end;
      has_head_ = true;
    }
    constexpr std::string_view kNextHead = "HTTP/";
    bool const is_interim = kind_ == Kind::kResponse && status_.status >= 100 &&
                            status_.status < 200 && status_.status != 101 &&
                            interim_.size() < kInterimHeadsMax;
    if (is_interim && !is_all && held_.size() < kNextHead.size()) return;
    if (is_interim && held_.starts_with(kNextHead)) {
      has_head_ = false;
      std::vector<HeaderView> views;
      for (const Field& field : fields_) views.push_back({field.name, field.value});
      interim_.push_back(
          {.status = status_.status, .reason = status_.reason, .headers = Headers(views)});
      continue;
    }
    auto const* const coding =
        kind_ == Kind::kResponse ? find_field(fields_, "Content-Encoding") : nullptr;
    feed_.emplace(collector_.sink(), is_chunked(fields_), coding == nullptr ? "" : *coding);
    if (expected_bytes_) feed_->expect(*expected_bytes_ - std::min(head_bytes_, *expected_bytes_));
    collector_.took(feed_->append(std::exchange(held_, {})));
  }
}

bool HttpMessage::take_head(std::string_view text) {
  auto head = parse_head(text);
  if (head.is_cut) collector_.report().remark(std::string(kLongHeadRemark));
  fields_ = std::move(head.fields);
  if (kind_ == Kind::kRequest) {
    if (auto line = parse_request_line(head.first_line)) {
      request_ = std::move(*line);
      return true;
    }
    problem_ = "its request line is malformed";
    return false;
  }
  if (auto line = parse_status_line(head.first_line)) {
    status_ = std::move(*line);
    return true;
  }
  problem_ = "its status line is malformed";
  return false;
}

bool HttpMessage::finish(bool is_cut) {
  if (collector_.failed()) return false;
  take_heads(true);
  if (!feed_ && problem_.empty()) problem_ = "it is empty";
  if (!problem_.empty() || collector_.failed()) return false;
  auto found = feed_->finish(is_cut);
  if (!collector_.took(found)) return false;
  body_ = std::move(*found);
  return true;
}

void HttpMessage::take_request(ExchangeDraft& draft) {
  draft.method = request_.method;
  draft.request_version = request_.version;
  draft.request_fields = std::move(fields_);
  draft.request_body = std::move(body_.stored);
}

void HttpMessage::take_response(ExchangeDraft& draft) {
  draft.status = status_.status;
  draft.reason = status_.reason;
  draft.version = status_.version;
  draft.fields = std::move(fields_);
  draft.interim = std::move(interim_);
  draft.body = std::move(body_);
}

}  // namespace reprise::importing
