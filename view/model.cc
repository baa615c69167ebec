#include "view/model.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "analysis/contribution/chain.h"
#include "analysis/metric.h"
#include "analysis/trench/trench_json.h"
#include "base/text/base64.h"
#include "base/text/printable.h"
#include "pageload/results/metric.h"
#include "view/dependencies.h"

namespace json = boost::json;

namespace reprise {
namespace {

using NumberField = double ViewRequest::*;

struct TextColumn {
  const char* name;
  std::string_view ViewRequest::* field;
  bool can_have_secrets = false;
};

/// The columns of a request, in this order: texts, numbers, then whether it came from a cache.
constexpr std::array<TextColumn, 10> kTexts = {{
    {"url", &ViewRequest::url, true},
    {"method", &ViewRequest::method},
    {"type", &ViewRequest::type},
    {"protocol", &ViewRequest::protocol},
    {"address", &ViewRequest::address},
    {"connection", &ViewRequest::connection},
    {"mime_type", &ViewRequest::mime_type},
    {"priority", &ViewRequest::priority},
    {"initiator", &ViewRequest::initiator, true},
    {"failure", &ViewRequest::failure, true},
}};
constexpr std::array<std::pair<const char*, NumberField>, 14> kNumbers = {{
    {"number", &ViewRequest::number},
    {"status", &ViewRequest::status},
    {"encoded_bytes", &ViewRequest::encoded_bytes},
    {"decoded_bytes", &ViewRequest::decoded_bytes},
    {"start_ms", &ViewRequest::start_ms},
    {"dns_start_ms", &ViewRequest::dns_start_ms},
    {"dns_end_ms", &ViewRequest::dns_end_ms},
    {"connect_start_ms", &ViewRequest::connect_start_ms},
    {"tls_start_ms", &ViewRequest::tls_start_ms},
    {"connect_end_ms", &ViewRequest::connect_end_ms},
    {"send_start_ms", &ViewRequest::send_start_ms},
    {"send_end_ms", &ViewRequest::send_end_ms},
    {"first_byte_ms", &ViewRequest::first_byte_ms},
    {"end_ms", &ViewRequest::end_ms},
}};

/// Larger numbers are invalid: 30,000 years in milliseconds.
constexpr double kNumberMax = 1e15;

void append_number(std::string& out, double value) {
  if (!(std::abs(value) <= kNumberMax)) {
    out += "null";
    return;
  }
  std::array<char, 40> text{};
  auto size = static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3f", value));
  while (text[size - 1] == '0') --size;
  if (text[size - 1] == '.') --size;
  out.append(text.data(), size);
}

/// The fields of an object without its braces, each followed by a comma.
std::string fields_of(const json::object& object) {
  if (object.empty()) return "";
  auto text = json::serialize(object);
  text.back() = ',';
  return text.substr(1);
}

/// The code points to escape in strings: `<`, which begins tags, `>` and `&`, and those that any
/// reader takes as a line end, or that change the direction of writing.
bool is_unsafe(char32_t c) {
  return c == '<' || c == '>' || c == '&' || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

/// The metrics that the page shows.
json::array metrics_json() {
  json::array metrics;
  for (const Metric& metric : kMetrics) {
    if (metric.label.empty()) continue;
    metrics.push_back({{"key", metric.field},
                       {"name", metric.label},
                       {"unit", unit_name(metric.unit)},
                       {"mark", metric.mark},
                       {"column", metric.column}});
  }
  return metrics;
}

/// The end of a request that never ended: after every load.
constexpr std::int64_t kNeverUs = CallTree::kWindowUsMax;

std::int64_t us(double ms) {
  return std::llround(std::clamp(ms * 1000, 0.0, static_cast<double>(kNeverUs - 1)));
}
double ms(std::int64_t time_us) {
  return static_cast<double>(time_us) / 1000;
}

std::string_view why_text(ChainLink::Why why) {
  switch (why) {
    case ChainLink::Why::kRedirected:
      return "redirected";
    case ChainLink::Why::kStarted:
      return "started";
    case ChainLink::Why::kHeldUp:
      return "held up";
    case ChainLink::Why::kEndedBefore:
      return "ended just before";
    case ChainLink::Why::kFirst:
      break;
  }
  return "";
}

}  // namespace

std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size();) {
    auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(json[i + at]); };
    // All code points of is_unsafe() have at most three bytes.
    char32_t c = byte(0);
    std::size_t size = 1;
    if (c >= 0xc2 && c <= 0xdf && i + 1 < json.size()) {
      c = (c & 0x1f) << 6 | (byte(1) & 0x3f);
      size = 2;
    } else if (c >= 0xe0 && c <= 0xef && i + 2 < json.size()) {
      c = (c & 0xf) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
      size = 3;
    } else if (c >= 0x80) {
      c = 0xfffd;  // the middle of a longer sequence
    }
    if (is_unsafe(c)) {
      std::array<char, 8> text{};
      std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(c));
      out += text.data();
    } else {
      out += json.substr(i, size);
    }
    i += size;
  }
  return out;
}

