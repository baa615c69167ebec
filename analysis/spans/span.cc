#include "analysis/spans/span.h"

#include <algorithm>

#include "base/http/headers.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;

bool is_id(std::string_view text, std::size_t digits) {
  auto const is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == digits && std::ranges::all_of(text, is_hex);
}

std::size_t text_bytes_of(const Span& span) {
  std::size_t bytes = 0;
  for (auto const* const text : {&span.trace_id, &span.span_id, &span.parent_id, &span.name,
                                 &span.kind, &span.service, &span.host, &span.place}) {
    bytes += text->size();
  }
  for (auto const& [name, value] : span.attributes) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

std::string_view Span::attribute(std::string_view attribute_name) const {
  auto const found = std::ranges::find(attributes, attribute_name, &Attribute::first);
  return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view Span::first_of(std::initializer_list<std::string_view> names) const {
  for (auto const each : names) {
    if (auto const value = attribute(each); !value.empty()) return value;
  }
  return {};
}

std::string endpoint_of(const Span& span) {
  auto const method = span.first_of({"http.request.method", "http.method"});
  auto const route = span.attribute("http.route");
  auto const path = route.empty() ? url_of(span).target : std::string(route);
  bool const is_bare = !method.empty() && equals_ignoring_case(span.name, method);
  if (path.empty() || span.name.contains(path) || (route.empty() && !is_bare)) return span.name;
  auto const where = path.substr(0, path.find('?'));
  return method.empty() ? where : std::string(method) + " " + where;
}

SpanUrl split_span_url(std::string_view url) {
  auto const parts = url_parts(url);
  SpanUrl split{.host = lower_case(parts.host), .target = std::string(parts.path)};
  if (!split.target.starts_with('/')) split.target.insert(0, 1, '/');
  split.has_query = !parts.query.empty();
  if (split.has_query) split.target += "?" + std::string(parts.query);
  return split;
}

SpanUrl url_of(const Span& span) {
  auto const whole = span.first_of({"url.full", "http.url"});
  if (!whole.empty()) return split_span_url(whole);
  auto const target = span.first_of({"http.target", "url.path", "http.path"});
  if (target.empty()) return {};
  auto parts = split_span_url(target);
  if (auto const query = span.attribute("url.query"); !query.empty() && !parts.has_query) {
    parts.target += "?" + std::string(query);
    parts.has_query = true;
  }
  auto const host = span.first_of({"server.address", "http.host", "net.host.name"});
  parts.host = split_span_url("http://" + std::string(host)).host;
  return parts;
}

void SpanSet::limit(std::string& text) {
  if (text.size() <= Span::kTextBytesMax) return;
  text = text.substr(0, Span::kTextBytesMax);  // gives the memory back
  lose("texts longer than 4 KiB, cut");
}

void SpanSet::add(Span span) {
  if (spans.size() == kSpansMax) return lose("spans beyond the first million");
  for (auto* const id : {&span.trace_id, &span.span_id, &span.parent_id}) *id = lower_case(*id);
  if (is_id(span.trace_id, kSpanDigits)) span.trace_id.insert(0, kSpanDigits, '0');
  if (!is_id(span.trace_id, kTraceDigits) || !is_id(span.span_id, kSpanDigits)) {
    return lose("spans whose ids are not hexadecimal numbers of 128 and 64 bits");
  }
  // Some tracers write that there is no parent as zeros.
  if (span.parent_id.find_first_not_of('0') == std::string::npos) span.parent_id.clear();
  if (span.start_ns <= 0 || span.start_ns > Span::kTimeNsMax || span.end_ns > Span::kTimeNsMax) {
    return lose("spans without a start or with times after 2096");
  }
  if (span.end_ns < span.start_ns) {
    lose("spans that end before they start, taken as empty");
    span.end_ns = span.start_ns;
  }
  if (span.attributes.size() > Span::kAttributesMax) {
    lose("attributes beyond a span's first 128", span.attributes.size() - Span::kAttributesMax);
    span.attributes.resize(Span::kAttributesMax);
  }
  for (auto* const text : {&span.name, &span.kind, &span.service, &span.host, &span.place}) {
    limit(*text);
  }
  for (auto& [name, value] : span.attributes) {
    limit(name);
    limit(value);
  }
  if (span.host.empty()) span.host = span.service;
  keep(std::move(span));
}

void SpanSet::keep(Span span) {
  if (spans.size() == kSpansMax) return lose("spans beyond the first million");
  auto const bytes = text_bytes_of(span);
  if (bytes > kAllTextBytesMax - std::min(text_bytes, kAllTextBytesMax)) {
    return lose("spans beyond the first GiB of texts");
  }
  text_bytes += bytes;
  spans.push_back(std::move(span));
}

void SpanSet::add(SpanSet other) {
  for (Span& span : other.spans) keep(std::move(span));
  for (const CallLoss& loss : other.losses) lose(loss.what, loss.count);
}

}  // namespace reprise
