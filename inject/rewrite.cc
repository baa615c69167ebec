#include "inject/rewrite.h"

#include <algorithm>
#include <charconv>

#include "base/coding/error.h"
#include "base/http/resource_type.h"
#include "base/text/ascii.h"
#include "inject/error.h"
#include "inject/response.h"

namespace reprise::inject {
namespace {

bool fits_everywhere(std::string_view text) {
  bool const plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; });
  return plain && !contains_ignoring_case(text, "</script") && !text.contains("<!--") &&
         !text.contains("]]>");
}

void describe(RewriteReport& report, const Place& place, const ScriptAllowance& allowance,
              std::size_t element_bytes) {
  report.verdict = Verdict::kRewritten;
  report.element_bytes = element_bytes;
  report.offset_bytes = place.offset_bytes;
  report.charset_stated = place.charset_to_state;
  report.policy_changes = allowance.changes;
  report.requires_trusted_types = allowance.requires_trusted_types;
}

coding::Effort effort_for(std::span<const coding::Coding> codings, const RewriteOptions& options) {
  if (codings.empty()) return 0;
  return options.effort.value_or(coding::default_effort(codings.front()));
}

void append(coding::Buffer& buffer, std::span<const std::byte> bytes) {
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
}

std::optional<Markup> markup_of(Kind kind, std::span<const std::byte> document) {
  if (kind == Kind::kScript) return Markup::kScript;
  if (kind == Kind::kHtml) return Markup::kHtml;
  if (kind == Kind::kXml) return Markup::kXml;
  return sniffed_markup(document);
}

Kind kind_for(const InjectedScript& script, std::uint16_t status, HeaderList headers,
              Destination destination) {
  auto const kind = kind_of(status, headers, destination);
  bool const wanted = kind == Kind::kScript ? script.is_for_workers() : script.is_for_documents();
  return wanted ? kind : Kind::kOther;
}

// A worker's policies do not apply to its own first script.
ScriptAllowance allowance_for(Kind kind, HeaderList headers, const InjectedScript& script) {
  if (kind != Kind::kScript) return allow_script(headers, script.hash_sources());
  ScriptAllowance nothing;
  nothing.values.resize(headers.size());
  return nothing;
}

}  // namespace

InjectedScript::InjectedScript(Texts texts) : texts_(std::move(texts)) {
  for (const std::string& text : texts_.document) {
    if (!hash_sources_.empty()) hash_sources_ += ' ';
    hash_sources_ += hash_source_of(text);
  }
}

Result<InjectedScript> InjectedScript::create(Texts texts) {
  if (!std::ranges::all_of(texts.document, fits_everywhere) || !fits_everywhere(texts.worker)) {
    return fail(errc::unfit_script);
  }
  return InjectedScript(std::move(texts));
}

std::string InjectedScript::inserted(Markup markup, const Place& place,
                                     std::string_view nonce) const {
  if (markup == Markup::kScript) return (place.strict ? "'use strict';" : "") + texts_.worker;
  bool const xml = markup == Markup::kXml;
  std::string start = "<script";
  if (xml) start += " xmlns=\"http://www.w3.org/1999/xhtml\"";
  if (!nonce.empty()) start += " nonce=\"" + std::string(nonce) + '"';
  start += xml ? "><![CDATA[" : ">";
  std::string result;
  for (const std::string& text : texts_.document) {
    result += start + text + (xml ? "]]></script>" : "</script>");
  }
  return in_form(result, place);
}

