#include "proxy/http/h1_client.h"

namespace reprise {

H1Client::H1Client(std::unique_ptr<ByteStream> stream)
    : stream_(std::move(stream)),
      reader_(*stream_, {}, Tolerance::kAsBrowsers),
      writer_(*stream_) {}

Task<void> H1Client::send_head(std::string_view method, std::string_view target,
                               HttpVersion version, HeaderList headers) {
  method_ = method;
  keeps_alive_ = false;
  exchange_start_ = stream_->bytes_read();
  auto const framing = request_framing(version, headers);
  if (!framing) co_return fail(framing.error());
  writer_.begin_body(*framing);
  std::string text;
  text.append(method).append(" ").append(target);
  text.append(version == HttpVersion::kHttp10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  for (const HeaderView& field : headers) {
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  text.append("\r\n");
  co_return co_await writer_.send_head(text);
}

Task<ResponseHead> H1Client::read_head() {
  auto const text = co_await reader_.read_head();
  Result<ResponseHead> head =
      ResponseHead{.version = HttpVersion::kHttp10, .status = 200, .reason = "OK"};
  if (text) {
    if (text->empty()) co_return fail(h1_errc::truncated);
    head = parse_response_head(*text, fields_, Tolerance::kAsBrowsers);
    if (!head) co_return fail(head.error());
  } else if (text.error() != h1_errc::only_content) {
    co_return fail(text.error());
  }
  if (is_interim(head->status)) co_return *head;
  auto const framing = response_framing(method_, *head, Tolerance::kAsBrowsers);
  if (!framing) co_return fail(framing.error());
  reader_.begin_body(*framing);
  keeps_alive_ =
      framing->kind != BodyFraming::Kind::kUntilClose && keeps_alive(head->version, head->headers);
  co_return *head;
}

void H1Client::switch_protocols() {
  BodyFraming const raw{.kind = BodyFraming::Kind::kUntilClose};
  reader_.begin_body(raw);
  writer_.begin_body(raw);
  keeps_alive_ = false;
}

}  // namespace reprise
