#include "analysis/sources/archive_traces.h"

#include "analysis/trench/trench_fields.h"
#include "analysis/trench/trench_json.h"
#include "base/bytes.h"
#include "base/coding/coding.h"
#include "base/http/url.h"

namespace reprise {
namespace {

/// The URL that `reference`, of the response to `request`, means: as the recorder resolves it.
std::optional<std::string> trace_url(const StoredRequest& request, std::string_view reference) {
  auto const base = absolute_url(url_of(request));
  return base ? resolved_url(reference, *base) : std::nullopt;
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
  auto url = trace_url(exchange.request, fields->url);
  if (!url) return {.error = "its URL is invalid"};
  return at({exchange.session, std::move(*url)});
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
  if (found == ordinals_->end()) return {.is_missing = true};
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
