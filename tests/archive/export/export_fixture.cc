#include "tests/archive/export/export_fixture.h"

#include <map>

#include "archive/export/text.h"
#include "base/coding/coding.h"

namespace reprise::exporting {
namespace {

using Key = std::pair<std::string, std::string>;

/// nanoseconds since 1970; kNoTime's count where it is not known.
std::int64_t unix_time(const SessionInfo& session, SessionTime time) {
  if (time == kNoTime) return kNoTime.count();
  return std::chrono::nanoseconds(session.started.time_since_epoch() + time).count();
}

bool is_chunked(const Headers& headers) {
  return header_has_token(headers.list(), "Transfer-Encoding", "chunked");
}

/// What comes back of `text` through a target: JSON cannot hold bytes that are not UTF-8.
std::string kept_text(Target target, const std::string& text) {
  if (target != Target::kHar) return text;
  TextOutput out;
  JsonWriter(out).text(text);
  return out.text;
}

std::string lines_without(const Headers& headers, std::initializer_list<std::string_view> names) {
  std::vector<HeaderView> kept;
  for (const HeaderView& field : headers.list()) {
    bool const is_named = std::ranges::any_of(
        names, [&field](auto name) { return equals_ignoring_case(field.name, name); });
    if (!is_named) kept.push_back(field);
  }
  return lines_of(Headers(kept));
}

/// One exchange of each archive, with what belongs to it.
struct Side {
  const ArchiveReader& archive;
  const SessionInfo& session;
  const Exchange& exchange;

