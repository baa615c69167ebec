#include "proxy/http/stored_response.h"

#include "proxy/http/h1_parser.h"
#include "proxy/http/h1_writer.h"

namespace reprise {

StoredResponse::StoredResponse(std::string_view request_method, const ResponseHead& head,
                               HeaderList trailers, Bytes body)
    : head_(head), trailers_(trailers), body_(body) {
  build_h1(request_method);
}

StoredResponse::StoredResponse(const ResponseHead& head, HeaderList trailers,
                               std::unique_ptr<PiecewiseBody> body)
    : head_(head), trailers_(trailers), pieces_(std::move(body)) {}

void StoredResponse::build_h1(std::string_view request_method) {
  auto const framing = response_framing(request_method, head_);
  if (!framing) return;
  h1_head_ = response_head_text(head_);
  h1_keeps_alive_ = keeps_alive(head_.version, head_.headers);
  switch (framing->kind) {
    case BodyFraming::Kind::kNone:
      if (!body_.empty()) return;
      break;
    case BodyFraming::Kind::kLength:
      if (body_.size() != framing->length_bytes) return;
      break;
    case BodyFraming::Kind::kChunked:
      if (!body_.empty()) {
        h1_head_ += chunk_line(body_.size());
        h1_tail_ = "\r\n";
      }
      h1_tail_ += chunk_tail(trailers_);
      break;
    case BodyFraming::Kind::kUntilClose:
      h1_keeps_alive_ = false;
      break;
  }
  h1_wire_.push_back(as_bytes(h1_head_));
  if (!body_.empty()) h1_wire_.push_back(body_);
  if (!h1_tail_.empty()) h1_wire_.push_back(as_bytes(h1_tail_));
}

}  // namespace reprise
