#include "archive/import/har_facts.h"

#include <utility>

#include "archive/import/collect/http_text.h"
#include "archive/import/har_text.h"
#include "archive/import/source/json_reader.h"

namespace reprise::importing {
namespace {

class HarFactsReader {
 public:
  explicit HarFactsReader(ByteReader& from) : json_(from) {}

  HarFacts read();

 private:
  void read_log();
  void read_pages();
  UnixTime read_time();

  JsonReader json_;
  HarFacts facts_;
  UnixTime own_start_;
};

HarFacts HarFactsReader::read() {
  std::string name;
  if (json_.peek() != JsonKind::kObject || !json_.enter_object()) return {};
  while (json_.next_member(name)) {
    if (name == "log") {
      read_log();
      break;
    }
    json_.skip();
  }
  if (own_start_) facts_.started = own_start_;
  return std::move(facts_);
}

void HarFactsReader::read_log() {
  std::string name;
  bool has_tool = false;
  bool has_pages = false;
  if (!json_.enter_object()) return;
  while (json_.next_member(name)) {
    if (name == "creator" || name == "browser") {
      has_tool = true;
      auto const tool = read_har_tool(json_);
      facts_.tool += (facts_.tool.empty() || tool.empty() ? "" : ", ") + tool;
    } else if (name == "pages") {
      has_pages = true;
      read_pages();
    } else if (name == "_started") {
      // Our own export has the start of the session, not only of its first request.
      own_start_ = read_time();
    } else if (name == "entries" && has_tool && has_pages) {
      return;
    } else {
      json_.skip();
    }
  }
}

void HarFactsReader::read_pages() {
  std::string name;
  if (!json_.enter_array()) return;
  while (json_.next_element()) {
    if (!json_.enter_object()) continue;
    while (json_.next_member(name)) {
      if (name == "title") {
        // Those of Chrome and Safari are URLs, others are titles.
        bool is_cut = false;
        auto title = json_.text_up_to(Collector::kPageBytesMax, is_cut);
        bool const fits = !is_cut && facts_.pages.size() < Collector::kPagesMax;
        if (fits && parse_url(title)) facts_.pages.push_back(std::move(title));
      } else if (name == "startedDateTime") {
        auto const time = read_time();
        if (time && (!facts_.started || *time < *facts_.started)) facts_.started = time;
      } else {
        json_.skip();
      }
    }
  }
}

UnixTime HarFactsReader::read_time() {
  constexpr std::size_t kTimeBytesMax = 100;
  bool is_cut = false;
  return parse_time(json_.text_up_to(kTimeBytesMax, is_cut));
}

}  // namespace

HarFacts find_har_facts(ByteReader& from) {
  return HarFactsReader(from).read();
}

}  // namespace reprise::importing
