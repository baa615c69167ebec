#include "proxy/http/h2_client.h"

#include <algorithm>
#include <charconv>

#include "base/http/h1_parser.h"

namespace reprise {
namespace {

constexpr std::int32_t kConnectionWindowBytes = 64 << 20;
constexpr std::uint32_t kStreamWindowBytes = 6 << 20;
/// A client may open its windows gradually, from zero; this side opens them as it reads.
constexpr std::uint32_t kStreamWindowBytesMin = 65'535;
/// Limit of memory that an origin can claim here.
constexpr std::uint32_t kHeaderTableBytesMax = 1 << 20;

std::uint16_t status_of(HeaderList fields) {
  auto const text = find_header(fields, ":status").value_or("");
  std::uint16_t status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status;
}

/// The client's setting, limited to what this side of the proxy supports.
std::uint32_t bounded(std::uint16_t id, std::uint32_t value) {
  switch (id) {
    case NGHTTP2_SETTINGS_ENABLE_PUSH:
      return 0;  // a pushed stream would belong to no request
    case NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE:
      return std::max(value, kStreamWindowBytesMin);
    case NGHTTP2_SETTINGS_HEADER_TABLE_SIZE:
      return std::min(value, kHeaderTableBytesMax);
    default:
      return value;
  }
}

}  // namespace

Task<ResponseHead> H2ClientStream::read_head() {
  while (heads_.empty()) {
    if (auto const gone = broken(); !gone) co_return fail(gone.error());
    co_await head_arrived_.wait();
  }
  current_ = std::move(heads_.front());
  heads_.pop_front();
  current_fields_.clear();
  for (const HeaderView& field : current_.list()) {
    if (!field.name.starts_with(':')) current_fields_.push_back(field);
  }
  co_return ResponseHead{.version = HttpVersion::kH2,
                         .status = status_of(current_.list()),
                         .reason = {},
                         .headers = current_fields_};
}

H2Client::H2Client(std::unique_ptr<ByteStream> stream, const Settings& client_settings)
    : H2Session(*stream), owned_stream_(std::move(stream)) {
  auto const options = make_options();
  auto const callbacks = make_callbacks();
  nghttp2_session* made = nullptr;
  nghttp2_session_client_new2(&made, callbacks.get(), static_cast<H2Session*>(this), options.get());
  session_.reset(made);

  std::vector<nghttp2_settings_entry> settings;
  bool says_push = false;
  for (auto const& [id, value] : client_settings) {
    says_push = says_push || id == NGHTTP2_SETTINGS_ENABLE_PUSH;
    settings.push_back({id, bounded(id, value)});
  }
  if (!says_push) settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  if (client_settings.empty()) {
    settings.push_back({NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes});
  }
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

H2Client::~H2Client() = default;

Task<void> H2Client::serve() {
  auto const result = co_await run();
  usable_ = false;
  for (H2ClientStream* const stream : std::exchange(open_, {})) {
    stream->close(NGHTTP2_STREAM_CLOSED);
    stream->head_arrived_.set();
  }
  co_return result;
}

Result<std::unique_ptr<H2ClientStream>> H2Client::request(
    const RequestHead& head, const std::vector<std::string>& pseudo_order, bool has_content) {
  auto stream = std::make_unique<H2ClientStream>(*this);
  H2Fields const made(head, pseudo_order);
  auto const fields = made.copied();
  auto const content = stream->provider();
  auto const id = nghttp2_submit_request(raw(), nullptr, fields.data(), fields.size(),
                                         has_content ? &content : nullptr,
                                         static_cast<H2Content*>(stream.get()));
  if (id < 0) return fail(std::error_code(NGHTTP2_REFUSED_STREAM, h2_category()));
  stream->set_id(id);
  open_.insert(stream.get());
  wake();
  return stream;
}

void H2Client::drop(H2ClientStream& stream) {
  open_.erase(&stream);
  if (stream.closed()) return;
  nghttp2_session_set_stream_user_data(raw(), stream.id(), nullptr);
  nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, stream.id(), NGHTTP2_CANCEL);
  wake();
}

void H2Client::on_begin_head(const nghttp2_frame& frame) {
  auto* const content = content_of(frame.hd.stream_id);
  if (content != nullptr) static_cast<H2ClientStream*>(content)->response_started_ = true;
}

void H2Client::on_head(const nghttp2_frame& frame, H2Content& content, H2Head& arrived) {
  auto& stream = static_cast<H2ClientStream&>(content);
  bool const ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (arrived.too_long()) {
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, stream.id(), NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  auto const fields = arrived.fields();
  if (stream.final_arrived_) {
    if (ends) stream.end_incoming(Headers(fields));
    return;
  }
  bool const interim = is_interim(status_of(fields));
  if (interim && !stream.interim_limit_.takes(fields)) {
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, stream.id(), NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  stream.heads_.emplace_back(fields);
  stream.final_arrived_ = !interim;
  if (ends) stream.end_incoming({});
  stream.head_arrived_.set();
}

void H2Client::on_settings(std::span<const nghttp2_settings_entry> entries) {
  for (auto const& entry : entries) {
    if (entry.settings_id != NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL || entry.value != 1) continue;
    takes_web_sockets_ = true;
    if (on_web_sockets_) on_web_sockets_();
  }
}

void H2Client::on_end_sent(H2Content& content) {
  static_cast<H2ClientStream&>(content).sent_at_ = std::chrono::steady_clock::now();
}

void H2Client::on_closed(H2Content& content) {
  auto& stream = static_cast<H2ClientStream&>(content);
  open_.erase(&stream);
  stream.head_arrived_.set();
}

}  // namespace reprise
