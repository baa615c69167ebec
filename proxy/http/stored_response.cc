#include "proxy/http/stored_response.h"

#include "base/http/h1_parser.h"
#include "proxy/http/h1_writer.h"

namespace reprise {

StoredResponse::StoredResponse(std::string_view request_method, Parts parts)
    : parts_(std::move(parts)), h2_fields_(parts_.head) {
  if (parts_.pieces == nullptr) build_h1(request_method);
}

std::size_t StoredResponse::memory_bytes() const {
  return sizeof(*this) + parts_.interim.capacity() * sizeof(ResponseHead) +
         h2_fields_.memory_bytes() + h1_head_.capacity() + h1_tail_.capacity() +
         h1_wire_.capacity() * sizeof(Piece);
}

void StoredResponse::build_h1(std::string_view request_method) {
  const Bytes body = parts_.body.bytes;
  ResponseHead head = parts_.head;
  auto framing = response_framing(request_method, head);
  if (!framing) return;
  // Other protocols need no length; HTTP/1.1 needs one, or the connection would have to be closed.
  std::vector<HeaderView> with_length;
  auto const length = std::to_string(body.size());
  if (framing->kind == BodyFraming::Kind::kUntilClose && !is_http1(head.version)) {
    with_length.assign(head.headers.begin(), head.headers.end());
    with_length.push_back({.name = "Content-Length", .value = length});
    head.headers = with_length;
    *framing = {.kind = BodyFraming::Kind::kLength, .length_bytes = body.size()};
  }
  for (const ResponseHead& interim : parts_.interim) h1_head_ += response_head_text(interim);
  h1_head_ += response_head_text(head);
  h1_keeps_alive_ = keeps_alive(head.version, head.headers);
  switch (framing->kind) {
    case BodyFraming::Kind::kNone:
      if (!body.empty()) return;
      break;
    case BodyFraming::Kind::kLength:
      if (body.size() != framing->length_bytes) return;
      break;
    case BodyFraming::Kind::kChunked:
      if (!body.empty()) {
        h1_head_ += chunk_line(body.size());
        h1_tail_ = "\r\n";
      }
      h1_tail_ += chunk_tail(parts_.trailers);
      break;
    case BodyFraming::Kind::kUntilClose:
      h1_keeps_alive_ = false;
      break;
  }
  h1_wire_.emplace_back(bytes_of(h1_head_));
  if (!body.empty()) h1_wire_.push_back(parts_.body);
  if (!h1_tail_.empty()) h1_wire_.emplace_back(bytes_of(h1_tail_));
}

}  // namespace reprise
