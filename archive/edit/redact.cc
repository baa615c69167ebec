#include "archive/edit/redact.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "archive/edit/redact_fields.h"
#include "archive/edit/reply.h"
#include "base/bytes.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

/// Visits all places of an archive that can contain secrets.
class Redaction {
 public:
  Redaction(const ArchiveReader& from, const RedactOptions& options, const BodyCoder& coder,
            const Secrets::Key& key)
      : from_(from), options_(options), coder_(coder), secrets_(key) {}

  /// Collects every secret.
  Result<void> learn() {
    Result<void> done;
    auto const visit = [&](std::string_view value, const std::string& name, Searched searched) {
      if (done) done = secrets_.add(value, name, searched);
      return std::string();
    };
    for (const SessionInfo& info : from_.sessions()) {
      for (auto const& page : info.pages) learn_from_url(page, visit);
      for (auto const& part : info.command_line) learn_from_url(part, visit);
    }
    for (std::uint32_t ordinal = 0; done && ordinal < from_.entries().size(); ++ordinal) {
      auto const exchange = from_.exchange(ordinal);
      if (!exchange) return fail(exchange.error());
      learn_from(*exchange, visit);
      learn_from_form(exchange->request.headers, exchange->request.body, visit);
      learn_from_form(exchange->response.headers, exchange->response.body, visit);
    }
    return done;
  }

  void change(SessionInfo& info) {
    for (auto& page : info.pages) change_url(page);
    // The arguments can hold a secret in any form.
    if (info.command_line.size() > 1) info.command_line.resize(1);
    for (auto& program : info.command_line) change_url(program);
  }

  /// Changes everything except the bodies.
  void change(Exchange& exchange) {
    bool changed = change_url(exchange.request.target);
    for (auto* headers : {&exchange.request.headers, &exchange.request.trailers,
                          &exchange.response.headers, &exchange.response.trailers}) {
      changed |= change_headers(*headers);
    }
    for (auto& interim : exchange.interim) changed |= change_headers(interim.headers);
    changed |= secrets_.hide_all(exchange.failure);
    if (changed) ++report_.exchanges_changed;
  }

  /// The body to store; nothing if it is unchanged. `headers`: before change().
  Result<std::optional<std::vector<std::byte>>> changed_body(const Headers& headers,
                                                             const StoredBody& body, bool form) {
    bool const has_parameters = form && !options_.parameters.empty();
    if (body.size_bytes == 0 || (!options_.bodies && !has_parameters)) return std::nullopt;
    if (body.size_bytes > kSearchedBodyBytesMax) {
      ++report_.bodies_too_large;
      return std::nullopt;
    }
    auto const stored = from_.read_body(body, kSearchedBodyBytesMax);
    if (!stored) return fail(stored.error());
    auto const decoded = coder_.decode(headers.list(), *stored);
    if (!decoded) ++report_.bodies_undecoded;
    std::string const before = decoded ? *decoded : std::string(text_of(*stored));
    auto text = has_parameters ? visit_form(headers.list(), before, options_, hiding()) : before;
    if (options_.bodies) secrets_.hide_all(text);
    if (text == before) return std::nullopt;
    ++report_.bodies_changed;
    if (decoded) return coder_.encode(headers.list(), text, *stored);
    auto const bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }

  void change(WebSocketMessage& message, std::vector<std::byte>& storage) {
    if (message.kind != MessageKind::kText && !options_.bodies) return;
    std::string text(text_of(message.payload));
    if (!secrets_.hide_all(text)) return;
    auto const bytes = std::as_bytes(std::span(text));
    storage.assign(bytes.begin(), bytes.end());
    message.payload = storage;
    ++report_.messages_changed;
  }

  RedactReport report() {
    report_.counts = secrets_.counts();
    report_.unmatched_headers = unmatched(options_.headers, "header ");
    report_.unmatched_parameters = unmatched(options_.parameters, "parameter ");
    return report_;
  }

 private:
  void learn_from_url(std::string_view url, const VisitSecret& visit) const {
    visit_urls(url, options_, visit);
    visit_passwords_in_urls(url, options_, visit);
  }

  void learn_from(const Exchange& exchange, const VisitSecret& visit) const {
    learn_from_url(exchange.request.target, visit);
    auto const learn = [&](const Headers& headers) {
      for (const HeaderView& field : headers.list()) {
        visit_field(field, options_, visit);
        visit_passwords(field, options_, visit);
      }
    };
    learn(exchange.request.headers);
    learn(exchange.request.trailers);
    learn(exchange.response.headers);
    learn(exchange.response.trailers);
    for (auto const& interim : exchange.interim) learn(interim.headers);
  }

