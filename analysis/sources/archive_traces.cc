#include "analysis/sources/archive_traces.h"

#include "analysis/trench/trench_fields.h"
#include "analysis/trench/trench_json.h"
#include "base/bytes.h"
#include "base/coding/coding.h"

namespace reprise {
namespace {

/// The URL that `reference`, of the response to `request`, means. Recorders fetch no others than
/// these forms of the same origin.
std::string trace_url(const StoredRequest& request, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (reference.find("://") != std::string_view::npos) return std::string(reference);
  auto target = std::string(reference);
  if (reference.starts_with("//")) return std::string(to_string(request.scheme)) + ":" + target;
  if (!reference.starts_with('/')) {
    auto const path = request.target.substr(0, request.target.find('?'));
    target = path.substr(0, path.rfind('/') + 1) + target;
  }
  return url_of(request.scheme, request.host, request.port, target);
}

FoundTrace read(const ArchiveReader& archive, const Exchange& exchange) {
  auto const stored = archive.read_body(exchange.response.body, kTrenchJsonBytesMax);
  auto codings = coding::codings_of(exchange.response.headers.list());
  auto const plain = stored && codings ? coding::decode_whole(*codings, *stored, {})
                                       : fail(stored ? codings.error() : stored.error());
  if (!plain) return {.error = "its body: " + plain.error().message()};
  auto trace = read_trench_json(text_of(*plain));
  if (!trace) return {.error = "its JSON: " + trace.error()};
  return {.trace = std::make_shared<const TrenchTrace>(std::move(*trace))};
}

}  // namespace

FoundTrace ArchiveTraces::of(const Exchange& exchange) {
  auto fields =
      read_trench_fields(exchange.response.headers.list(), exchange.response.trailers.list());
  if (!fields) return {.error = std::move(fields.error())};
  if (fields->trace) {
    return {.trace = std::make_shared<const TrenchTrace>(std::move(*fields->trace))};
  }
  if (fields->url.empty()) return {};
  return at({exchange.session, trace_url(exchange.request, fields->url)});
}

FoundTrace ArchiveTraces::at(const Key& key) {
  auto const entries = archive_.entries();
  if (!ordinals_) {
    ordinals_.emplace();
    for (std::uint32_t ordinal = 0; ordinal < entries.size(); ++ordinal) {
      auto const exchange = archive_.exchange(ordinal);
      if (!exchange) continue;
      ordinals_->emplace(Key(exchange->session, url_of(exchange->request)), ordinal);
    }
  }
  named_.insert(key);
  auto const found = ordinals_->find(key);
  if (found == ordinals_->end()) return {};
  if (last_ && last_->first == key) return last_->second;
  auto const exchange = archive_.exchange(found->second);
  last_.emplace(key, exchange ? read(archive_, *exchange) : FoundTrace{.error = "it is damaged"});
  return last_->second;
}

bool ArchiveTraces::was_fetched(const Exchange& exchange) const {
  return exchange.client_connection_id == 0 &&
         named_.contains({exchange.session, url_of(exchange.request)});
}

}  // namespace reprise
