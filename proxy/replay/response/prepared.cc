#include "proxy/replay/response/prepared.h"

#include <algorithm>
#include <iterator>

#include "base/http/h1_syntax.h"
#include "inject/response.h"
#include "proxy/replay/response/negotiation.h"
#include "proxy/replay/response/other_form.h"

namespace reprise {
namespace {

/// Limit for a document, which is decoded and encoded again in memory.
constexpr std::uint64_t kDocumentBytesMax = 64 << 20;

std::string record_problem(const char* what, std::uint64_t offset, const std::error_code& error) {
  return std::string(what) + " record at byte " + std::to_string(offset) + ": " + error.message();
}

/// The effort whose result is closest to the recorded body, so that, apart from the script, the
/// number of bytes across a link does not change.
std::optional<coding::Effort> effort_of(HeaderList headers, Bytes body) {
  auto const codings = coding::codings_of(headers);
  if (!codings || codings->empty()) return std::nullopt;
  auto const effort = coding::fit_effort(*codings, body);
  return effort ? std::optional(*effort) : std::nullopt;
}

/// The framing of the body: as in the head, if that is true for the stored body. A cut body is
/// shorter than its length.
BodyFraming framing_of(std::string_view method, const ResponseHead& head,
                       const Exchange& exchange) {
  using Kind = BodyFraming::Kind;
  auto const size = exchange.response.body.size_bytes;
  bool const whole = exchange.outcome == Outcome::kComplete;
  auto const recorded = response_framing(method, head, Tolerance::kAsBrowsers);
  if (recorded && recorded->kind != Kind::kLength) return *recorded;
  if (recorded && (whole ? recorded->length_bytes == size : recorded->length_bytes >= size)) {
    return *recorded;
  }
  if (!whole) return {.kind = Kind::kUntilClose};
  return {.kind = Kind::kLength, .length_bytes = size};
}

/// The memory of fields that own their text.
std::size_t memory_of(HeaderList fields) {
  std::size_t bytes = fields.size_bytes();
  for (const HeaderView& field : fields) bytes += field.name.size() + field.value.size();
  return bytes;
}

std::size_t memory_of(const StoredBody& body) {
  return body.extents.capacity() * sizeof(Extent);
}

struct PlainResponse {
  Headers headers;
  coding::Buffer body;
};

/// The response without its content codings. Digests apply to the coded body and are removed, too.
std::optional<PlainResponse> decoded(HeaderList headers, Bytes body) {
  auto codings = coding::codings_of(headers);
  if (!codings) return std::nullopt;
  auto plain = coding::decode_whole(*codings, body, {.bytes_max = kDocumentBytesMax});
  if (!plain) return std::nullopt;
  auto const length = std::to_string(plain->size());
  std::vector<HeaderView> fields;
  for (const HeaderView& field : headers) {
    auto const is = [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    };
    if (is("Content-Encoding") || is("Content-MD5") || is("Digest") || is("Content-Digest") ||
        is("Repr-Digest")) {
      continue;
    }
    fields.push_back(is("Content-Length") ? HeaderView{.name = field.name, .value = length}
                                          : field);
  }
  return PlainResponse{.headers = Headers(HeaderList(fields)), .body = std::move(*plain)};
}

}  // namespace

std::size_t AlteredResponse::memory_bytes() const {
  return sizeof(*this) + memory_of(rewritten.headers.list()) + rewritten.body.capacity() +
         (response ? response->memory_bytes() : 0);
}

/// A body that the archive has in several extents. Damage shows when it is sent.
class PreparedExchange::ArchivedBody final : public PiecewiseBody {
 public:
  explicit ArchivedBody(const PreparedExchange& of) : of_(of) {}
  std::size_t pieces() const override { return body().extents.size(); }
  Result<Bytes> piece(std::size_t index) const override {
    auto const bytes = of_.archive_.extent(body(), index);
    if (!bytes) {
      auto const at = body().extents[index].record_offset;
      of_.on_damage_(of_.exchange_.request, record_problem("the body's", at, bytes.error()));
    }
    return bytes;
  }