  void learn_from_form(const Headers& headers, const StoredBody& body,
                       const VisitSecret& visit) const {
    if (options_.parameters.empty() || !is_form(headers.list())) return;
    if (auto const text = plain_body(headers, body)) {
      visit_form(headers.list(), *text, options_, visit);
    }
  }

  /// The globs that fit none of the names that begin with `kind` in the counts.
  std::vector<std::string> unmatched(std::vector<std::string> globs, std::string_view kind) const {
    std::erase_if(globs, [&](const std::string& glob) {
      return std::ranges::any_of(secrets_.counts(), [&](const auto& count) {
        std::string_view const name = count.first;
        return name.starts_with(kind) && fits_glob(glob, name.substr(kind.size()));
      });
    });
    return globs;
  }

  std::optional<std::string> plain_body(const Headers& headers, const StoredBody& body) const {
    auto const stored = from_.read_body(body, kSearchedBodyBytesMax);
    if (!stored) return std::nullopt;
    auto decoded = coder_.decode(headers.list(), *stored);
    return decoded ? std::move(*decoded) : std::string(text_of(*stored));
  }

  VisitSecret hiding() {
    return [this](std::string_view value, const std::string& name, Searched /*searched*/) {
      return secrets_.hide(value, name);
    };
  }

  bool change_url(std::string& text) {
    auto const before = text;
    text = visit_urls(text, options_, hiding());
    secrets_.hide_all(text);
    return text != before;
  }

  bool change_headers(Headers& headers) {
    std::vector<std::string> values;
    bool changed = false;
    for (const HeaderView& field : headers.list()) {
      auto& value = values.emplace_back(visit_field(field, options_, hiding()));
      secrets_.hide_all(value);
      changed |= value != field.value;
    }
    if (!changed) return false;
    std::vector<HeaderView> fields(headers.list().begin(), headers.list().end());
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].value = values[i];
    headers = Headers(fields);
    return true;
  }

  const ArchiveReader& from_;
  const RedactOptions& options_;
  const BodyCoder& coder_;
  Secrets secrets_;
  RedactReport report_;
};

class RedactedCopy final : public ArchiveCopy {
 public:
  RedactedCopy(const ArchiveReader& from, ArchiveWriter& to, Redaction& redaction)
      : ArchiveCopy(from, to), redaction_(redaction) {}

 protected:
  void change_session(SessionInfo& info) override { redaction_.change(info); }

  Result<void> carry(std::uint32_t /*ordinal*/, Exchange& exchange) override {
    auto& request = exchange.request;
    auto& response = exchange.response;
    auto const sent =
        redaction_.changed_body(request.headers, request.body, is_form(request.headers.list()));
    if (!sent) return fail(sent.error());
    auto const received =
        redaction_.changed_body(response.headers, response.body, is_form(response.headers.list()));
    if (!received) return fail(received.error());
    redaction_.change(exchange);
    auto request_body = put(*sent, request.body);
    if (!request_body) return fail(request_body.error());
    auto response_body = put(*received, response.body);
    if (!response_body) return fail(response_body.error());
    if (*sent) request.headers = with_content_length(request.headers, request_body->size_bytes);
    request.body = std::move(*request_body);
    if (*received) {
      // Of a cut response Content-Length is what it should have had.
      bool const is_whole = exchange.outcome == Outcome::kComplete;
      (is_whole ? set_body : replace_body)(response, std::move(*response_body));
    } else {
      response.body = std::move(*response_body);
    }
    return {};
  }

  Result<void> change_message(const Exchange&, WebSocketMessage& message,
                              std::vector<std::byte>& storage) override {
    redaction_.change(message, storage);
    return {};
  }

 private:
  Result<StoredBody> put(const std::optional<std::vector<std::byte>>& changed,
                         const StoredBody& body) {
    return changed ? store_body(to(), *changed) : copy_body(from(), body, to());
  }

  Redaction& redaction_;
};

}  // namespace

Result<RedactReport> redact_archive(const ArchiveReader& from, const RedactOptions& options,
                                    const BodyCoder& coder, const Secrets::Key& key,
                                    ArchiveWriter& to) {
  Redaction redaction(from, options, coder, key);
  if (auto learnt = redaction.learn(); !learnt) return fail(learnt.error());
  if (auto copied = RedactedCopy(from, to, redaction).run(); !copied) return fail(copied.error());
  return redaction.report();
}

}  // namespace reprise
