// Runs match.spec: what is recorded, what is asked, and what must come of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "archive/match/explain.h"
#include "archive/match/match.h"
#include "base/http/digest.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

constexpr std::size_t kRowsMin = 150;

struct Line {
  int number = 0;
  std::string text;
};

/// A rule with its examples.
struct Section {
  std::string title;
  MatchRules rules;
  std::uint32_t session = 0;
  bool one_client = false;
  std::vector<Line> recorded;
  std::vector<Line> asked;
};

std::string trimmed(const std::string& text) {
  auto const first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> fields_of(std::string text) {
  std::vector<std::string> fields;
  for (auto bar = text.find(" | "); bar != std::string::npos; bar = text.find(" | ")) {
    fields.push_back(trimmed(text.substr(0, bar)));
    text.erase(0, bar + 3);
  }
  fields.push_back(trimmed(text));
  return fields;
}

std::vector<Section> read_spec() {
  std::ifstream file(MATCH_SPEC);
  std::vector<Section> sections;
  std::vector<Line>* into = nullptr;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (trimmed(text).empty() || text.starts_with('#')) continue;
    if (text.starts_with("== ")) {
      sections.push_back({.title = text.substr(3)});
    } else if (text == "recorded") {
      into = &sections.back().recorded;
    } else if (text == "asked") {
      into = &sections.back().asked;
    } else if (text == "asked by one client") {
      into = &sections.back().asked;
      sections.back().one_client = true;
    } else if (text == "--match exact") {
      sections.back().rules.exact_only = true;
    } else if (text == "--failures miss") {
      sections.back().rules.failures = false;
    } else if (text.starts_with("--ignore-param ")) {
      sections.back().rules.ignored_params.push_back(text.substr(15));
    } else if (text.starts_with("--session ")) {
      sections.back().session = static_cast<std::uint32_t>(std::stoul(text.substr(10)));
    } else {
      into->push_back({.number = number, .text = trimmed(text)});
    }
  }
  return sections;
}

std::string multipart(const std::string& boundary, const std::string& parts) {
  std::string body;
  std::istringstream stream(parts);
  for (std::string part; std::getline(stream, part, '&');) {
    auto const equals = part.find('=');
    body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" +
            part.substr(0, equals) + "\"\r\n\r\n" + part.substr(equals + 1) + "\r\n";
  }
  return body + "--" + boundary + "--\r\n";
}

/// One line, recorded or asked.
struct Row {
  explicit Row(const std::string& text) {
    auto const fields = fields_of(text);
    std::istringstream first(fields[0]);
    std::string url;
    first >> method >> url;
    scheme = url.starts_with("https:") ? Scheme::kHttps : Scheme::kHttp;
    auto const authority = url.substr(url.find("//") + 2);
    target = authority.substr(authority.find('/'));
    host = authority.substr(0, authority.find('/'));
    port = default_port(scheme);
    if (auto const colon = host.find(':'); colon != std::string::npos) {
      port = static_cast<std::uint16_t>(std::stoul(host.substr(colon + 1)));
      host.resize(colon);
    }
    for (auto const& field : std::span(fields).subspan(1)) take(field);
  }

  void take(const std::string& field) {
    std::istringstream words(field);
    std::string kind;
    std::string rest;
    words >> kind;
    std::getline(words, rest);
    rest = trimmed(rest);
    if (kind == "=>") {
      response = rest;
    } else if (kind == "cut") {
      outcome = rest == "by client" ? Outcome::kCutByClient : Outcome::kCutByOrigin;
    } else if (kind == "failed") {
      outcome = Outcome::kOriginFailed;
    } else if (kind == "at") {
      time = std::chrono::milliseconds(std::stoul(rest));
    } else if (kind == "partial") {
      partial = true;
    } else if (kind == "redirect") {
      status = 302;
      location = rest;
      response = "";
    } else if (kind == "status") {
      status = static_cast<std::uint16_t>(std::stoul(rest));
      response = "";
    } else if (kind == "vary") {
      vary = rest;
    } else if (kind.ends_with(':')) {
      headers.emplace_back(kind.substr(0, kind.size() - 1), rest);
    } else if (kind == "form") {
      set_body("application/x-www-form-urlencoded", rest);
    } else if (kind == "json") {
      set_body("application/json", rest);
    } else if (kind == "text") {
      set_body("text/plain", rest);
    } else if (kind == "multipart") {
      auto const space = rest.find(' ');
      auto const boundary = rest.substr(0, space);
      set_body("multipart/form-data; boundary=" + boundary,
               multipart(boundary, rest.substr(space + 1)));
    } else if (kind == "bytes") {
      auto const size = std::stoul(rest);
      set_body("application/octet-stream", noise(size, std::stoul(rest.substr(rest.find(' ')))));
    } else {
      ADD_FAILURE() << "what is \"" << field << "\"?";
    }
  }
  void set_body(const std::string& type, std::string content) {
    headers.emplace_back("Content-Type", type);
    body = std::move(content);
  }
  std::vector<HeaderView> header_list() const {
    std::vector<HeaderView> list;
    for (auto const& [name, value] : headers) list.push_back({name, value});
    return list;
  }

