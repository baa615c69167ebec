#include "tools/browser/result_file.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "tools/browser/digest.h"
#include "tools/private_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// The length of the UTF-8 sequence at the start of `text`; 0 when there is none (RFC 3629).
std::size_t sequence_bytes(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const first = byte(0);
  std::size_t const size = first < 0x80                     ? 1
                           : first >= 0xC2 && first <= 0xDF ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  bool const overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  bool const surrogate = first == 0xED && byte(1) >= 0xA0;
  bool const beyond = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

/// Text of a page may be anything; JSON is UTF-8.
json::string text_json(std::string_view text) {
  json::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const size = sequence_bytes(text);
    if (size > 0) {
      out.append(text.substr(0, size));
    } else {
      out.append("\xEF\xBF\xBD");  // U+FFFD
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return out;
}

json::value time_json(double ms) {
  return ms < 0 ? json::value() : json::value(ms);
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.push_back(text_json(text));
  return out;
}

json::object request_json(const PageRequest& request) {
  json::object out;
  out["url"] = text_json(request.url);
  out["method"] = text_json(request.method);
  out["resource_type"] = text_json(request.resource_type);
  out["status"] = request.status;
  out["protocol"] = text_json(request.protocol);
  out["remote_address"] = text_json(request.remote_address);
  out["mime_type"] = text_json(request.mime_type);
  out["failure"] = text_json(request.failure);
  out["from_cache"] = request.from_cache;
  out["encoded_bytes"] = request.encoded_bytes;
  out["body_sha256"] = request.body_sha256 ? json::value(*request.body_sha256) : json::value();
  out["request_body_sha256"] = request.request_body_sha256.empty()
                                   ? json::value()
                                   : json::value(request.request_body_sha256);
  out["start_ms"] = time_json(request.start_ms);
  out["response_ms"] = time_json(request.response_ms);
  out["end_ms"] = time_json(request.end_ms);
  return out;
}

json::object load_json(const LoadResult::Load& load, bool with_dom) {
  const PageLoad& page = load.page;
  json::array requests;
  for (const PageRequest& request : page.requests) requests.push_back(request_json(request));
  json::object out;
  out["url"] = text_json(page.url);
  out["run"] = load.run;
  out["outcome"] = to_string(page.outcome);
  out["failure"] = text_json(page.failure);
  out["final_url"] = text_json(page.final_url);
  out["dom_content_loaded_ms"] = time_json(page.dom_content_loaded_ms);
  out["load_event_ms"] = time_json(page.load_event_ms);
  out["first_contentful_paint_ms"] = time_json(page.first_contentful_paint_ms);
  out["last_resource_ms"] = time_json(page.last_resource_ms);
  out["dom_sha256"] = page.dom.empty() ? json::value() : json::value(sha256_hex(page.dom));
  if (with_dom) out["dom"] = text_json(page.dom);
  out["requests"] = std::move(requests);
  out["requests_not_kept"] = page.requests_not_kept;
  out["console_errors"] = texts_json(page.console_errors);
  out["remarks"] = texts_json(page.remarks);
  return out;
}

}  // namespace

json::object to_json(const LoadResult& result, bool with_dom) {
  json::array loads;
  for (const auto& load : result.loads) loads.push_back(load_json(load, with_dom));
  json::array replays;
  for (const ReplayRun& replay : result.replays) {
    replays.push_back(
        {{"run", replay.run}, {"exit_code", replay.exit_code}, {"report", replay.report}});
  }
  json::object out;
  out["schema"] = "reprise-load/1";
  out["reprise"] = REPRISE_VERSION;
  out["archive"] =
      result.archive.empty() ? json::value() : json::value(text_json(result.archive.native()));
  out["browser"] = {{"version", text_json(result.browser_version)},
                    {"flags", texts_json(result.browser_flags)}};
  out["settings"] = {{"timeout_ms", result.page.timeout.count()},
                     {"quiet_ms", result.page.quiet.count()},
                     {"settle_ms", result.page.settle.count()},
                     {"width", result.width},
                     {"height", result.height}};
  out["loads"] = std::move(loads);
  out["replays"] = std::move(replays);
  return out;
}

Result<void> write_result(const json::object& json, const std::filesystem::path& path) {
  return write_private_file(json::serialize(json) + "\n", path);
}

}  // namespace reprise
