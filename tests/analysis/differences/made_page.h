#pragma once

// Recorded pages for tests of differences.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/differences/differences.h"
#include "analysis/differences/permissions.h"
#include "base/bytes.h"
#include "base/http/url_parts.h"

namespace reprise {

/// A page with its bodies. Bodies are not coded, whatever Content-Encoding says.
class MadePage {
 public:
  RecordedExchange& add(std::string_view url, std::string_view type, std::string_view body = "",
                        std::vector<HeaderView> fields = {}) {
    RecordedExchange made;
    made.ordinal = static_cast<std::uint32_t>(page.exchanges.size());
    made.method = "GET";
    made.origin = url.substr(0, url.find('/', 8));
    made.host = url_parts(url).host;
    made.target = url.substr(made.origin.size());
    made.status = 200;
    made.media_type = type;
    made.headers = Headers(fields);
    made.size_bytes = body.size();
    made.digest = sha256(bytes_of(body));
    made.think = std::chrono::milliseconds(20);
    bodies_.emplace_back(body);
    page.hosts.try_emplace(
        made.host, RecordedHost{.protocol = "h2",
                                .chain_bytes = 4000,
                                .address = "192.0.2." + std::to_string(page.hosts.size() + 1),
                                .resolved_in = std::chrono::milliseconds(8)});
    page.exchanges.push_back(std::move(made));
    return page.exchanges.back();
  }
  RecordedExchange& at(std::string_view url) {
    for (RecordedExchange& each : page.exchanges) {
      if (each.url() == url) return each;
    }
    throw std::out_of_range(std::string(url));
  }
  void set_body(std::string_view url, std::string_view body) {
    auto& of = at(url);
    bodies_[of.ordinal] = body;
    of.size_bytes = body.size();
    of.digest = sha256(bytes_of(body));
  }
  /// The body as it was, in another form on the wire.
  void set_coded(std::string_view url, std::string_view coding, std::string_view coded) {
    auto& of = at(url);
    of.headers = Headers({{.name = "Content-Encoding", .value = coding}});
    of.size_bytes = coded.size();
    of.digest = sha256(bytes_of(coded));
  }
  void remove(std::string_view url) {
    std::erase_if(page.exchanges, [&](const RecordedExchange& of) { return of.url() == url; });
  }
  const std::string& body(const RecordedExchange& of) const { return bodies_[of.ordinal]; }
  /// Those of responses with a field X-Unreadable are known by their digests alone.
  PageBodies bodies() const {
    return {.plain = [this](const RecordedExchange& of) -> std::optional<std::string> {
              if (find_header(of.headers.list(), "x-unreadable")) return std::nullopt;
              return body(of);
            },
            .wire_digests = [this](const RecordedExchange& of) { return digests_of(body(of)); }};
  }

  RecordedPage page;

 private:
  std::vector<std::string> bodies_;
};

inline Differences differences_of(const MadePage& a, const MadePage& b) {
  return find_differences(a.page, b.page, a.bodies(), b.bodies());
}

/// A page of two hosts with six resources.
inline MadePage a_page() {
  MadePage made;
  made.add("https://a.test/", "text/html",
           "<!doctype html><html>\n<head><title>T</title>\n"
           "<link rel=preload as=font href=/font.woff2>\n"
           "<link rel=stylesheet href=/style.css>\n<script src=/app.js></script>\n</head>\n"
           "<body><h1>Hello</h1>\n<img src=/img/hero.png>\n<p>words</p>\n</body></html>\n",
           {{.name = "Content-Security-Policy", .value = "script-src 'nonce-aaaaaaaaaa'"}});
  made.add("https://a.test/style.css", "text/css", "p { color: red }",
           {{.name = "Cache-Control", .value = "max-age=600"}});
  made.add("https://a.test/app.js", "text/javascript",
           "const limit = 10;\nfunction start() {\n  show(limit);\n}\nstart();\n",
           {{.name = "Cache-Control", .value = "max-age=600"}});
  made.add("https://a.test/font.woff2", "font/woff2", "font");
  made.add("https://a.test/img/hero.png", "image/png", "hero");
  made.add("https://cdn.test/track.1a2b3c4d.js?t=1700000001", "text/javascript", "track()");
  return made;
}

}  // namespace reprise