void ViewModel::add_comparison(const json::object& comparison) {
  comparison_json_ = json::serialize(hidden(comparison));
}

void ViewModel::add_input(const json::object& facts) {
  if (inputs_++ > 0) inputs_json_ += ",\n";
  inputs_json_ += json::serialize(facts);
}

void ViewModel::begin_load(const json::object& facts) {
  if (loads_++ > 0) loads_json_ += ",\n";
  loads_json_ += "{" + fields_of(hidden(facts)) + "\"input\":" + std::to_string(inputs_ - 1);
  loads_json_ += ",\"requests\":[";
  load_requests_ = 0;
  load_left_out_ = 0;
  traces_json_.clear();
  traces_left_out_ = 0;
  heads_json_.clear();
  heads_left_out_ = 0;
  frames_json_.clear();
  frames_left_out_ = 0;
  last_is_shown_ = false;
  load_ = {};
  rows_.clear();
  auto const* const metrics = facts.if_contains("metrics");
  auto const* const numbers = metrics == nullptr ? nullptr : metrics->if_object();
  auto const* const event = numbers == nullptr ? nullptr : numbers->if_contains("load_event_ms");
  if (event != nullptr && event->is_number()) load_.window_us = us(event->to_number<double>());
}

void ViewModel::add_to_chain(const ViewRequest& request) {
  if (!(request.start_ms >= 0)) return;
  Call call{.name = std::string(request.url), .start_us = us(request.start_ms)};
  bool const ended = request.end_ms >= 0 && request.end_ms * 1000 < kNeverUs;
  call.end_us = ended ? us(request.end_ms) : kNeverUs;
  call.attributes = {{"method", std::string(request.method)},
                     {"type", std::string(request.type)},
                     {"initiator", std::string(request.initiator)},
                     {"status", std::to_string(std::llround(request.status))}};
  load_.calls.push_back(std::move(call));
  rows_.push_back(load_requests_);
}

/// The critical chain as in MODEL.md.
json::array ViewModel::chain() {
  if (load_.window_us == 0) {
    for (const Call& call : load_.calls) {
      if (call.end_us != kNeverUs) load_.window_us = std::max(load_.window_us, call.end_us);
    }
  }
  json::array chain;
  for (const ChainLink& link : critical_chain(load_)) {
    chain.push_back(
        json::array{rows_[link.call], why_text(link.why), ms(link.from_us), ms(link.until_us)});
  }
  return chain;
}

std::string ViewModel::hidden(std::string_view text) const {
  return redaction_ == nullptr ? std::string(text) : redaction_->text(text);
}

json::object ViewModel::hidden(const json::object& facts) const {
  json::value shown = facts;
  if (redaction_ != nullptr) redaction_->hide_in(shown);
  return std::move(shown.get_object());
}

std::size_t ViewModel::text_number(std::string_view text) {
  auto const [place, is_new] = text_numbers_.try_emplace(std::string(text), text_numbers_.size());
  if (is_new) {
    text_bytes_ += text.size();
    if (place->second > 0) texts_json_ += ",\n";
    texts_json_ += json::serialize(as_utf8(text));
  }
  return place->second;
}

void ViewModel::add_request(const ViewRequest& request) {
  last_is_shown_ = requests_ < limits_.requests && text_bytes_ <= limits_.text_bytes;
  if (!last_is_shown_) {
    ++load_left_out_;
    ++left_out_;
    return;
  }
  ++requests_;
  add_to_chain(request);
  loads_json_ += load_requests_++ > 0 ? ",\n[" : "\n[";
  for (const TextColumn& column : kTexts) {
    auto const text = request.*column.field;
    auto const number = column.can_have_secrets ? text_number(hidden(text)) : text_number(text);
    loads_json_ += std::to_string(number) + ",";
  }
  for (auto const& [name, field] : kNumbers) {
    append_number(loads_json_, request.*field);
    loads_json_ += ',';
  }
  loads_json_ += request.from_cache ? "1]" : "0]";
}

void ViewModel::append_head(const ViewHead& head, std::string& json) {
  json += "[" + std::to_string(text_number(hidden(head.line)));
  for (const HeaderView& field : head.fields) {
    auto const value = redaction_ == nullptr ? std::string(field.value) : redaction_->value(field);
    json += "," + std::to_string(text_number(field.name));
    json += "," + std::to_string(text_number(value));
  }
  json += "]";
}