  std::string method;
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string vary;
  std::uint16_t status = 200;
  std::string location;
  std::optional<std::string> response;
  Outcome outcome = Outcome::kComplete;
  SessionTime time = kNoTime;
  bool partial = false;
};

class MatchSpec : public testing::TestWithParam<Section> {
 protected:
  void record() {
    auto const writer = create_archive(path_);
    ASSERT_TRUE(writer->begin_session({}));
    std::uint64_t sequence = 0;
    for (auto const& line : GetParam().recorded) {
      if (line.text == "next session") {
        ASSERT_TRUE(writer->end_session());
        ASSERT_TRUE(writer->begin_session({}));
        continue;
      }
      Row const row(line.text);
      Exchange exchange;
      exchange.sequence = ++sequence;
      exchange.outcome = row.outcome;
      exchange.timings.queued = row.time;
      exchange.request.method = row.method;
      exchange.request.scheme = row.scheme;
      exchange.request.host = row.host;
      exchange.request.port = row.port;
      exchange.request.target = row.target;
      exchange.request.headers = Headers(row.header_list());
      if (!row.body.empty()) exchange.request.body = store(*writer, row.body);
      exchange.request.body_partial = row.partial;
      exchange.response.status = row.status;
      if (!row.vary.empty()) exchange.response.headers = {{.name = "Vary", .value = row.vary}};
      if (!row.location.empty()) {
        exchange.response.headers = {{.name = "Location", .value = row.location}};
      }
      exchange.response.body =
          store(*writer, row.response.value_or("answer " + std::to_string(sequence)));
      add(*writer, std::move(exchange));
    }
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
    reader_ = open_archive(path_);
    matcher_.emplace(*reader_, GetParam().session, GetParam().rules);
    cursors_.emplace(reader_->entries().size());
  }

  std::string outcome_of(const std::string& text) {
    Row const row(text);
    auto const headers = row.header_list();
    auto const body = as_bytes(row.body);
    AskedRequest const asked{.key = {.method = row.method,
                                     .scheme = row.scheme,
                                     .host = row.host,
                                     .port = row.port,
                                     .target = row.target,
                                     .body_digest = row.body.empty() ? Sha256{} : sha256(body)},
                             .headers = headers,
                             .body_bytes = row.body.size(),
                             .body = row.body.size() <= kNormalisedBodyBytesMax ? body : Bytes()};
    std::optional<Exchange> exchange;
    auto const decision =
        matcher_->decide(asked, *cursors_, [&](std::uint32_t ordinal) -> const StoredRequest* {
          auto decoded = reader_->exchange(ordinal);
          if (!decoded) return nullptr;
          exchange = std::move(*decoded);
          return &exchange->request;
        });
    if (decision.kind == MatchKind::kMiss) {
      auto const nearest = matcher_->nearest(asked);
      return nearest.empty() ? "miss"
                             : "miss " + std::to_string(decision.score) + "%: " + nearest[0].why;
    }
    auto const chosen = reader_->exchange(decision.ordinal).value();
    auto result = decision.kind == MatchKind::kExact ? "exact " : std::string("fuzzy ");
    result += std::to_string(chosen.sequence);
    if (decision.scheme_substituted) {
      result += " over " + std::string(to_string(chosen.request.scheme));
    }
    auto const recorded = load(*reader_, chosen.request.body);
    auto const phrases = differences(asked_as(chosen.request, as_bytes(recorded)), asked,
                                     GetParam().rules.ignored_params);
    if (decision.kind == MatchKind::kFuzzy) result += " " + std::to_string(decision.score) + "%";
    if (!phrases.empty()) result += ": " + summary(phrases);
    return result;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::unique_ptr<ArchiveReader> reader_;
  std::optional<Matcher> matcher_;
  std::optional<SequenceCursors> cursors_;
};

TEST_P(MatchSpec, Holds) {
  record();
  for (auto const& line : GetParam().asked) {
    if (line.text == "POST /reset") {
      cursors_->reset();
      continue;
    }
    auto const arrow = line.text.find(" -> ");
    ASSERT_NE(arrow, std::string::npos) << MATCH_SPEC << ":" << line.number;
    if (!GetParam().one_client) cursors_->reset();
    EXPECT_EQ(outcome_of(line.text.substr(0, arrow)), trimmed(line.text.substr(arrow + 4)))
        << MATCH_SPEC << ":" << line.number;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, MatchSpec, testing::ValuesIn(read_spec()),
                         [](const testing::TestParamInfo<Section>& info) {
                           std::string name;
                           for (char const c : info.param.title) {
                             auto const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                             if (letter) name += c;
                           }
                           return name + std::to_string(info.index);
                         });

TEST(MatchSpecFile, HasEnoughRows) {
  std::size_t rows = 0;
  for (auto const& section : read_spec()) rows += section.asked.size();
  EXPECT_GE(rows, kRowsMin);
}

}  // namespace
}  // namespace reprise
