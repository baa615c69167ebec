#include "tests/archive/edit/edit_fixture.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

class RandomArchive {
 public:
  RandomArchive(const std::filesystem::path& path, std::uint64_t seed)
      : random_(seed), writer_(create_archive(path)) {}

  void make() {
    for (auto sessions = 1 + below(3); sessions-- > 0;) add_session();
    ASSERT_TRUE(writer_->close());
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  SessionTime time() { return below(10) == 0 ? kNoTime : SessionTime(below(10'000'000'000)) - 1s; }
  std::string host() { return "host" + std::to_string(below(5)) + ".test"; }
  std::string token() { return "Tok-" + std::to_string(1'000'000'000 + below(20)); }

  void add_session() {
    auto info = a_session();
    info.started += SessionTime(below(1'000'000'000'000));
    info.random_seed = random_();
    info.pages = {"https://" + host() + "/?token=" + token()};
    ASSERT_TRUE(writer_->begin_session(info));
    auto const connections = 1 + below(8);
    for (std::uint64_t id = 1; id <= connections; ++id) {
      auto facts = a_connection(id);
      facts.host = host();
      facts.chain_bytes = static_cast<std::uint32_t>(random_());
      facts.dns_start = time();
      facts.ready = time();
      if (below(3) != 0) facts.failure.clear();
      ASSERT_TRUE(writer_->add_connection(facts));
    }
    for (auto answers = below(6); answers-- > 0;) {
      auto answer = an_answer(host());
      answer.asked = time();
      ASSERT_TRUE(writer_->add_answer(answer));
    }
    auto const exchanges = 1 + below(40);
    for (std::uint64_t i = 1; i <= exchanges; ++i) add_exchange(2 * i, connections);
    if (below(4) != 0) ASSERT_TRUE(writer_->end_session());
  }

  std::string body() {
    if (below(3) == 0) return "one of few: " + std::to_string(below(4));
    if (below(40) == 0) return noise((1 << 20) + below(1 << 20), below(3));
    return noise(below(2'000), random_());
  }

  void add_exchange(std::uint64_t sequence, std::uint64_t connections) {
    auto exchange = a_full_exchange(*writer_, sequence);
    auto& request = exchange.request;
    auto& response = exchange.response;
    exchange.client_connection_id = below(4);
    exchange.origin_connection_id = below(connections + 1);
    request.method = below(4) == 0 ? "POST" : "GET";
    request.host = host();
    request.target = "/" + std::to_string(below(6)) + "?a=1&token=" + token();
    auto const secret = token();
    auto const cookie = "sid=" + secret + "; theme=dark";
    request.headers = {{.name = "Cookie", .value = cookie},
                       {.name = "Content-Type", .value = "application/x-www-form-urlencoded"},
                       {.name = "Authorization", .value = "Bearer abc.def-0123456789"}};
    request.body = {};
    if (request.method == "POST") request.body = store(*writer_, "token=" + token() + "&x=1");
    auto const text = body();
    auto const length = std::to_string(text.size());
    auto const location = "https://" + host() + "/" + secret;
    response.status = static_cast<std::uint16_t>(200 + 100 * below(4));
    response.headers = {{.name = "Content-Type", .value = below(2) == 0 ? "text/css" : "text/html"},
                        {.name = "content-length", .value = length},
                        {.name = "Set-Cookie", .value = cookie},
                        {.name = "Location", .value = location}};
    response.body = store(*writer_, text);
    response.chunk_times = {{.end_bytes = text.size() / 2, .time = time()},
                            {.end_bytes = text.size(), .time = time()}};
    exchange.interim.front().time = time();
    exchange.timings = {
        .queued = time(), .request_sent = time(), .first_byte = time(), .end = time()};
    exchange.outcome = below(3) == 0 ? static_cast<Outcome>(1 + below(4)) : Outcome::kComplete;
    exchange.failure = exchange.outcome == Outcome::kComplete ? "" : "cut";
    add(*writer_, exchange);
  }

  std::mt19937_64 random_;
  std::unique_ptr<ArchiveWriter> writer_;
};

}  // namespace

LoadedArchive load_all(const std::filesystem::path& path) {
  auto const reader = open_archive(path);
  EXPECT_TRUE(reader->report().indexed);
  EXPECT_TRUE(problems_of(*reader).empty());
  LoadedArchive loaded{.sessions = reader->sessions(),
                       .connections = reader->connections(),
                       .answers = reader->answers(),
                       .exchanges = {}};
  for (auto& exchange : exchanges_of(*reader)) {
    auto& kept = loaded.exchanges.emplace_back();
    kept.request_body = load(*reader, exchange.request.body);
    kept.response_body = load(*reader, exchange.response.body);
    exchange.request.body.extents.clear();
    exchange.response.body.extents.clear();
    kept.exchange = std::move(exchange);
  }
  return loaded;
}

void expect_same(const LoadedExchange& a, const LoadedExchange& b) {
  expect_same(a.exchange, b.exchange);
  EXPECT_TRUE(a.request_body == b.request_body);
  EXPECT_TRUE(a.response_body == b.response_body);
}

void make_random_archive(const std::filesystem::path& path, std::uint64_t seed) {
  RandomArchive(path, seed).make();
}

}  // namespace reprise
