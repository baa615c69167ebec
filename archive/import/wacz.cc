#include "archive/import/wacz.h"

#include <algorithm>

#include "archive/import/source/decompress.h"
#include "archive/import/source/json_reader.h"
#include "archive/import/warc.h"

namespace reprise::importing {
namespace {

bool is_warc_entry(const Zip::Entry& entry) {
  return entry.name.starts_with("archive/") &&
         (entry.name.ends_with(".warc") || entry.name.ends_with(".warc.gz") ||
          entry.name.ends_with(".warc.zst"));
}

/// pages/pages.jsonl: a header, then one object per line, whose `url` is a page. If another tool
/// wrote the list in another form, the recording is still accepted; a damaged list is an error.
std::vector<std::string> read_pages(const Zip& zip, Collector& collector) {
  std::vector<std::string> pages;
  auto const* const entry = zip.find("pages/pages.jsonl");
  if (entry == nullptr) return pages;
  std::optional<Fault> fault;
  auto const source = zip.open(*entry, nullptr, fault);
  if (source == nullptr) {
    collector.damage(*fault);
    return pages;
  }
  ByteReader reader(*source);
  JsonReader json(reader);
  std::string name;
  while (!reader.at_end() && pages.size() < Collector::kPagesMax && json.enter_object()) {
    while (json.next_member(name)) {
      if (name != "url") {
        json.skip();
        continue;
      }
      bool is_cut = false;
      auto url = json.text_up_to(Collector::kPageBytesMax, is_cut);
      if (!is_cut && parse_url(url)) pages.push_back(std::move(url));
    }
    while (reader.some().starts_with('\n') || reader.some().starts_with('\r')) reader.consume(1);
  }
  std::string rest(64 << 10, '\0');
  while (source->read(rest) > 0) continue;
  if (source->fault()) collector.damage(*source->fault());
  return pages;
}

void import_entry(const Zip& zip, const Zip::Entry& entry, const InputSource::Progress& progress,
                  Captures& captures, Collector& collector) {
  std::optional<Fault> fault;
  auto source = zip.open(entry, progress, fault);
  if (source == nullptr) return collector.damage(*fault);
  // Entries named .gz may be uncompressed, and the reverse.
  auto again = zip.open(entry, nullptr, fault);
  std::string start(4, '\0');
  start.resize(again->read(start));
  auto const plain = decompressed(std::move(source), start);
  ByteReader reader(*plain);
  import_warc(reader, captures, collector);
  if (!plain->remark().empty()) collector.report().remark(entry.name + ": " + plain->remark());
}

}  // namespace

bool is_wacz(const Zip& zip) {
  return std::ranges::any_of(zip.entries(), is_warc_entry);
}

void import_wacz(const Zip& zip, const InputSource::Progress& progress, Captures& captures,
                 Collector& collector) {
  collector.stand_in("pages/pages.jsonl");
  collector.add_pages(read_pages(zip, collector));
  std::vector<const Zip::Entry*> warcs;
  for (const Zip::Entry& entry : zip.entries()) {
    if (is_warc_entry(entry)) warcs.push_back(&entry);
  }
  std::ranges::sort(warcs, {}, &Zip::Entry::name);
  for (const Zip::Entry* const warc : warcs) {
    if (collector.failed()) break;
    collector.stand_in(warc->name);
    import_entry(zip, *warc, progress, captures, collector);
  }
  collector.stand_in("");
}

}  // namespace reprise::importing
