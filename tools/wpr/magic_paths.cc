#include "tools/wpr/magic_paths.h"

#include <string_view>

namespace reprise::wpr {
namespace {

enum class Path : std::uint8_t { kOther, kGenerate200, kExit, kReset, kClear };

Path path_of(std::string_view target) {
  constexpr std::string_view kPrefix = "/web-page-replay-";
  if (!target.starts_with(kPrefix)) return Path::kOther;
  auto const name = target.substr(kPrefix.size(), target.find('?') - kPrefix.size());
  if (name == "generate-200") return Path::kGenerate200;
  if (name == "command-exit") return Path::kExit;
  if (name == "reset-replay-chronology") return Path::kReset;
  return name == "command-clear" ? Path::kClear : Path::kOther;
}

class MagicConnection final : public ConnectionHandler {
 public:
  MagicConnection(std::unique_ptr<ConnectionHandler> inner, const MagicActions& actions)
      : inner_(std::move(inner)), actions_(actions) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override {
    return inner_->plan_tls(connection, hello);
  }
  awaitable<void> ended() override { return inner_->ended(); }
  void close() override { inner_->close(); }

  StoredResponsePtr stored(const ExchangeContext& context, const RequestHead& head) override {
    return path_of(head.target) == Path::kOther ? inner_->stored(context, head) : nullptr;
  }

  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override {
    auto const path = path_of(head.target);
    return path == Path::kOther ? inner_->serve(context, head, body, writer) : obey(path, writer);
  }

 private:
  Task<void> obey(Path path, ResponseWriter& writer) {
    if (path == Path::kReset) actions_.reset();
    if (path == Path::kClear) actions_.clear();
    std::array const fields{HeaderView{.name = "Content-Length", .value = "0"}};
    ResponseHead const answer{.status = 200, .reason = reason_phrase(200), .headers = fields};
    auto sent = co_await writer.send_head(answer);
    if (sent) sent = co_await writer.finish({});
    if (path == Path::kExit) actions_.exit();
    co_return sent;
  }

  std::unique_ptr<ConnectionHandler> inner_;
  const MagicActions& actions_;
};

}  // namespace

std::unique_ptr<ConnectionHandler> MagicPaths::open(const ConnectionInfo& connection) {
  return std::make_unique<MagicConnection>(inner_.open(connection), actions_);
}

}  // namespace reprise::wpr
