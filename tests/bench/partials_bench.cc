// The cost of partial results: generated views of 120 entries, in both forms of our own, are read
// from memory by PartialTable, and by simdjson alone (on demand, the same fields, nothing else),
// in turn for each block of 32 MB. Prints one JSON object for each shape; the ratio is the median
// of the blocks' ratios, so that a disturbed block does not matter.
//
// The views: 20 pages, 4 networks, 5 countries; starts 0 to 30 ms after each other, lengths of 10
// to 600 ms; URLs of 30 hosts (first party, CDN, ads, analytics) and 450,000 paths with 6 suffixes,
// by 5 initiators. Of the full shape two thirds have their moments, and of these a quarter
// a new connection; of the times half have 17 digits. The lean shape has its first five fields.
//
//   partials_bench [VIEWS [lean|full]]
//
// of each shape, 1,000,000 (55 GB, ten minutes); one shape alone

#include <simdjson.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/partials/partial_table.h"

using namespace reprise;
namespace ondemand = simdjson::ondemand;

namespace {

constexpr int kEntries = 120;
constexpr std::size_t kBlockBytes = 32 << 20;

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

/// simdjson's reading of the fields.
class Alone {
 public:
  explicit Alone(void (*read_lists)(ondemand::object, Read&)) : read_lists_(read_lists) {}

  /// Whole lines, with simdjson's padding behind them.
  void read(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      auto const* const end =
          static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
      auto const size = static_cast<std::size_t>(end - text.data()) - at;
      ondemand::document document = parser_.iterate(
          simdjson::padded_string_view(text.data() + at, size, size + simdjson::SIMDJSON_PADDING));
      ondemand::object root = document.get_object();
      read_.text(root.find_field("page"));
      read_.number(root.find_field("started"));
      ondemand::object tags = root.find_field("tags");
      for (auto tag : tags) read_.text(tag.value());
      read_lists_(root, read_);
      at += size + 1;
    }
    if (read_.numbers == 0 || read_.bytes == 0) std::abort();
  }

 private:
  void (*read_lists_)(ondemand::object, Read&);
  ondemand::parser parser_;
  Read read_;
};

/// What `explain --partial` does with its input.
class Partials {
 public:
  void read(std::string_view text) {
    while (!text.empty()) {
      auto const space = lines_.space();
      auto const piece = text.substr(0, space.size());
      std::memcpy(space.data(), piece.data(), piece.size());
      lines_.written(piece.size());
      text.remove_prefix(piece.size());
    }
  }
  /// Returns the views read.
  std::uint64_t finish() {
    lines_.finish();
    table_.flush();
    if (lines_.counts().bad_lines > 0 || bytes_ == 0) std::abort();
    return lines_.counts().views;
  }

 private:
  std::uint64_t bytes_ = 0;
  PartialTable table_{KindRules::standard(),
                      Entities::built_in(),
                      {"network", "country"},
                      [this](std::string_view line) { bytes_ += line.size(); }};
  BeaconLines lines_{[this](const BeaconView& view, std::uint64_t) { table_.add(view); }};
};

struct Shape {
  const char* name;
  std::string (Generator::*view)();
  void (*read_lists)(ondemand::object, Read&);
  double bar;  ///< of simdjson's speed
};

constexpr std::array<Shape, 2> kShapes = {
    Shape{"lean", &Generator::lean, read_lean, .65},
    Shape{"full", &Generator::full, read_full, .80},
};

double resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure(const Shape& shape, std::uint64_t views) {
  Generator generator;
  Alone alone(shape.read_lists);
  Partials partials;
  std::string text;
  text.reserve(kBlockBytes + (1 << 20));
  std::vector<double> ratios;
  double ours_seconds = 0, alone_seconds = 0, bytes = 0, first_block_megabytes = 0;
  for (std::uint64_t made = 0; made < views;) {
    text.clear();
    for (; made < views && text.size() < kBlockBytes; ++made) text += (generator.*shape.view)();
    auto const size = text.size();
    text.resize(size + simdjson::SIMDJSON_PADDING);
    std::string_view const lines(text.data(), size);
    auto const before = processor_seconds();
    alone.read(lines);
    auto const between = processor_seconds();
    partials.read(lines);
    auto const after = processor_seconds();
    ratios.push_back((between - before) / (after - between));
    alone_seconds += between - before;
    ours_seconds += after - between;
    bytes += static_cast<double>(size);
    if (ratios.size() == 1) first_block_megabytes = resident_megabytes();
  }
  auto const before = processor_seconds();
  if (partials.finish() != views) std::abort();
  ours_seconds += processor_seconds() - before;
  auto const middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  auto const of_views = static_cast<double>(views);
  std::printf(
      "{\"name\":\"partials_%s\",\"value\":%.3f,\"unit\":\"of simdjson's speed\","
      "\"bound\":\">= %.2f\",\"ok\":%s,\"views\":%.0f,\"views_per_second\":%.0f,"
      "\"gb_per_second\":%.2f,\"bytes_per_view\":%.0f,\"simdjson_views_per_second\":%.0f,"
      "\"seconds_ours_and_simdjson\":[%.1f,%.1f],\"mb_after_the_first_block_and_at_the_end\":"
      "[%.0f,%.0f]}\n",
      shape.name, *middle, shape.bar, *middle >= shape.bar ? "true" : "false", of_views,
      of_views / ours_seconds, bytes / ours_seconds / 1e9, bytes / of_views,
      of_views / alone_seconds, ours_seconds, alone_seconds, first_block_megabytes,
      resident_megabytes());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  auto const views = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::string_view const only = argc > 2 ? argv[2] : "";
  for (const Shape& shape : kShapes) {
    if (only.empty() || only == shape.name) measure(shape, views);
  }
}
