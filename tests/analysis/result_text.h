#pragma once

// Results of page loads as text, for tests.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/measurements.h"
#include "analysis/metric.h"
#include "pageload/results/result_file.h"

namespace reprise {

struct LoadText {
  double load_ms = 1000;
  std::string url = "https://a.test/";
  std::string protocol = "h2";
  std::string link = "wpt:4g";
  std::string outcome = "loaded";
  bool warm_up = false;
  std::vector<std::string> requests{"https://a.test/"};
  std::size_t replay = 0;
  int status = 200;  ///< of the document, the first request
};

inline std::string number_text(double value) {
  auto text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

inline std::string load_text(const LoadText& load) {
  std::string requests;
  for (const std::string& url : load.requests) {
    auto const first = R"({"method":"GET","resource_type":"Document","status":)" +
                       std::to_string(load.status) + R"(,"url":")";
    requests += (requests.empty() ? first : R"(,{"method":"GET","url":")") + url + R"("})";
  }
  bool const loaded = load.outcome == "loaded";
  return R"({"url":")" + load.url + R"(","run":1,"configuration":{"browser":"chromium",)" +
         R"("protocol":")" + load.protocol + R"(","link":")" + load.link +
         R"(","cache":"cold"},"warm_up":)" + (load.warm_up ? "true" : "false") + R"(,"replay":)" +
         std::to_string(load.replay) + R"(,"outcome":")" + load.outcome +
         R"(","failure":"","load_event_ms":)" + (loaded ? number_text(load.load_ms) : "null") +
         R"(,"last_load_ms":null,"first_contentful_paint_ms":null,)" +
         R"("largest_contentful_paint_ms":null,"dom_content_loaded_ms":null,)" +
         R"("cumulative_layout_shift":null,"request_count":)" +
         std::to_string(load.requests.size()) + R"(,"encoded_bytes":5000,"requests":[)" + requests +
         "]}";
}

struct ResultText {
  std::string sha256 = "aa11";
  std::string browser = "Chrome/1";
  std::string cpu = "Example";
  std::string replay = R"({"run":1,"exit_code":0,"report":{"distinct_misses":[)"
                       R"({"method":"GET","url":"https://a.test/lost"}],)"
                       R"("link":{"shaper":"packet","self_check":{"ok":true},"doubts":[]}}})";
  std::string doubtful_replay =
      R"({"run":1,"exit_code":0,"report":{"distinct_misses":[)"
      R"({"method":"GET","url":"https://a.test/lost"}],)"
      R"("link":{"shaper":"packet","self_check":{"ok":true},"doubts":["too busy"]}}})";
};

/// What is compared of a result.
inline std::expected<Measurements, std::string> measured(std::string_view text) {
  auto const result = read_result(text);
  if (!result) return std::unexpected(result.error());
  return measurements_of(*result);
}

/// The index of a metric by its name on the command line.
inline std::size_t metric(std::string_view name) {
  return parse_metrics(name).value().front();
}

inline std::string result_text(const std::vector<std::string>& loads, const ResultText& of = {}) {
  std::string all;
  for (const std::string& each : loads) all += (all.empty() ? "" : ",") + each;
  return R"({"schema":"reprise-load/1","archive":"a.reprise","archive_sha256":")" + of.sha256 +
         R"(","machine":{"cpu":")" + of.cpu +
         R"(","cores":2},"browsers":[{"name":"chromium","version":")" + of.browser +
         R"("}],"loads":[)" + all + R"(],"replays":[)" + of.replay + "," + of.doubtful_replay +
         "]}";
}

}  // namespace reprise
