#include "tools/wpr/input/ignored_param.h"

#include "archive/exchange.h"

namespace reprise::wpr {
namespace {

class Stripping final : public ConnectionHandler {
 public:
  Stripping(std::unique_ptr<ConnectionHandler> inner, const IgnoredParam& param)
      : inner_(std::move(inner)), param_(param) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override {
    return inner_->plan_tls(connection, hello);
  }
  awaitable<void> ended() override { return inner_->ended(); }
  void close() override { inner_->close(); }

  StoredResponsePtr stored(const ExchangeContext& context, const RequestHead& head) override {
    auto const target = param_.stripped(head);
    if (!target) return inner_->stored(context, head);
    auto changed = head;
    changed.target = *target;
    return inner_->stored(context, changed);
  }

  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override {
    auto const target = param_.stripped(head);
    if (!target) co_return co_await inner_->serve(context, head, body, writer);
    auto changed = head;
    changed.target = *target;
    co_return co_await inner_->serve(context, changed, body, writer);
  }

 private:
  std::unique_ptr<ConnectionHandler> inner_;
  const IgnoredParam& param_;
};

}  // namespace

std::expected<IgnoredParam, std::string> IgnoredParam::parse(std::string_view text) {
  auto const end = text.rfind("::");
  if (end == std::string_view::npos || end == 0 || end + 2 == text.size()) {
    return std::unexpected("--param_to_ignore_in_url_path must be URL::NAME, not '" +
                           std::string(text) + "'");
  }
  return IgnoredParam{.url_prefix = std::string(text.substr(0, end)),
                      .name = std::string(text.substr(end + 2))};
}

std::optional<std::string> IgnoredParam::stripped(const RequestHead& head) const {
  auto const query_at = head.target.find('?');
  if (query_at == std::string_view::npos) return std::nullopt;
  auto const url = url_of(head.scheme, head.host, head.port, head.target);
  if (!url.starts_with(url_prefix)) return std::nullopt;
  auto const prefix = name + "=";
  std::string query;
  bool found = false;
  for (auto rest = head.target.substr(query_at + 1); !rest.empty();) {
    auto const end = std::min(rest.find('&'), rest.size());
    auto const parameter = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (parameter.starts_with(prefix)) {
      found = true;
    } else {
      query.append(query.empty() ? "?" : "&").append(parameter);
    }
  }
  if (!found) return std::nullopt;
  return std::string(head.target.substr(0, query_at)) + query;
}

std::unique_ptr<ConnectionHandler> WithoutParam::open(const ConnectionInfo& connection) {
  return std::make_unique<Stripping>(inner_.open(connection), param_);
}

}  // namespace reprise::wpr
