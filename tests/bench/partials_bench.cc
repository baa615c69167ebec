// The cost of partial results: generated views of 120 entries, in both forms of our own, are read
// from memory by PartialTable, and by simdjson alone (on demand, the same fields, nothing else).
// Both take turns in this run. Prints one JSON object for each shape.
//
// The views: 20 pages, 4 networks, 5 countries; starts 0 to 30 ms after each other, lengths of 10
// to 600 ms; URLs of 30 hosts (first party, CDN, ads, analytics) and 450,000 paths with 6 suffixes,
// by 5 initiators. Of the full shape two thirds have their moments, and of these a quarter
// a new connection; of the times half have 17 digits. The lean shape has its first five fields.
//
//   partials_bench [MEGABYTES [ROUNDS [lean|full]]]
//
// of input, 150; turns, 5: the fastest one counts; one shape alone

#include <simdjson.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/partials/partial_table.h"

using namespace reprise;
namespace ondemand = simdjson::ondemand;

namespace {

constexpr int kEntries = 120;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One view, as a browser orders it: by start.
class Generator {
 public:
  std::string full() {
    begin();
    line_ += "\"entries\":[";
    for (int i = 0; i < kEntries; ++i) add_full(i);
    line_.back() = ']';
    return line_ += "}\n";
  }
  std::string lean() {
    begin();
    line_ += "\"load\":" + std::to_string(20'000 + below(40'000)) + ",\"requests\":[";
    for (int i = 0; i < kEntries; ++i) add_lean(i);
    line_.back() = ']';
    return line_ += "}\n";
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  void begin() {
    static constexpr std::array<std::string_view, 4> kNetworks = {"4g", "3g", "2g", "slow-2g"};
    static constexpr std::array<std::string_view, 5> kCountries = {"DE", "IN", "US", "BR", "JP"};
    page_ = "https://www.shop.test/page/" + std::to_string(below(20));
    line_ = "{\"page\":\"" + page_ + "\",\"started\":" + std::to_string(1'795'000'000'000) +
            ",\"tags\":{\"network\":\"" + std::string(kNetworks[below(4)]) + "\",\"country\":\"" +
            std::string(kCountries[below(5)]) + "\"},";
    at_ = 0;
  }
  std::string url(int entry) {
    static constexpr std::array<std::string_view, 30> kHosts = {"www.shop.test",
                                                                "static.shop.test",
                                                                "api.shop.test",
                                                                "img.cdn-host.net",
                                                                "d1x7q.cloudfront.net",
                                                                "cdn.jsdelivr.net",
                                                                "cdnjs.cloudflare.com",
                                                                "fonts.gstatic.com",
                                                                "fonts.googleapis.com",
                                                                "ads.doubleclick.net",
                                                                "securepubads.g.doubleclick.net",
                                                                "tpc.googlesyndication.com",
                                                                "ib.adnxs.com",
                                                                "bidder.criteo.com",
                                                                "static.criteo.net",
                                                                "c.amazon-adsystem.com",
                                                                "www.googletagmanager.com",
                                                                "www.google-analytics.com",
                                                                "tags.analytics.io",
                                                                "connect.facebook.net",
                                                                "www.facebook.com",
                                                                "platform.twitter.com",
                                                                "s.ytimg.com",
                                                                "i.ytimg.com",
                                                                "js.stripe.com",
                                                                "widget.intercom.io",
                                                                "static.hotjar.com",
                                                                "bam.nr-data.net",
                                                                "cdn.optimizely.com",
                                                                "social.example"};
    static constexpr std::array<std::string_view, 6> kFiles = {".min.js", ".css", ".woff2",
                                                               ".jpg",    ".png", ""};
    if (entry == 0) return page_;
    return "https://" + std::string(kHosts[below(kHosts.size())]) + "/assets/v" +
           std::to_string(below(90)) + "/component-" + std::to_string(below(5'000)) +
           "-3f9a8c7d2e1b" + std::string(kFiles[below(kFiles.size())]);
  }
  std::string_view initiator(int entry) {
    static constexpr std::array<std::string_view, 5> kInitiators = {"script", "img", "link",
                                                                    "fetch", "xmlhttprequest"};
    return entry == 0 ? "navigation" : kInitiators[below(5)];
  }
  /// As Chromium writes its times: multiples of 0.1 ms, every other one with what is left of the
  /// start of the page.
  std::string ms(std::uint64_t tenths) {
    std::array<char, 32> text;
    auto const left = below(2) * 5.9604645e-9;
    std::snprintf(text.data(), text.size(), left > 0 ? "%.17g" : "%.9g",
                  static_cast<double>(tenths) / 10 + left);
    return text.data();
  }

  void add_lean(int entry) {
    auto const end = at_ + 100 + below(6'000);
    line_ += "[\"" + url(entry) + "\",\"" + std::string(initiator(entry)) + "\"," +
             std::to_string(at_) + "," + std::to_string(end) + "," + std::to_string(below(90'000)) +
             "],";
    at_ += below(300);
  }
  void add_full(int entry) {
    bool const known = entry == 0 || below(3) > 0;
    bool const fresh = below(4) == 0;
    auto const time = [&](std::uint64_t after) { return known ? ms(at_ + after) : "0"; };
    auto const wait = 300 + below(2'000);
    auto const end = wait + below(4'000);
    line_ += R"({"name":")" + url(entry) + R"(","entryType":")" +
             (entry == 0 ? "navigation" : "resource") + R"(","startTime":)" + ms(at_) +
             R"(,"duration":)" + ms(end) + R"(,"navigationId":9867,"initiatorType":")" +
             std::string(initiator(entry)) +
             R"(","deliveryType":"","nextHopProtocol":"h2","renderBlockingStatus":"non-blocking",)"
             R"("contentType":"text/javascript","contentEncoding":"gzip","workerStart":0,)"
             R"("redirectStart":0,"redirectEnd":0,"fetchStart":)" +
             ms(at_) + R"(,"domainLookupStart":)" + time(10) + R"(,"domainLookupEnd":)" +
             time(fresh ? 60 : 10) + R"(,"connectStart":)" + time(fresh ? 60 : 10) +
             R"(,"secureConnectionStart":)" + time(fresh ? 120 : 10) + R"(,"connectEnd":)" +
             time(fresh ? 200 : 10) + R"(,"requestStart":)" + time(210) + R"(,"responseStart":)" +
             time(wait) + R"(,"firstInterimResponseStart":0,)" + R"("finalResponseHeadersStart":)" +
             time(wait) + R"(,"responseEnd":)" + ms(at_ + end) + R"(,"transferSize":)" +
             std::to_string(known ? 4'000 : 0) +
             R"(,"encodedBodySize":3700,"decodedBodySize":9000,"responseStatus":200,)" +
             R"("serverTiming":[])";
    if (entry == 0) line_ += R"(,"loadEventStart":)" + ms(20'000 + below(40'000));
    line_ += "},";
    at_ += below(300);
  }

  std::mt19937_64 random_{1};
  std::string line_, page_;
  std::uint64_t at_ = 0;
};

/// What was read, so that the compiler keeps it.
struct Read {
  double numbers = 0;
  std::size_t bytes = 0;

  void text(ondemand::value value) { bytes += std::string_view(value.get_string()).size(); }
  void number(ondemand::value value) { numbers += double(value.get_double()); }
};

void read_full(ondemand::object root, Read& read) {
  for (auto element : ondemand::array(root.find_field("entries"))) {
    ondemand::object entry = element.get_object();
    // In the order of the line, as find_field() likes it.
    for (auto const* const name : {"name", "entryType"}) read.text(entry.find_field(name));
    for (auto const* const name : {"startTime", "duration"}) read.number(entry.find_field(name));
    for (auto const* const name :
         {"initiatorType", "deliveryType", "nextHopProtocol", "contentType"}) {
      read.text(entry.find_field(name));
    }
    for (auto const* const name :
         {"redirectStart", "redirectEnd", "domainLookupStart", "domainLookupEnd", "connectStart",
          "secureConnectionStart", "connectEnd", "requestStart", "responseStart",
          "finalResponseHeadersStart", "responseEnd", "transferSize", "decodedBodySize",
          "responseStatus"}) {
      read.number(entry.find_field(name));
    }
    for (auto time : ondemand::array(entry.find_field("serverTiming"))) read.text(time.value());
  }
}

void read_lean(ondemand::object root, Read& read) {
  read.number(root.find_field("load"));
  for (auto element : ondemand::array(root.find_field("requests"))) {
    int place = 0;
    for (auto value : element.get_array()) {
      if (place++ < 2) {
        read.text(value.value());
      } else {
        read.numbers += static_cast<double>(std::int64_t(value.get_int64()));
      }
    }
  }
}

std::uint64_t read_alone(std::string_view text, void (*read_lists)(ondemand::object, Read&)) {
  ondemand::parser parser;
  Read read;
  std::uint64_t views = 0;
  for (std::size_t at = 0; at < text.size(); ++views) {
    auto const* const end =
        static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
    auto const size = static_cast<std::size_t>(end - text.data()) - at;
    ondemand::document document = parser.iterate(
        simdjson::padded_string_view(text.data() + at, size, size + simdjson::SIMDJSON_PADDING));
    ondemand::object root = document.get_object();
    read.text(root.find_field("page"));
    read.number(root.find_field("started"));
    ondemand::object tags = root.find_field("tags");
    for (auto tag : tags) read.text(tag.value());
    read_lists(root, read);
    at += size + 1;
  }
  if (read.numbers == 0 || read.bytes == 0) std::abort();
  return views;
}

std::uint64_t make_partials(std::string_view text) {
  std::uint64_t bytes = 0;
  PartialTable table(KindRules::standard(), Entities::built_in(), {"network", "country"},
                     [&bytes](std::string_view line) { bytes += line.size(); });
  BeaconLines lines([&table](const BeaconView& view, std::uint64_t) { table.add(view); });
  while (!text.empty()) {
    auto const space = lines.space();
    auto const piece = text.substr(0, space.size());
    std::memcpy(space.data(), piece.data(), piece.size());
    lines.written(piece.size());
    text.remove_prefix(piece.size());
  }
  lines.finish();
  table.flush();
  if (lines.counts().bad_lines > 0 || bytes == 0) std::abort();
  return lines.counts().views;
}

void measure(const char* shape, std::string text, int rounds, std::uint64_t views, double bar,
             void (*read_lists)(ondemand::object, Read&)) {
  auto const size = text.size();
  text.resize(size + simdjson::SIMDJSON_PADDING);
  std::string_view const lines(text.data(), size);
  double ours = 1e9, alone = 1e9;
  for (int i = 0; i < rounds; ++i) {
    auto const before = processor_seconds();
    if (read_alone(lines, read_lists) != views) std::abort();
    auto const between = processor_seconds();
    if (make_partials(lines) != views) std::abort();
    alone = std::min(alone, between - before);
    ours = std::min(ours, processor_seconds() - between);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const ratio = alone / ours;
  std::printf(
      "{\"name\":\"partials_%s\",\"value\":%.3f,\"unit\":\"of simdjson's speed\","
      "\"bound\":\">= %.2f\",\"ok\":%s,\"views_per_second\":%.0f,\"gb_per_second\":%.2f,"
      "\"bytes_per_view\":%.0f,\"simdjson_views_per_second\":%.0f,"
      "\"memory_without_input_mb\":%.0f}\n",
      shape, ratio, bar, ratio >= bar ? "true" : "false", static_cast<double>(views) / ours,
      static_cast<double>(size) / ours / 1e9,
      static_cast<double>(size) / static_cast<double>(views), static_cast<double>(views) / alone,
      static_cast<double>(usage.ru_maxrss) / 1024 - static_cast<double>(size) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  auto const bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150) * 1'000'000;
  int const rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  auto const generate = [bytes](std::string (Generator::*view)(), std::uint64_t& views) {
    Generator generator;
    std::string text;
    text.reserve(bytes + 200'000);
    for (views = 0; text.size() < bytes; ++views) text += (generator.*view)();
    return text;
  };
  std::string_view const only = argc > 3 ? argv[3] : "";
  std::uint64_t views = 0;
  if (only != "full") {
    auto text = generate(&Generator::lean, views);
    measure("lean", std::move(text), rounds, views, .65, read_lean);
  }
  if (only != "lean") {
    auto text = generate(&Generator::full, views);
    measure("full", std::move(text), rounds, views, .80, read_full);
  }
}