void ViewModel::add_heads(const ViewHead& request, const ViewHead& response) {
  if (!has_heads_ || !last_is_shown_) return;
  if (head_bytes_ > limits_.head_bytes || text_bytes_ > limits_.text_bytes) {
    ++heads_left_out_;
    return;
  }
  auto const texts_before = text_bytes_;
  auto const json_before = heads_json_.size();
  if (!heads_json_.empty()) heads_json_ += ",\n";
  heads_json_ += "[" + std::to_string(load_requests_ - 1) + ",";
  append_head(request, heads_json_);
  heads_json_ += ",";
  append_head(response, heads_json_);
  heads_json_ += "]";
  head_bytes_ += text_bytes_ - texts_before + heads_json_.size() - json_before;
}

bool ViewModel::add_trace_json(std::string_view json) {
  if (trace_bytes_ + json.size() > limits_.trace_bytes) {
    ++traces_left_out_;
    return false;
  }
  trace_bytes_ += json.size();
  if (!traces_json_.empty()) traces_json_ += ",\n";
  traces_json_.append("[").append(std::to_string(load_requests_ - 1)).append(",");
  traces_json_.append(json).append("]");
  return true;
}

void ViewModel::add_trace(const TrenchTrace& trace) {
  if (!last_is_shown_) return;
  // It takes long to print and to redact traces only to find that they do not fit.
  if (traces_are_full_) {
    ++traces_left_out_;
    return;
  }
  auto printed = trench_json(trace);
  if (redaction_ != nullptr) {
    auto shown = json::parse(printed);
    redaction_->hide_in(shown);
    printed = json::serialize(shown);
  }
  traces_are_full_ = !add_trace_json(printed);
}

void ViewModel::add_trace_error(std::string_view why) {
  if (last_is_shown_) add_trace_json(json::serialize(as_utf8(hidden(why))));
}

void ViewModel::append_frame(const ViewFrame& frame) {
  if (!frames_json_.empty()) frames_json_ += ",\n";
  frames_json_ += "[";
  append_number(frames_json_, frame.at_ms);
  frames_json_ += "," + std::to_string(frame.percent) + ",\"";
  frames_json_ += base64(std::as_bytes(std::span(frame.jpeg))) + "\"]";
}

void ViewModel::add_frames(std::span<const ViewFrame> frames) {
  if (frames.empty()) return;
  auto const before_last = frames.first(frames.size() - 1);
  const ViewFrame& last = frames.back();
  if (frame_bytes_ + last.jpeg.size() > limits_.frame_bytes) {
    frames_left_out_ += frames.size();
    return;
  }
  frame_bytes_ += last.jpeg.size();
  std::size_t shown = 0;
  for (; shown < before_last.size(); ++shown) {
    auto const size = before_last[shown].jpeg.size();
    if (frame_bytes_ + size > limits_.frame_bytes) break;
    frame_bytes_ += size;
    append_frame(before_last[shown]);
  }
  append_frame(last);
  frames_left_out_ += before_last.size() - shown;
}

void ViewModel::end_load(const json::object& facts) {
  loads_json_ += "],\"chain\":" + json::serialize(chain());
  if (graph_ != nullptr) {
    loads_json_ += ",\"dependencies\":" + json::serialize(dependencies_of(*graph_, load_, rows_));
  }
  loads_json_ += ",\"heads\":[" + heads_json_;
  loads_json_ += "],\"heads_left_out\":" + std::to_string(heads_left_out_);
  loads_json_ += ",\"frames\":[" + frames_json_;
  loads_json_ += "],\"frames_left_out\":" + std::to_string(frames_left_out_);
  loads_json_ += ",\"traces\":[" + traces_json_;
  loads_json_ += "],\"traces_left_out\":" + std::to_string(traces_left_out_);
  loads_json_ += "," + fields_of(hidden(facts));
  loads_json_ += "\"requests_left_out\":" + std::to_string(load_left_out_) + "}";
}

std::string ViewModel::text() && {
  json::array texts;
  json::array numbers;
  for (const TextColumn& column : kTexts) texts.emplace_back(column.name);
  for (auto const& column : kNumbers) numbers.emplace_back(column.first);
  std::string out = "{";
  out += R"("schema":"reprise-view/1","reprise":")" REPRISE_VERSION "\",\n\"text_columns\":";
  out += json::serialize(texts) + ",\n\"number_columns\":" + json::serialize(numbers);
  if (!explanation_.empty()) {
    out += ",\n\"explanation\":" + json::serialize(json::value(as_utf8(explanation_)));
  }
  if (!comparison_json_.empty()) out += ",\n\"comparison\":" + comparison_json_;
  out += ",\n\"metrics\":" + json::serialize(metrics_json());
  out += ",\n\"inputs\":[" + std::move(inputs_json_);
  out += "],\n\"loads\":[" + std::move(loads_json_);
  out += "],\n\"texts\":[" + std::move(texts_json_) + "]}";
  return script_safe(out);
}

}  // namespace reprise