Destination destination_of(HeaderList request_headers) {
  if (auto const found = find_header(request_headers, "sec-fetch-dest")) {
    auto const among = [found](std::initializer_list<std::string_view> names) {
      return std::ranges::any_of(
          names, [found](std::string_view name) { return equals_ignoring_case(*found, name); });
    };
    if (among({"document", "iframe", "frame", "object", "embed"}) ||
        is_of_passed_on_navigation(request_headers)) {
      return Destination::kDocument;
    }
    bool const worker =
        among({"worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet"});
    return worker ? Destination::kWorker : Destination::kData;
  }
  if (find_header(request_headers, "x-requested-with")) return Destination::kData;
  auto const accept = find_header(request_headers, "accept");
  bool const html = !accept || contains_ignoring_case(*accept, "text/html");
  return html ? Destination::kDocument : Destination::kData;
}

Rewritten rewrite(const InjectedScript& script, std::uint16_t status, HeaderList headers,
                  std::span<const std::byte> body, const RewriteOptions& options) {
  Rewritten result;
  auto const kind = kind_for(script, status, headers, options.destination);
  if (kind == Kind::kOther) return result;
  auto const undecoded = [&result](std::error_code error) {
    result.report.verdict = Verdict::kUndecoded;
    result.report.error = error;
    return std::move(result);
  };
  auto codings = coding::codings_of(headers);
  if (!codings) return undecoded(codings.error());
  coding::Buffer unpacked;
  auto plain = body;
  if (!codings->empty()) {
    auto done = coding::decode_available(*codings, body, options.limits);
    if (!done) return undecoded(done.error());
    if (done->is_truncated && done->plain.empty()) return undecoded(coding::errc::truncated);
    if (done->is_truncated) result.report.error = coding::errc::truncated;
    unpacked = std::move(done->plain);
    plain = unpacked;
  }
  auto const markup = markup_of(kind, plain);
  if (!markup) return result;
  auto const allowance = allowance_for(kind, headers, script);
  result.report.verdict = Verdict::kNoScripts;
  if (!allowance.scripts_run) return result;
  Search search(*markup, header_charset(headers));
  search.look(plain, true);
  auto const& place = search.place();
  result.report.verdict = Verdict::kNoPlace;
  if (!place) return result;

  auto const inserted = script.inserted(*markup, *place, allowance.nonce);
  coding::Encoder encoder(*codings, effort_for(*codings, options));
  if (codings->empty()) result.body.reserve(body.size() + inserted.size());
  encoder.write(plain.first(place->offset_bytes), coding::Until::kMore, result.body);
  encoder.write(std::as_bytes(std::span(inserted)), coding::Until::kMore, result.body);
  encoder.write(plain.subspan(place->offset_bytes), coding::Until::kEnd, result.body);
  result.headers = changed_head(headers, {.allowance = allowance,
                                          .charset_to_state = place->charset_to_state,
                                          .length_bytes = result.body.size(),
                                          .body = &result.body});
  describe(result.report, *place, allowance, inserted.size());
  result.report.added_wire_bytes =
      static_cast<std::int64_t>(result.body.size()) - static_cast<std::int64_t>(body.size());
  return result;
}

Rewriter::Rewriter(const InjectedScript& script, std::uint16_t status, HeaderList headers,
                   const RewriteOptions& options)
    : script_(script), options_(options), headers_(headers) {
  auto const kind = kind_for(script, status, headers, options.destination);
  auto const codings = coding::codings_of(headers);
  if (kind == Kind::kOther || !codings) {
    report_.verdict = codings ? Verdict::kNoDocument : Verdict::kUndecoded;
    if (!codings) report_.error = codings.error();
    state_ = State::kPassing;
    return;
  }
  allowance_ = allowance_for(kind, headers, script);
  if (!allowance_.scripts_run) {
    report_.verdict = Verdict::kNoScripts;
    state_ = State::kPassing;
    return;
  }
  decoder_.emplace(*codings, options.limits);
  if (kind != Kind::kSniffed) markup_ = markup_of(kind, {});
}