 private:
  const StoredBody& body() const { return of_.exchange_.response.body; }
  const PreparedExchange& of_;
};

PreparedExchange::PreparedExchange(const ArchiveReader& archive, std::uint32_t ordinal,
                                   const DateShift& dates, const Scheduler& scheduler,
                                   const std::set<std::string>& h3_offers, OnDamage on_damage,
                                   CountOf count_of)
    : archive_(archive), on_damage_(std::move(on_damage)), count_of_(std::move(count_of)) {
  prepare(ordinal, dates, scheduler, h3_offers);
  memory_bytes_ = own_bytes();
}

void PreparedExchange::prepare(std::uint32_t ordinal, const DateShift& dates,
                               const Scheduler& scheduler, const std::set<std::string>& h3_offers) {
  auto exchange = archive_.exchange(ordinal);
  if (!exchange) {
    auto const at = archive_.entries()[ordinal].record_offset;
    problem_ = record_problem("the", at, exchange.error());
    return;
  }
  exchange_ = std::move(*exchange);
  schedule_ = scheduler.schedule_of(exchange_);
  const StoredReply& reply = exchange_.response;
  if (reply.status == 0) {
    if (!broken()) problem_ = "its record has no response";
    return;
  }
  if (is_interim(reply.status) && reply.status != 101) {
    if (!broken()) problem_ = "its record has only an interim response";
    return;
  }
  fits_all_ = reprise::fits_all(exchange_);
  // A refused WebSocket is answered like a GET.
  auto const& request = exchange_.request;
  std::string_view method = "GET";
  if (request.protocol.empty()) method = request.method;
  auto const head = head_with(reply.headers.list());
  bool const offers = request.scheme == Scheme::kHttps && h3_offers.contains(request.host);
  fitted_.emplace(method, head, framing_of(method, head, exchange_),
                  offers ? FittedFields::AltSvc::kOnlyH3 : FittedFields::AltSvc::kRemoved);
  headers_ = fitted_->take();
  for (HeaderView& field : headers_) {
    if (auto moved = dates.moved(field.name, field.value)) {
      field.value = moved_dates_.emplace_back(std::move(*moved));
    }
  }
  for (const StoredInterimResponse& interim : exchange_.interim) {
    if (interim.status == 100) continue;  // between the client and its server at that time
    ResponseHead sent{.version = reply.version,
                      .status = interim.status,
                      .reason = one_line(interim.reason),
                      .headers = interim.headers.list()};
    sent.headers = fitted_interim_.emplace_back(method, sent, BodyFraming{}).list();
    interim_.push_back(sent);
  }
  std::ranges::copy_if(reply.trailers.list(), std::back_inserter(trailers_), is_sendable);
  rewritable_as_document_ = is_rewritable(inject::Destination::kDocument);
  rewritable_as_worker_ = is_rewritable(inject::Destination::kWorker);
  // A part's Content-Range counts the coded bytes.
  bool const decodable = !broken() && reply.status != 206;
  if (auto codings = coding::codings_of(headers_); codings && decodable &&
                                                   reply.body.size_bytes > 0 &&
                                                   reply.body.size_bytes <= kDocumentBytesMax) {
    codings_ = std::move(*codings);
  }
  auto parts = parts_with(headers_);
  if (reply.body.extents.size() > 1) {
    for (const Extent& extent : reply.body.extents) piece_bytes_.push_back(extent.size_bytes);
    parts.pieces = std::make_unique<ArchivedBody>(*this);
  } else if (!reply.body.extents.empty()) {
    auto const bytes = archive_.extent(reply.body, 0);
    if (!bytes) {
      auto const at = reply.body.extents[0].record_offset;
      problem_ = record_problem("the body's", at, bytes.error());
      return;
    }
    auto const place = archive_.place_of(*bytes);
    parts.body = {*bytes, place.file, place.offset};
  }
  response_ = std::make_unique<StoredResponse>(method, std::move(parts));
}

PreparedExchange::~PreparedExchange() {
  for (auto& slot : altered_) delete slot.load();
}

std::size_t PreparedExchange::own_bytes() const {
  const StoredRequest& request = exchange_.request;
  const StoredReply& reply = exchange_.response;
  auto bytes = sizeof(*this) + request.host.capacity() + request.target.capacity() +
               memory_of(request.headers.list()) + memory_of(request.trailers.list()) +
               memory_of(request.body) + memory_of(reply.headers.list()) +
               memory_of(reply.trailers.list()) + memory_of(reply.body) +
               reply.chunk_times.capacity() * sizeof(ChunkTime) +
               schedule_.steps.capacity() * sizeof(Schedule::Step) +
               (headers_.capacity() + trailers_.capacity()) * sizeof(HeaderView) +
               interim_.capacity() * sizeof(ResponseHead) + piece_bytes_.capacity() * 8;
  for (auto const& each : exchange_.interim) bytes += sizeof(each) + memory_of(each.headers.list());
  for (auto const& text : moved_dates_) bytes += sizeof(text) + text.capacity();
  return bytes + (response_ ? response_->memory_bytes() : 0);
}

ResponseHead PreparedExchange::head_with(HeaderList headers) const {
  const StoredReply& reply = exchange_.response;
  return {.version = reply.version,
          .status = reply.status,
          .reason = one_line(reply.reason),
          .headers = headers};
}

StoredResponse::Parts PreparedExchange::parts_with(HeaderList headers) const {
  StoredResponse::Parts parts;
  parts.interim = interim_;
  parts.head = head_with(headers);
  parts.trailers = trailers_;
  return parts;
}

bool PreparedExchange::is_rewritable(inject::Destination destination) const {
  // A broken response is not changed: its length and its coding describe the complete body.
  return exchange_.request.method != "HEAD" && !broken() &&
         exchange_.response.body.size_bytes <= kDocumentBytesMax &&
         inject::kind_of(exchange_.response.status, headers_, destination) != inject::Kind::kOther;
}

Form PreparedExchange::form_for(const RequestHead& request, bool inject) const {
  Form form;
  if (inject && (rewritable_as_document_ || rewritable_as_worker_)) {
    auto const destination = inject::destination_of(request.headers);
    bool const worker = destination == inject::Destination::kWorker;
    bool const rewritable = worker ? rewritable_as_worker_ : rewritable_as_document_;
    if (rewritable) form.destination = destination;
  }
  form.plain = !codings_.empty() &&
               !takes_codings(request.headers, exchange_.request.headers.list(), codings_);
  return form;
}

const AlteredResponse* PreparedExchange::altered(const inject::InjectedScript* script,
                                                 const Form& form) const {
  if (!response_ || form.as_recorded()) return nullptr;
  auto& slot = altered_[form.slot()];
  if (auto* const done = slot.load(std::memory_order_acquire)) return done;
  auto made = alter(script, form);
  if (form.destination != inject::Destination::kData) {
    made->count = count_of_(form, made->rewritten.report);
  }
  auto const bytes = made->memory_bytes();
  // Before others find it, who count it with the rest.
  memory_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  AlteredResponse* expected = nullptr;
  // Two threads may make the same form; one of them is kept.
  if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  memory_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return expected;
}

void PreparedExchange::warm_document(const inject::InjectedScript& script) const {
  if (rewritable_as_document_) altered(&script, {.destination = inject::Destination::kDocument});
}

std::unique_ptr<AlteredResponse> PreparedExchange::alter(const inject::InjectedScript* script,
                                                         const Form& form) const {
  auto made = std::make_unique<AlteredResponse>();
  const StoredReply& reply = exchange_.response;
  auto body = archive_.read_body(reply.body, kDocumentBytesMax);
  if (!body) return made;  // the damage shows when it is sent as recorded
  Headers headers{headers_};
  if (form.plain) {
    auto plain = decoded(headers_, *body);
    if (!plain) return made;  // its declared coding is false, so the client may get it unchanged
    headers = std::move(plain->headers);
    *body = std::move(plain->body);
  }
  if (script != nullptr && form.destination != inject::Destination::kData) {
    auto rewritten = inject::rewrite(
        *script, reply.status, headers.list(), *body,
        {.destination = form.destination, .effort = effort_of(headers.list(), *body)});
    made->rewritten.report = std::move(rewritten.report);
    if (made->rewritten.report.verdict == inject::Verdict::kRewritten) {
      headers = std::move(rewritten.headers);
      *body = std::move(rewritten.body);
    } else if (!form.plain) {
      return made;
    }
  }
  made->rewritten.headers = std::move(headers);
  made->rewritten.body = std::move(*body);
  auto parts = parts_with(made->rewritten.headers.list());
  parts.body = Bytes(made->rewritten.body);
  made->response = std::make_unique<StoredResponse>(exchange_.request.method, std::move(parts));
  return made;
}

}  // namespace reprise
