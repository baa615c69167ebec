#include "tests/archive/export/random_archive.h"

#include <algorithm>
#include <cctype>
#include <random>

#include "tests/archive/archive_fixture.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::exporting {
namespace {

using std::chrono::nanoseconds;

class RandomSession {
 public:
  RandomSession(ArchiveWriter& writer, std::uint64_t seed) : writer_(writer), random_(seed) {}

  void write() {
    auto info = a_session();
    if (below(3) == 0) info.pages.clear();
    ASSERT_TRUE(writer_.begin_session(info));
    for (std::uint64_t id = 1; id <= kConnections; ++id) add_connection(id);
    auto const count = 1 + below(30);
    for (std::uint64_t i = 1; i <= count; ++i) {
      now_ += nanoseconds(below(50'000'000));
      add(writer_, exchange(i));
    }
    ASSERT_TRUE(writer_.end_session());
  }

 private:
  static constexpr std::uint64_t kConnections = 5;

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  template <class T, std::size_t kSize>
  T one_of(const T (&choices)[kSize]) {
    return choices[below(kSize)];
  }

  /// Text that JSON has to escape here and there.
  std::string text(std::size_t size_max) {
    static constexpr std::string_view kPieces[] = {
        "a", "Z9", " ", "\"", "\\", "</script>", "&", "\t", "é", "字", "\xf0\x9f\x98\x80",
        "=", ";"};
    std::string out;
    auto const size = below(size_max + 1);
    while (out.size() < size) out += one_of(kPieces);
    auto const first = out.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return out.substr(first, out.find_last_not_of(" \t") - first + 1);
  }