  std::string address() const {
    for (const ConnectionFacts& facts : archive.connections()) {
      if (facts.session == exchange.session && facts.id == exchange.origin_connection_id) {
        return facts.address.substr(0, facts.address.rfind(':'));
      }
    }
    return "";
  }
};

void expect_fields(Target target, const Side& before, const Side& after) {
  auto const& a = before.exchange;
  auto const& b = after.exchange;
  auto asked = lines_of(a.request.headers);
  bool const shows_h2 = target != Target::kWprgo || a.response.version == HttpVersion::kH2;
  if (!find_header(a.request.headers.list(), "Host") && !shows_h2 &&
      find_header(b.request.headers.list(), "Host")) {
    // Nothing in the file says that it was made up.
    asked = "Host: " + std::string(*find_header(b.request.headers.list(), "Host")) + "\n" + asked;
  }
  EXPECT_EQ(kept_text(target, asked), kept_text(target, lines_of(b.request.headers)));
  if (target == Target::kHar) {
    // HAR's bodies are decoded, and that shows in these two.
    auto const kept = [target](const Headers& headers) {
      return kept_text(target, lines_without(headers, {"Content-Encoding", "Content-Length"}));
    };
    EXPECT_EQ(kept(a.response.headers), kept(b.response.headers));
  } else if (target == Target::kWprgo) {
    // It writes this one itself for responses without a length.
    EXPECT_EQ(lines_without(a.response.headers, {"Connection"}),
              lines_without(b.response.headers, {"Connection"}));
  } else {
    EXPECT_EQ(lines_of(a.response.headers), lines_of(b.response.headers));
  }
  if (target == Target::kHar) return;
  if (is_chunked(a.response.headers) && a.outcome == Outcome::kComplete) {
    EXPECT_EQ(lines_of(a.response.trailers), lines_of(b.response.trailers));
  }
}

HttpVersion version_kept(Target target, HttpVersion version) {
  if (target == Target::kHar) return version;
  bool const lost =
      version == HttpVersion::kUnknown || (target == Target::kWprgo && version == HttpVersion::kH3);
  return lost ? HttpVersion::kHttp11 : version;
}

void expect_times(Target target, const Side& before, const Side& after) {
  auto const& a = before.exchange.timings;
  auto const& b = after.exchange.timings;
  if (target == Target::kWprgo) return;
  auto const same = [&](SessionTime of_a, SessionTime of_b, const char* what) {
    EXPECT_EQ(unix_time(before.session, of_a), unix_time(after.session, of_b)) << what;
  };
  if (a.queued == kNoTime) {
    EXPECT_EQ(unix_time(after.session, b.queued), unix_time(before.session, SessionTime(0)));
  } else {
    same(a.queued, b.queued, "queued");
  }
  if (target != Target::kHar || a.queued == kNoTime) return;
  same(a.request_sent, b.request_sent, "request sent");
  same(a.first_byte, b.first_byte, "first byte");
  same(a.end, b.end, "end");
}

void expect_same_exchange(Target target, const Side& before, const Side& after) {
  auto const& a = before.exchange;
  auto const& b = after.exchange;
  SCOPED_TRACE(a.request.method + " " + url_of(a.request));
  EXPECT_EQ(a.request.method, b.request.method);
  EXPECT_EQ(url_of(a.request), url_of(b.request));
  EXPECT_EQ(a.request.body_partial && target != Target::kWprgo,
            b.request.body_partial && target != Target::kWprgo);
  if (!a.request.body_partial || target == Target::kWarc) {
    EXPECT_EQ(load(before.archive, a.request.body), load(after.archive, b.request.body));
  }
  EXPECT_EQ(a.response.status, b.response.status);
  EXPECT_EQ(kept_text(target, a.response.reason), kept_text(target, b.response.reason));
  EXPECT_EQ(to_string(a.outcome), to_string(b.outcome));
  expect_fields(target, before, after);
  auto const* const same_version = target == Target::kWprgo ? &a.response : nullptr;
  if (a.response.status != 0) {
    EXPECT_EQ(to_string(version_kept(target, a.response.version)), to_string(b.response.version));
    auto const spoken = same_version != nullptr ? same_version->version : a.request.version;
    EXPECT_EQ(to_string(version_kept(target, spoken)), to_string(b.request.version));
  }
  EXPECT_EQ(decoded(before.archive, a.response.headers, a.response.body),
            decoded(after.archive, b.response.headers, b.response.body));
  if (target != Target::kHar) EXPECT_EQ(a.response.body.digest, b.response.body.digest);
  if (target != Target::kWprgo) EXPECT_EQ(before.address(), after.address());
  expect_times(target, before, after);
}

/// The exchanges that the target keeps, by what they are found by, in the order of the requests.
std::map<Key, std::vector<Exchange>> kept_of(Target target, const ArchiveReader& archive,
                                             std::uint32_t session) {
  std::map<Key, std::vector<Exchange>> kept;
  for (Exchange& exchange : exchanges_of(archive)) {
    if (exchange.session != session) continue;
    bool const failed = exchange.response.status == 0;
    // Without its messages, the handshake of a WebSocket is of no use.
    if (target != Target::kHar && exchange.response.status == 101) continue;
    if (target == Target::kWarc && failed) continue;
    bool const is_cut = !failed || exchange.outcome == Outcome::kCutByClient;
    if (target == Target::kWprgo && is_cut && exchange.outcome != Outcome::kComplete) continue;
    kept[{exchange.request.method, url_of(exchange.request)}].push_back(std::move(exchange));
  }
  return kept;
}

const SessionInfo& session_of(const ArchiveReader& archive, std::uint32_t number) {
  return *std::ranges::find(archive.sessions(), number, &SessionInfo::number);
}

}  // namespace

Exported export_as(const ArchiveReader& archive, Target target, bool gzip) {
  TextOutput out;
  Exported exported;
  exported.fault = export_session(archive, target, {.gzip = gzip}, out, exported.report);
  exported.text = std::move(out.text);
  return exported;
}

void import_into(const std::filesystem::path& path, std::string_view recording) {
  auto writer = create_archive(path);
  importing::ArchiveSink sink(*writer);
  importing::Importer importer(sink, false);
  importing::MemoryInput input(recording);
  auto const no_file = [](const std::string&) -> std::unique_ptr<importing::ByteSource> {
    return nullptr;
  };
  auto const fault = importer.read(input, no_file, nullptr);
  ASSERT_FALSE(fault) << fault->what;
  ASSERT_FALSE(importer.finish());
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->close());
}

std::string decoded(const ArchiveReader& archive, const Headers& headers, const StoredBody& body) {
  auto const stored = load(archive, body);
  auto const codings = coding::codings_of(headers.list());
  if (!codings || codings->empty() || stored.empty()) return stored;
  coding::Decoder decoder(*codings, {});
  coding::Buffer plain;
  if (!decoder.write(as_bytes(stored), plain) || !decoder.finish()) return stored;
  return as_text(plain);
}

std::string lines_of(const Headers& headers) {
  std::string text;
  for (const HeaderView& field : headers.list()) {
    text.append(field.name).append(": ").append(field.value).append("\n");
  }
  return text;
}

void expect_kept(Target target, const ArchiveReader& before, const ArchiveReader& after) {
  auto const session = choose_session(before, 0);
  auto const expected = kept_of(target, before, session);
  auto const found = kept_of(target, after, 1);
  EXPECT_EQ(expected.size(), found.size());
  for (auto const& [key, exchanges] : expected) {
    auto const place = found.find(key);
    ASSERT_NE(place, found.end()) << key.first << " " << key.second;
    ASSERT_EQ(exchanges.size(), place->second.size()) << key.first << " " << key.second;
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      expect_same_exchange(target, {before, session_of(before, session), exchanges[i]},
                           {after, session_of(after, 1), place->second[i]});
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace reprise::exporting
