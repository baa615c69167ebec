// `archive ls DIR`: the exchanges of all archives of a folder.

#include <boost/json.hpp>
#include <cstdio>

#include "base/http/media_type.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/corpus_index.h"
#include "tools/archive/errors.h"
#include "tools/archive/messages.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

ListedArchive read_listed_archive(const fs::path& path) {
  ListedArchive out;
  auto const reader = ArchiveReader::open(path, {.lock = false});
  if (!reader) {
    out.problem = archive_error_text(path, reader.error());
    out.unusable = true;
    return out;
  }
  std::size_t damaged = 0;
  auto const ordinals = (*reader)->ordinals_in_order();
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    auto exchange = (*reader)->exchange(ordinals[i]);
    if (!exchange) {
      ++damaged;
      continue;
    }
    ListedExchange listed{.number = i + 1, .web_socket = opens_web_socket(*exchange)};
    if (listed.web_socket) {
      listed.messages = messages_of(**reader, {exchange->session, exchange->sequence}).count;
    }
    listed.kind = media_type(exchange->response.headers.list());
    listed.exchange = std::move(*exchange);
    out.exchanges.push_back(std::move(listed));
  }
  if (damaged > 0) {
    out.problem = path.string() + ": " + counted(damaged, "damaged exchange") +
                  ", not listed. Run reprise archive verify to see more";
  }
  return out;
}

/// Of an archive, all headers too, which its index does not have.
ListedArchive with_headers(const fs::path& folder, ListedArchive archive) {
  auto read = read_listed_archive(folder / archive.file.name);
  read.file = archive.file;
  return read;
}

void print_listed(const ListedArchive& archive, const ListedExchange& listed) {
  const Exchange& exchange = listed.exchange;
  auto const status =
      exchange.response.status == 0 ? "-" : std::to_string(exchange.response.status);
  auto const kind = listed.web_socket ? "websocket, " + counted(listed.messages, "message")
                                      : printable(listed.kind);
  std::printf("%s  %s  %s  %s %s %s  %s  %s\n", printable(archive.file.name).c_str(),
              align_right(std::to_string(listed.number), 4).c_str(), align_right(status, 3).c_str(),
              align_left(printable(exchange.request.method), 7).c_str(),
              align_left(kind, 24).c_str(),
              align_right(std::to_string(exchange.response.body.size_bytes), 10).c_str(),
              align_left(std::string(to_string(exchange.outcome)), 13).c_str(),
              printable(url_of(exchange.request)).c_str());
}

boost::json::object listed_json(const ListedArchive& archive, const ListedExchange& listed) {
  const Exchange& exchange = listed.exchange;
  boost::json::object line{{"archive", as_utf8(archive.file.name)},
                           {"number", listed.number},
                           {"session", exchange.session},
                           {"sequence", exchange.sequence},
                           {"status", exchange.response.status},
                           {"method", as_utf8(exchange.request.method)},
                           {"url", as_utf8(url_of(exchange.request))},
                           {"version", std::string(to_string(exchange.response.version))},
                           {"type", as_utf8(listed.kind)},
                           {"size_bytes", exchange.response.body.size_bytes},
                           {"outcome", std::string(to_string(exchange.outcome))}};
  if (listed.web_socket) line["messages"] = listed.messages;
  return line;
}

}  // namespace

int list_corpus(const fs::path& folder, const Filter& filter, bool as_json) {
  std::string error, remark;
  auto archives = CorpusIndex::update(folder, read_listed_archive, error, remark);
  if (!error.empty() || archives.empty()) {
    std::fprintf(stderr, "reprise: %s: %s\n", folder.c_str(),
                 error.empty() ? "contains no archive (*.reprise)" : error.c_str());
    return kExitArchive;
  }
  if (!remark.empty()) std::fprintf(stderr, "reprise: %s\n", remark.c_str());
  int exit_code = kExitDone;
  auto const* separator = "[\n";
  for (ListedArchive& archive : archives) {
    if (!archive.problem.empty()) {
      std::fprintf(stderr, "reprise: %s\n", printable(archive.problem).c_str());
      exit_code = kExitArchive;
    }
    if (filter.tests(FilterField::kHeader)) archive = with_headers(folder, std::move(archive));
    for (const ListedExchange& each : archive.exchanges) {
      if (!filter.takes(each.exchange, each.number)) continue;
      if (as_json) {
        std::printf("%s%s", separator, boost::json::serialize(listed_json(archive, each)).c_str());
        separator = ",\n";
      } else {
        print_listed(archive, each);
      }
    }
  }
  if (as_json) std::printf("%s", *separator == '[' ? "[]\n" : "\n]\n");
  return exit_code;
}

}  // namespace reprise
