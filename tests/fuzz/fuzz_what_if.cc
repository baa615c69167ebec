// What-ifs: whatever is written, a line is one or a fault; the copy that they all make of a small
// archive opens, and holds every exchange and body.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "archive/edit/reply.h"
#include "base/bytes.h"
#include "base/system/private_folder.h"
#include "proxy/whatif/changed_archive.h"
#include "proxy/whatif/conditions.h"

using namespace reprise;

namespace {

constexpr std::size_t kLinesMax = 16;
constexpr auto kHtml =
    "<!doctype html><html><head><title>x</title><link rel=stylesheet href=/a.css>"
    "<script src=https://b.test/a.js></script></head><body><img src=a.png></body></html>";

void check(bool holds) {
  if (!holds) std::abort();
}

/// The archive, in a folder that stays until the process ends.
class Site {
 public:
  Site() {
    auto const writer = ArchiveWriter::create(path(), {}).value();
    check(writer->begin_session({.pages = {"https://a.test/"}}).has_value());
    add(*writer, "a.test", "/", "text/html", kHtml);
    add(*writer, "a.test", "/frame", "text/html; charset=windows-1252", kHtml);
    add(*writer, "a.test", "/a.css", "text/css", "a { background: url(b.png) }");
    add(*writer, "b.test", "/a.js", "text/javascript", "run()");
    add(*writer, "a.test", "/a.png", "image/png", "no image");
    add(*writer, "b.test", "/a.woff2", "font/woff2", "glyphs");
    add(*writer, "b.test", "/damaged", "text/css", "no brotli", "br");
    add(*writer, "c.test", "/none", "", "", "", 0);
    add(*writer, "c.test", "/fresh", "text/css", "", "", 304);
    check(writer->end_session().has_value());
    check(writer->close().has_value());
    reader = ArchiveReader::open(path(), {}).value();
  }
  ~Site() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path changed() const { return folder_ / "changed"; }

  std::unique_ptr<ArchiveReader> reader;

 private:
  std::filesystem::path path() const { return folder_ / "site"; }
  void add(ArchiveWriter& writer, const char* host, const char* target, const char* type,
           std::string_view body, std::string_view coding = "", std::uint16_t status = 200) {
    Exchange exchange;
    exchange.sequence = ++count_;
    exchange.request = {.method = "GET",
                        .scheme = Scheme::kHttps,
                        .host = host,
                        .port = 443,
                        .target = target,
                        .headers = {{.name = "Referer", .value = "https://a.test/"}}};
    exchange.response.status = status;
    exchange.response.headers = {{.name = "Content-Type", .value = type},
                                 {.name = "Content-Encoding", .value = coding},
                                 {.name = "Content-Security-Policy", .value = "script-src 'self'"}};
    exchange.response.body = store_body(writer, bytes_of(body)).value();
    if (status == 0) exchange.outcome = Outcome::kOriginFailed;
    check(writer.add_exchange(std::move(exchange)).has_value());
  }

  std::filesystem::path folder_ = make_private_folder("reprise-fuzz-").value();
  std::uint64_t count_ = 0;
};

std::vector<whatif::Intervention> parse(std::string_view text) {
  std::vector<whatif::Intervention> interventions;
  while (!text.empty() && interventions.size() < kLinesMax) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto one = whatif::parse_intervention(line);
    check(one || !one.error().empty());
    if (one) interventions.push_back(std::move(*one));
  }
  return interventions;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Site kSite;
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  // Files that never end.
  if (text.contains("/dev") || text.contains("/proc")) return 0;
  auto const interventions = parse(text);
  if (interventions.empty()) return 0;
  auto const& from = *kSite.reader;
  auto effects = whatif::write_changed_archive(from, 1, interventions, kSite.changed());
  check(effects && effects->size() == interventions.size());
  auto const changed = ArchiveReader::open(kSite.changed(), {});
  check(changed && (*changed)->entries().size() == from.entries().size());
  for (auto const ordinal : (*changed)->ordinals_in_order()) {
    auto const exchange = (*changed)->exchange(ordinal);
    check(exchange && (*changed)->read_body(exchange->response.body, 1 << 30).has_value());
  }
  auto const requests = whatif::PageRequests::read(**changed, 1, interventions);
  whatif::conditions_of(requests, interventions, 1, *effects);
  for (whatif::Effect const& each : *effects) {
    // A refusal says why.
    bool const silent = each.changed == 0 && each.selected > 0 && each.remarks.empty();
    check(!silent);
  }
  std::filesystem::remove(kSite.changed());
  return 0;
}