  std::string body() {
    switch (below(5)) {
      case 0:
        return "";
      case 1:
        return noise(1 + below(70'000), random_());
      case 2:
        return std::string("line\r\nend\0nul\x1f\x7f", 16) + text(100);
      case 3:
        return "\xef\xbb\xbf" + text(5'000);
      default:
        return text(500);
    }
  }

  void add_connection(std::uint64_t id) {
    auto facts = a_connection(id);
    facts.address = id % 2 == 0 ? "[2001:db8::" + std::to_string(id) + "]:443" : "192.0.2.1:443";
    facts.scheme = id < 3 ? Scheme::kHttp : Scheme::kHttps;
    ASSERT_TRUE(writer_.add_connection(facts));
  }

  void add_odd_fields(std::vector<std::pair<std::string, std::string>>& fields) {
    static constexpr std::string_view kNames[] = {"Accept", "accept",     "X-Odd!#$%&'*+.^_`|~",
                                                  "Cookie", "Set-Cookie", "Location"};
    for (auto left = below(5); left > 0; --left) {
      fields.emplace_back(one_of(kNames), text(40));
    }
  }

  /// Names are in lower case where the protocol has them so.
  static Headers headers(std::vector<std::pair<std::string, std::string>> fields, bool is_h1) {
    std::vector<HeaderView> views;
    for (auto& [name, value] : fields) {
      if (!is_h1)
        std::ranges::transform(name, name.begin(), [](char c) { return std::tolower(c); });
      views.push_back({.name = name, .value = value});
    }
    return Headers(views);
  }

  void fill_request(Exchange& exchange, bool is_h1) {
    auto& request = exchange.request;
    static constexpr std::string_view kMethods[] = {"GET", "GET", "POST", "HEAD", "PUT", "X-OWN"};
    request.method = one_of(kMethods);
    request.host = one_of<std::string_view>({"a.test", "b.test", "2001:db8::1"});
    request.scheme = one_of({Scheme::kHttp, Scheme::kHttps});
    request.port = below(3) == 0 ? 8443 : default_port(request.scheme);
    request.target = "/p" + std::to_string(below(4)) + (below(2) == 0 ? "?q=%20<&x=1" : "");
    std::vector<std::pair<std::string, std::string>> fields;
    add_odd_fields(fields);
    auto const url = url_of(request);
    auto const authority = url.substr(url.find("//") + 2, url.find("/p") - url.find("//") - 2);
    if (is_h1)
      fields.emplace(fields.begin() + static_cast<long>(below(fields.size() + 1)), "Host",
                     authority);
    auto const content = request.method == "POST" || request.method == "PUT" ? body() : "";
    if (is_h1 && !content.empty() && below(2) == 0) {
      fields.emplace_back("Transfer-Encoding", "chunked");
    } else if (!content.empty()) {
      fields.emplace_back("Content-Length", std::to_string(content.size()));
    }
    request.body = store(writer_, content);
    request.body_partial = !content.empty() && below(8) == 0;
    request.headers = headers(fields, is_h1);
  }

  void fill_response(Exchange& exchange, bool is_h1) {
    auto& response = exchange.response;
    static constexpr std::uint16_t kStatuses[] = {200, 200, 200, 206, 301, 404, 500, 204, 304};
    response.status = one_of(kStatuses);
    response.reason = is_h1 ? text(20) : "";
    std::vector<std::pair<std::string, std::string>> fields{{"Content-Type", "text/html"}};
    add_odd_fields(fields);
    bool const empty =
        exchange.request.method == "HEAD" || response.status == 204 || response.status == 304;
    auto content = empty ? "" : body();
    if (!content.empty() && below(3) == 0) {
      content = importing::gzip(content);
      if (below(6) == 0) content.resize(content.size() - 4);
      fields.emplace_back("content-encoding", "gzip");
    }
    if (is_h1 && !empty && below(2) == 0) {
      fields.emplace_back("Transfer-Encoding", "chunked");
      if (below(2) == 0) response.trailers = {{.name = "X-Sum", .value = text(10)}};
    } else if (below(4) > 0 && !empty) {
      fields.emplace_back("Content-Length", std::to_string(content.size()));
    }
    response.body = store(writer_, content);
    response.headers = headers(fields, is_h1);
    if (below(6) == 0) exchange.interim = {{.status = 103, .reason = "", .headers = {}}};
  }

  Exchange exchange(std::uint64_t sequence) {
    static constexpr HttpVersion kVersions[] = {
        HttpVersion::kHttp10, HttpVersion::kHttp11, HttpVersion::kHttp11, HttpVersion::kH2,
        HttpVersion::kH2,     HttpVersion::kH3,     HttpVersion::kUnknown};
    Exchange exchange{.sequence = sequence, .origin_connection_id = below(kConnections + 1)};
    auto const version = one_of(kVersions);
    exchange.request.version = version;
    bool const is_h1 = version == HttpVersion::kHttp10 || version == HttpVersion::kHttp11;
    fill_request(exchange, is_h1);
    if (below(10) == 0) {
      bool const is_left = below(3) == 0;
      exchange.outcome = is_left ? Outcome::kCutByClient : Outcome::kOriginFailed;
      exchange.failure = is_left ? "the client went away" : "cannot connect";
    } else {
      exchange.response.version = version;
      fill_response(exchange, is_h1);
      bool const cut = exchange.response.body.size_bytes > 0 && below(10) == 0;
      if (cut) {
        exchange.outcome = one_of({Outcome::kCutByClient, Outcome::kCutByOrigin});
        exchange.failure = "went away";
      }
    }
    if (below(4) == 0) return exchange;
    auto& timings = exchange.timings;
    timings.queued = now_;
    if (below(4) == 0) return exchange;
    timings.request_sent = now_ + nanoseconds(below(3'000'000));
    if (exchange.response.status != 0) {
      timings.first_byte = timings.request_sent + nanoseconds(below(300'000'000));
      timings.end = timings.first_byte + nanoseconds(below(100));
    } else {
      timings.end = timings.request_sent + nanoseconds(below(9'999'999));
    }
    return exchange;
  }

  ArchiveWriter& writer_;
  std::mt19937_64 random_;
  SessionTime now_{0};
};

}  // namespace

void write_random_session(ArchiveWriter& writer, std::uint64_t seed) {
  RandomSession(writer, seed).write();
}

}  // namespace reprise::exporting
