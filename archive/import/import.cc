#include "archive/import/import.h"

#include <utility>

#include "archive/import/har.h"
#include "archive/import/har_content.h"
#include "archive/import/mitmproxy.h"
#include "archive/import/source/decompress.h"
#include "archive/import/source/json_reader.h"
#include "archive/import/source/whole_gunzip.h"
#include "archive/import/source/zip.h"
#include "archive/import/survey.h"
#include "archive/import/wacz.h"
#include "archive/import/warc.h"
#include "archive/import/wprgo.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kStartBytes = 64 << 10;

std::string read_start(Input& input, std::optional<Fault>& fault) {
  std::string start(kStartBytes, '\0');
  start.resize(input.read_at(0, start, fault));
  return start;
}

std::unique_ptr<ByteSource> open(Input& input, std::string_view start, const Progress& progress) {
  return decompressed(std::make_unique<InputSource>(input, 0, input.size_bytes(), progress), start);
}

/// The names of a JSON object's first members tell its kind.
RecordingKind recognise_json(std::string_view start) {
  MemoryInput input(start);
  InputSource source(input, 0, start.size(), nullptr);
  ByteReader reader(source);
  JsonReader json(reader);
  if (json.peek() != JsonKind::kObject || !json.enter_object()) return RecordingKind::kUnknown;
  std::string name;
  while (json.next_member(name)) {
    if (name == "log") return RecordingKind::kHar;
    for (std::string_view const known :
         {"Requests", "Certs", "NegotiatedProtocol", "DeterministicTimeSeedMs"}) {
      if (equals_ignoring_case(name, known)) return RecordingKind::kWprgo;
    }
    json.skip();
  }
  return RecordingKind::kUnknown;
}

/// Some archives have no start; it is then in their responses.
UnixTime start_of_wprgo(Input& input, std::string_view start, PassesProgress& progress,
                        Collector& collector) {
  StoppableSource source(open(input, start, progress.survey()), collector);
  ByteReader reader(source);
  if (auto const started = find_wprgo_start(reader)) return started;
  StoppableSource again(open(input, start, progress.survey()), collector);
  ByteReader responses(again);
  return find_wprgo_date(responses);
}

HarFacts facts_of_har(std::unique_ptr<ByteSource> from, Collector& collector) {
  StoppableSource source(std::move(from), collector);
  ByteReader reader(source);
  return find_har_facts(reader);
}

/// The session's start is after the exchanges, so the recording is read twice.
void import_wprgo_twice(Input& input, std::string_view start, const Progress& progress,
                        Collector& collector) {
  PassesProgress passes(progress, input.size_bytes());
  auto const started = start_of_wprgo(input, start, passes, collector);
  if (collector.failed()) return;
  auto const source = open(input, start, passes.last());
  ByteReader reader(*source);
  import_wprgo(reader, started, collector);
  if (!source->remark().empty()) collector.report().remark(source->remark());
}

void import_wprgo(Input& input, std::string_view start, const Progress& progress,
                  Collector& collector) {
  auto const plain = inflated_whole(input);
  if (!plain) return import_wprgo_twice(input, start, progress, collector);
  if (progress) progress(input.size_bytes());
  MemoryInput whole(*plain);
  import_wprgo_twice(whole, std::string_view(*plain).substr(0, kStartBytes), nullptr, collector);
}

}  // namespace

RecordingKind recognise(std::string_view start) {
  auto const text =
      start.substr(std::min(start.find_first_not_of(" \t\r\n\xef\xbb\xbf"), start.size()));
  if (start.starts_with("PK\x03\x04")) return RecordingKind::kZip;
  if (equals_ignoring_case(text.substr(0, 5), "WARC/")) return RecordingKind::kWarc;
  if (text.starts_with("filedesc:")) return RecordingKind::kArc;
  if (text.starts_with('{') || call_length(text) > 0) return recognise_json(start);
  auto const digits = start.find_first_not_of("0123456789");
  if (digits != 0 && digits <= 12 && start[digits] == ':') return RecordingKind::kMitmproxy;
  return RecordingKind::kUnknown;
}

