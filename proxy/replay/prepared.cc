#include "proxy/replay/prepared.h"

#include "inject/response.h"

namespace reprise {
namespace {

/// A document is decoded and encoded again in memory.
constexpr std::uint64_t kDocumentBytesMax = 64 << 20;

std::string record_problem(const char* what, std::uint64_t offset, const std::error_code& error) {
  return std::string(what) + " record at byte " + std::to_string(offset) + ": " + error.message();
}

/// The effort that comes nearest to the recorded body, so that the bytes that cross a link are as
/// many as they were, but for the script.
std::optional<inject::Effort> effort_of(HeaderList headers, Bytes body) {
  auto const codings = inject::codings_of(headers);
  if (!codings || codings->empty()) return std::nullopt;
  auto const effort = inject::fit_effort(*codings, body);
  return effort ? std::optional(*effort) : std::nullopt;
}

}  // namespace

/// A body that the archive holds in several extents. What is damaged shows when it is sent.
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
                                   OnDamage on_damage)
    : archive_(archive), on_damage_(std::move(on_damage)) {
  auto exchange = archive.exchange(ordinal);
  if (!exchange) {
    auto const at = archive.entries()[ordinal].record_offset;
    problem_ = record_problem("the", at, exchange.error());
    return;
  }
  exchange_ = std::move(*exchange);
  const StoredReply& reply = exchange_.response;
  for (const HeaderView& field : reply.headers.list()) {
    // It would lead the client past this replay.
    if (!equals_ignoring_case(field.name, "Alt-Svc")) headers_.push_back(field);
  }
  rewritable_as_document_ = is_rewritable(inject::Destination::kDocument);
  rewritable_as_worker_ = is_rewritable(inject::Destination::kWorker);
  auto parts = parts_with(headers_);
  if (reply.body.extents.size() > 1) {
    parts.pieces = std::make_unique<ArchivedBody>(*this);
  } else if (!reply.body.extents.empty()) {
    auto const bytes = archive.extent(reply.body, 0);
    if (!bytes) {
      auto const at = reply.body.extents[0].record_offset;
      problem_ = record_problem("the body's", at, bytes.error());
      return;
    }
    auto const place = archive.place_of(*bytes);
    parts.body = {*bytes, place.file, place.offset};
  }
  response_ = std::make_unique<StoredResponse>(exchange_.request.method, std::move(parts));
}

PreparedExchange::~PreparedExchange() {
  delete document_.load();
  delete worker_.load();
}

StoredResponse::Parts PreparedExchange::parts_with(HeaderList headers) const {
  const StoredReply& reply = exchange_.response;
  StoredResponse::Parts parts;
  for (const StoredInterimResponse& interim : exchange_.interim) {
    if (interim.status == 100) continue;  // between the client and its server of the moment
    parts.interim.push_back({.version = reply.version,
                             .status = interim.status,
                             .reason = interim.reason,
                             .headers = interim.headers.list()});
  }
  parts.head = {
      .version = reply.version, .status = reply.status, .reason = reply.reason, .headers = headers};
  parts.trailers = reply.trailers.list();
  return parts;
}

bool PreparedExchange::is_rewritable(inject::Destination destination) const {
  return exchange_.request.method != "HEAD" &&
         exchange_.response.body.size_bytes <= kDocumentBytesMax &&
         inject::kind_of(exchange_.response.status, headers_, destination) != inject::Kind::kOther;
}

InjectedResponse* PreparedExchange::injected(const inject::InjectedScript& script,
                                             inject::Destination destination) const {
  bool const worker = destination == inject::Destination::kWorker;
  if (destination == inject::Destination::kData || !response_ ||
      !(worker ? rewritable_as_worker_ : rewritable_as_document_)) {
    return nullptr;
  }
  auto& slot = worker ? worker_ : document_;
  if (auto* const done = slot.load(std::memory_order_acquire)) return done;
  auto made = inject(script, destination);
  InjectedResponse* expected = nullptr;
  // Two threads may make the same; one of them is kept.
  if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return expected;
}

InjectedResponse* PreparedExchange::known_injected(inject::Destination destination) const {
  return (destination == inject::Destination::kWorker ? worker_ : document_).load();
}

std::unique_ptr<InjectedResponse> PreparedExchange::inject(const inject::InjectedScript& script,
                                                           inject::Destination destination) const {
  auto made = std::make_unique<InjectedResponse>();
  const StoredReply& reply = exchange_.response;
  auto const body = archive_.read_body(reply.body, kDocumentBytesMax);
  if (!body) return made;  // the damage shows when it is sent as recorded
  made->rewritten =
      inject::rewrite(script, reply.status, headers_, *body,
                      {.destination = destination, .effort = effort_of(headers_, *body)});
  if (made->rewritten.report.verdict != inject::Verdict::kRewritten) return made;
  auto parts = parts_with(made->rewritten.headers.list());
  parts.body = Bytes(made->rewritten.body);
  made->response = std::make_unique<StoredResponse>(exchange_.request.method, std::move(parts));
  return made;
}

}  // namespace reprise
