#include "tests/archive/import/damaged.h"

#include <algorithm>
#include <sstream>

namespace reprise::importing {
namespace {

constexpr std::size_t kBlockBytesMax = 4096;

/// From 0 to `limit` - 1.
std::size_t below(std::size_t limit, std::mt19937_64& random) {
  return random() % limit;
}

std::string place(const Range& range) {
  return " from byte " + std::to_string(range.begin) + " to " + std::to_string(range.end);
}

Range any_range(std::size_t size, std::mt19937_64& random) {
  auto const begin = below(size, random);
  auto const length = 1 + below(std::min(size - begin, kBlockBytesMax), random);
  return {begin, begin + length};
}

Damaged flip(std::string bytes, std::mt19937_64& random) {
  auto const at = below(bytes.size(), random);
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8, random)));
  return {std::move(bytes), "a bit is flipped at byte " + std::to_string(at), {{at, at + 1}}};
}

Damaged cut(std::string bytes, std::mt19937_64& random) {
  auto const size = bytes.size();
  bytes.resize(1 + below(size - 1, random));
  Range const gone{bytes.size(), size};
  return {std::move(bytes), "the end is cut off" + place(gone), {{gone.begin, gone.begin + 1}}};
}

Damaged zero(std::string bytes, std::mt19937_64& random) {
  auto const range = any_range(bytes.size(), random);
  std::fill(bytes.data() + range.begin, bytes.data() + range.end, '\0');
  return {std::move(bytes), "a block is zeroed" + place(range), {range}};
}

Damaged remove(std::string bytes, std::mt19937_64& random) {
  auto const range = any_range(bytes.size(), random);
  bytes.erase(range.begin, range.end - range.begin);
  return {std::move(bytes),
          "a block is gone" + place(range),
          {{range.begin, range.begin + 1}, {range.end - 1, range.end}}};
}

Damaged repeat(std::string bytes, std::mt19937_64& random) {
  auto const range = any_range(bytes.size(), random);
  bytes.insert(range.end, bytes.substr(range.begin, range.end - range.begin));
  // What lay on both sides of its end is no longer one behind the other.
  return {std::move(bytes), "a range is doubled" + place(range), {{range.end - 1, range.end + 1}}};
}

Damaged swap(std::string bytes, std::mt19937_64& random) {
  auto const half = bytes.size() / 2;
  auto const length = 1 + below(std::min(half, kBlockBytesMax), random);
  auto const first = below(half - length + 1, random);
  auto const second = half + below(bytes.size() - half - length + 1, random);
  std::swap_ranges(bytes.data() + first, bytes.data() + first + length, bytes.data() + second);
  Range const one{first, first + length};
  Range const other{second, second + length};
  return {std::move(bytes), "two blocks are swapped," + place(one) + place(other), {one, other}};
}

std::vector<std::uint64_t> losses(const ImportReport& report) {
  return {report.incomplete,      report.failed,
          report.codings_broken,  report.bodies_dropped,
          report.fields_dropped,  report.requests_alone,
          report.not_http,        report.websocket_messages,
          report.too_large,       report.more_remarks,
          report.unknown_version, report.revisits - report.revisits_resolved};
}

void print(std::ostream& out, const HeaderList& headers) {
  for (auto const& field : headers) out << field.name << '=' << field.value << '\n';
}

}  // namespace

Damaged damage(std::string_view whole, std::mt19937_64& random) {
  using Way = Damaged (*)(std::string, std::mt19937_64&);
  // Most damage is small, and small damage is the hardest to see.
  constexpr Way kWays[] = {flip, flip, flip, cut, zero, remove, repeat, swap};
  return kWays[below(std::size(kWays), random)](std::string(whole), random);
}

std::string contents_of(const CollectingSink& sink) {
  std::ostringstream out;
  for (const SessionInfo& session : sink.sessions) {
    out << "session " << session.started.time_since_epoch().count() << '\n';
    for (auto const& page : session.pages) out << "page " << page << '\n';
  }
  for (const ConnectionFacts& each : sink.connections) {
    out << "connection " << each.id << ' ' << each.host << ' ' << each.port << ' ' << each.address
        << ' ' << each.alpn << ' ' << each.tls_version << ' ' << each.cipher << '\n';
  }
  for (const Exchange& each : sink.exchanges) {
    out << each.sequence << ' ' << each.origin_connection_id << ' ' << each.request.method << ' '
        << url_of(each.request) << ' ' << to_string(each.request.version) << '\n';
    print(out, each.request.headers.list());
    out << sink.body_of(each.request.body) << each.request.body_partial << '\n';
    for (auto const& interim : each.interim) {
      out << interim.status << '\n';
      print(out, interim.headers.list());
    }
    out << each.response.status << ' ' << each.response.reason << ' '
        << to_string(each.response.version) << '\n';
    print(out, each.response.headers.list());
    out << sink.body_of(each.response.body) << '\n';
    print(out, each.response.trailers.list());
    out << each.timings.queued.count() << ' ' << each.timings.request_sent.count() << ' '
        << each.timings.first_byte.count() << ' ' << each.timings.end.count() << ' '
        << to_string(each.outcome) << ' ' << each.failure << '\n';
  }
  for (auto const& message : sink.messages) out << message << '\n';
  return std::move(out).str();
}

bool says_more(const ImportReport& before, const ImportReport& after) {
  auto const is_new = [&before](const std::string& remark) {
    return std::ranges::find(before.remarks, remark) == before.remarks.end();
  };
  if (std::ranges::any_of(after.remarks, is_new)) return true;
  auto const old_losses = losses(before);
  auto const new_losses = losses(after);
  for (std::size_t i = 0; i < old_losses.size(); ++i) {
    if (new_losses[i] > old_losses[i]) return true;
  }
  return false;
}

std::vector<Range> digested_blocks(std::string_view warc) {
  std::vector<Range> blocks;
  std::size_t at = 0;
  while ((at = warc.find("WARC/1.", at)) != std::string_view::npos) {
    auto const end = warc.find("\r\n\r\n", at);
    if (end == std::string_view::npos) break;
    std::istringstream head(std::string(warc.substr(at, end - at)));
    Range block{end + 4, end + 4};
    bool digested = false;
    for (std::string line; std::getline(head, line);) {
      constexpr std::string_view kLength = "Content-Length: ";
      if (line.starts_with(kLength)) block.end += std::stoull(line.substr(kLength.size()));
      // Longer ones are of no kind that is compared.
      digested = digested || (line.starts_with("WARC-Block-Digest: sha") && line.size() < 120);
    }
    if (digested) blocks.push_back(block);
    at = block.end;
  }
  return blocks;
}

}  // namespace reprise::importing