void Importer::read_any(Input& input, const Attachments& attachments, const Progress& progress,
                        int depth) {
  std::optional<Fault> fault;
  auto const raw = read_start(input, fault);
  if (fault) return collector_.fail(*fault);
  if (raw.empty()) return collector_.fail("it is empty");
  auto const surveyed = open(input, raw, nullptr);
  ByteReader survey(*surveyed);
  auto const start = std::string(survey.fill(kStartBytes).substr(0, kStartBytes));
  if (start.empty()) {
    return collector_.fail(surveyed->fault().value_or(Fault{.what = "it is empty"}));
  }
  auto const kind = recognise(start);
  if (kind == RecordingKind::kZip) return read_zip(input, progress, depth);
  if (kind == RecordingKind::kWprgo) return import_wprgo(input, raw, progress, collector_);
  PassesProgress passes(progress, input.size_bytes());
  HarFacts har;
  if (kind == RecordingKind::kHar) {
    har = facts_of_har(open(input, raw, passes.survey()), collector_);
    if (collector_.failed()) return;
  }
  auto const source = open(input, raw, passes.last());
  ByteReader reader(*source);
  switch (kind) {
    case RecordingKind::kHar: {
      AttachmentReader beside(collector_, attachments);
      import_har(reader, std::move(har), beside, collector_);
      break;
    }
    case RecordingKind::kWarc:
      import_warc(reader, captures_, collector_);
      break;
    case RecordingKind::kArc:
      import_arc(reader, captures_, collector_);
      break;
    case RecordingKind::kMitmproxy:
      import_mitmproxy(reader, collector_);
      break;
    default:
      if (start.starts_with(std::string_view("REPRISE\0", 8))) {
        return collector_.fail("already a reprise archive");
      }
      collector_.fail(
          "unknown format; known are .wprgo, HAR, WARC, ARC, WACZ, mahimahi folders and mitmproxy "
          "flows");
  }
  if (!source->remark().empty()) collector_.report().remark(source->remark());
}

/// Reads a WACZ, a HAR with its attachments (Playwright), or a bundle of WACZs.
void Importer::read_zip(Input& input, const Progress& progress, int depth) {
  std::optional<Fault> fault;
  Zip const zip(input, fault);
  if (fault) collector_.damage(*std::exchange(fault, std::nullopt));
  if (collector_.failed()) return;
  if (is_wacz(zip)) return import_wacz(zip, progress, captures_, collector_);
  bool any = false;
  AttachmentReader attachments(
      collector_, [&zip](const std::string& name) -> std::unique_ptr<ByteSource> {
        std::optional<Fault> ignored;
        auto const* const attachment = zip.find(name);
        return attachment == nullptr ? nullptr : zip.open(*attachment, nullptr, ignored);
      });
  for (const Zip::Entry& entry : zip.entries()) {
    auto const is_har = entry.name.ends_with(".har");
    auto const is_wacz_file = entry.name.ends_with(".wacz");
    auto const is_bundled = is_wacz_file && !entry.is_deflated && depth == 0;
    if (is_wacz_file && !is_bundled) {
      collector_.report().remark("skipped: " + entry.name.substr(0, 200) +
                                 ": compressed or nested; unpack it and import it");
    }
    if (!is_har && !is_bundled) continue;
    any = true;
    if (is_har) {
      PassesProgress passes(progress, entry.compressed_bytes);
      auto first = zip.open(entry, passes.survey(), fault);
      if (first == nullptr) {
        collector_.damage(*std::exchange(fault, std::nullopt));
        if (collector_.failed()) return;
        continue;
      }
      collector_.stand_in(entry.name);
      auto facts = facts_of_har(std::move(first), collector_);
      if (auto const source = zip.open(entry, passes.last(), fault);
          source != nullptr && !collector_.failed()) {
        ByteReader reader(*source);
        import_har(reader, std::move(facts), attachments, collector_);
      }
      collector_.stand_in("");
    } else if (auto const place = zip.place_of(entry, fault)) {
      PartInput part(input, place->offset, place->size_bytes);
      read_zip(part, progress, depth + 1);
    }
    if (fault) return collector_.fail(*fault);
    if (collector_.failed()) return;
  }
  if (!any) collector_.fail("a zip that contains neither WACZ nor HAR");
}

std::optional<Fault> Importer::read(Input& input, const Attachments& attachments,
                                    const Progress& progress) {
  read_any(input, attachments, progress, 0);
  auto fault = collector_.take_fault();
  // Only now: waiting halves are kept even after a fault.
  captures_.end_file();
  return fault ? fault : collector_.take_fault();
}

std::optional<Fault> Importer::finish() {
  captures_.end_import();
  auto& report = collector_.report();
  if (report.bodies == 0 && report.incomplete > 0) {
    report.remark("the recording contains no response bodies: a replay will cut every response");
  }
  collector_.begin({});
  return collector_.take_fault();
}

}  // namespace reprise::importing