Result<void> Rewriter::write(std::span<const std::byte> coded, coding::Until until,
                             coding::Buffer& out) {
  in_bytes_ += coded.size();
  auto const before = out.size();
  Result<void> done;
  if (state_ == State::kPassing) {
    append(out, coded);
  } else if (state_ == State::kUndecided) {
    append(held_, coded);
    if (auto const decoded = decode(coded, until); decoded) {
      done = look(until, out);
    } else {
      pass(Verdict::kUndecoded, decoded.error(), out);
    }
  } else {
    plain_.clear();
    done = decode(coded, until);
    encoder_->write(plain_, done ? until : coding::Until::kFlush, out);
  }
  out_bytes_ += out.size() - before;
  report_.added_wire_bytes =
      static_cast<std::int64_t>(out_bytes_) - static_cast<std::int64_t>(in_bytes_);
  return done;
}

// A body that ends early ends here as well: browsers show as much of it as has come.
Result<void> Rewriter::decode(std::span<const std::byte> coded, coding::Until until) {
  if (auto const done = decoder_->write(coded, plain_); !done) return done;
  if (until != coding::Until::kEnd) return {};
  auto const ended = decoder_->finish();
  if (ended) return {};
  if (state_ == State::kUndecided && plain_.empty()) return ended;
  report_.error = ended.error();
  return {};
}

void Rewriter::give_up(coding::Buffer& out) {
  pass(Verdict::kNoPlace, {}, out);
}

// Outputs what was held, as received.
void Rewriter::pass(Verdict verdict, std::error_code error, coding::Buffer& out) {
  report_.verdict = verdict;
  report_.error = error;
  state_ = State::kPassing;
  append(out, held_);
  held_ = {};
  plain_ = {};
}

Result<void> Rewriter::look(coding::Until until, coding::Buffer& out) {
  bool const ended = until == coding::Until::kEnd;
  if (!markup_) {
    // A sender that pauses within the bytes for sniffing is probably not sending a document.
    bool const waits = until == coding::Until::kMore ? plain_.size() < kSniffBytes : plain_.empty();
    if (waits && !ended) return {};
    markup_ = sniffed_markup(plain_);
    if (!markup_) return pass(Verdict::kNoDocument, {}, out), Result<void>();
  }
  if (!search_) search_.emplace(*markup_, header_charset(headers_.list()));
  bool const hurried = until == coding::Until::kFlush;
  if (!search_->look(plain_, ended) && !(hurried && search_->hurry(plain_))) {
    // Without this limit, encoded bytes that decode to almost nothing would be held forever.
    if (held_.size() > kHeldBytesMax) pass(Verdict::kNoPlace, {}, out);
    return {};
  }
  if (!search_->place()) return pass(Verdict::kNoPlace, {}, out), Result<void>();
  start(*search_->place(), until, out);
  return {};
}

void Rewriter::start(const Place& place, coding::Until until, coding::Buffer& out) {
  state_ = State::kRewriting;
  held_ = {};
  auto const codings = decoder_->codings();
  auto const inserted = script_.inserted(*markup_, place, allowance_.nonce);
  std::optional<std::uint64_t> length;
  if (auto const text = find_header(headers_.list(), "content-length"); text && codings.empty()) {
    std::uint64_t value = 0;
    auto const read = std::from_chars(text->data(), text->data() + text->size(), value);
    bool const whole = read.ec == std::errc() && read.ptr == text->data() + text->size();
    if (whole) length = value + inserted.size();
  }
  headers_ = changed_head(headers_.list(), {.allowance = allowance_,
                                            .charset_to_state = place.charset_to_state,
                                            .length_bytes = length});
  describe(report_, place, allowance_, inserted.size());
  encoder_.emplace(codings, effort_for(codings, options_));
  std::span<const std::byte> const plain(plain_);
  encoder_->write(plain.first(place.offset_bytes), coding::Until::kMore, out);
  encoder_->write(std::as_bytes(std::span(inserted)), coding::Until::kMore, out);
  encoder_->write(plain.subspan(place.offset_bytes), until, out);
}

}  // namespace reprise::inject
