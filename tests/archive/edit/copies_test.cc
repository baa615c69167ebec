// trim, merge and edit, on random archives: what they do not touch stays as it was.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "archive/edit/diff.h"
#include "archive/edit/merge.h"
#include "archive/edit/reply.h"
#include "archive/edit/select.h"
#include "archive/match/match.h"
#include "tests/archive/edit/edit_fixture.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::IsEmpty;

class Copies : public testing::Test {
 protected:
  /// Fresh files for the next seed.
  void make(std::uint64_t seed) {
    for (auto const& path : {a_, b_, out_}) std::filesystem::remove(path);
    make_random_archive(a_, seed);
    make_random_archive(b_, seed ^ 0x5eed);
  }

  ExchangeSelection select(const ArchiveReader& reader, const ExchangeSelection::Wanted& wanted) {
    auto selection = ExchangeSelection::make(reader, wanted);
    if (!selection) throw std::system_error(selection.error());
    return std::move(*selection);
  }

  void trim(const ExchangeSelection::Wanted& wanted) {
    auto const reader = open_archive(a_);
    auto const selection = select(*reader, wanted);
    auto const writer = create_archive(out_);
    ASSERT_TRUE(SelectedCopy(*reader, selection, *writer).run());
    ASSERT_TRUE(writer->close());
  }

  std::vector<MergedPart> merge(const MergeOptions& options) {
    auto const a = open_archive(a_);
    auto const b = open_archive(b_);
    auto const writer = create_archive(out_);
    std::vector<const ArchiveReader*> const from = {a.get(), b.get()};
    auto const parts = merge_archives(from, options, *writer);
    EXPECT_TRUE(parts) << parts.error().code.message();
    EXPECT_TRUE(writer->close());
    return parts ? *parts : std::vector<MergedPart>(2);
  }

  ScratchFolder folder_;
  std::filesystem::path a_ = folder_ / "a.reprise";
  std::filesystem::path b_ = folder_ / "b.reprise";
  std::filesystem::path out_ = folder_ / "out.reprise";
};

/// One time moved as merge moves it.
SessionTime later(SessionTime time, SessionTime by) {
  return time == kNoTime ? kNoTime : time + by;
}

TEST_F(Copies, TrimKeepsAllOfWhatItKeepsAndNothingElse) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    auto const wanted = [seed](const Exchange& exchange) {
      return exchange.request.host == "host1.test" || exchange.sequence % 7 == seed % 7;
    };
    trim([&](const Exchange& exchange, std::uint32_t, std::size_t) { return wanted(exchange); });
    auto const before = load_all(a_);
    auto const after = load_all(out_);

    std::set<std::uint32_t> sessions;
    std::set<std::uint32_t> cut;  // sessions of which something is left out
    std::set<std::pair<std::uint32_t, std::string>> hosts;
    std::set<std::pair<std::uint32_t, std::uint64_t>> kept_connections;
    std::set<std::pair<std::uint32_t, std::uint64_t>> used_connections;
    std::vector<const LoadedExchange*> expected;
    for (auto const& loaded : before.exchanges) {
      auto const& exchange = loaded.exchange;
      used_connections.emplace(exchange.session, exchange.origin_connection_id);
      if (!wanted(exchange)) {
        cut.insert(exchange.session);
        continue;
      }
      expected.push_back(&loaded);
      sessions.insert(exchange.session);
      hosts.emplace(exchange.session, exchange.request.host);
      kept_connections.emplace(exchange.session, exchange.origin_connection_id);
    }
    ASSERT_EQ(after.exchanges.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect_same(after.exchanges[i], *expected[i]);
    }
    std::size_t found = 0;
    for (auto const& info : before.sessions) {
      if (!sessions.contains(info.number)) continue;
      ASSERT_LT(found, after.sessions.size());
      expect_same(after.sessions[found++], info);
    }
    EXPECT_EQ(found, after.sessions.size());
    found = 0;
    for (auto const& facts : before.connections) {
      std::pair const id(facts.session, facts.id);
      if (cut.contains(facts.session) && !kept_connections.contains(id) &&
          (used_connections.contains(id) || !hosts.contains({facts.session, facts.host}))) {
        continue;
      }
      ASSERT_LT(found, after.connections.size());
      expect_same(after.connections[found++], facts);
    }
    EXPECT_EQ(found, after.connections.size());
    found = 0;
    for (auto const& answer : before.answers) {
      if (cut.contains(answer.session) && !hosts.contains({answer.session, answer.host})) continue;
      ASSERT_LT(found, after.answers.size());
      expect_same(after.answers[found++], answer);
    }
    EXPECT_EQ(found, after.answers.size());
  });
}

TEST_F(Copies, TrimThatLeavesNothingOutLeavesNothingOut) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    trim([](const Exchange&, std::uint32_t, std::size_t) { return true; });
    auto const before = load_all(a_);
    auto const after = load_all(out_);
    ASSERT_EQ(after.exchanges.size(), before.exchanges.size());
    ASSERT_EQ(after.connections.size(), before.connections.size());
    ASSERT_EQ(after.answers.size(), before.answers.size());
    ASSERT_EQ(after.sessions.size(), before.sessions.size());
  });
}

TEST_F(Copies, MergePutsTheSecondSessionBehindTheFirst) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    auto const parts = merge({});
    auto const a = load_all(a_);
    auto const b = load_all(b_);
    auto const after = load_all(out_);
    auto const a_session = Matcher(*open_archive(a_), 0).session();
    auto const b_session = Matcher(*open_archive(b_), 0).session();
    ASSERT_EQ(after.sessions.size(), a.sessions.size());
    auto const& first = a.sessions[a_session - 1];
    auto const& second = b.sessions[b_session - 1];
    for (std::size_t i = 0; i < a.sessions.size(); ++i) {
      auto expected = a.sessions[i];
      if (expected.number == a_session) expected.pages = after.sessions[i].pages;
      expect_same(after.sessions[i], expected);
    }
    // Each page once: both sessions may have loaded the same.
    EXPECT_THAT(after.sessions[a_session - 1].pages,
                testing::IsSupersetOf(std::set{first.pages.front(), second.pages.front()}));

    std::uint64_t sequence = 0;
    std::uint64_t client = 0;
    std::uint64_t origin = 0;
    std::vector<LoadedExchange> expected;
    for (auto const& loaded : a.exchanges) {
      expected.push_back(loaded);
      auto const& exchange = loaded.exchange;
      if (exchange.session != a_session) continue;
      sequence = std::max(sequence, exchange.sequence);
      client = std::max(client, exchange.client_connection_id);
      origin = std::max(origin, exchange.origin_connection_id);
    }
    EXPECT_EQ(parts[0].taken, a.exchanges.size());
    for (auto const& facts : a.connections) {
      if (facts.session == a_session) origin = std::max(origin, facts.id);
    }
    auto const by = std::chrono::duration_cast<SessionTime>(second.started - first.started);
    for (auto loaded : b.exchanges) {
      auto& exchange = loaded.exchange;
      if (exchange.session != b_session) continue;
      exchange.session = a_session;
      exchange.sequence += sequence;
      if (exchange.client_connection_id > 0) exchange.client_connection_id += client;
      if (exchange.origin_connection_id > 0) exchange.origin_connection_id += origin;
      auto& timings = exchange.timings;
      timings = {.queued = later(timings.queued, by),
                 .request_sent = later(timings.request_sent, by),
                 .first_byte = later(timings.first_byte, by),
                 .end = later(timings.end, by)};
      for (auto& interim : exchange.interim) interim.time = later(interim.time, by);
      for (auto& chunk : exchange.response.chunk_times) chunk.time = later(chunk.time, by);
      expected.push_back(loaded);
    }
    std::ranges::sort(expected, {}, [](const LoadedExchange& loaded) {
      return std::pair(loaded.exchange.session, loaded.exchange.sequence);
    });
    ASSERT_EQ(after.exchanges.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expect_same(after.exchanges[i], expected[i]);
    std::set<std::pair<std::uint32_t, std::uint64_t>> ids;
    for (auto const& facts : after.connections) {
      EXPECT_TRUE(ids.emplace(facts.session, facts.id).second) << "two connections of one id";
    }
  });
}

TEST_F(Copies, MergeAddsNoStartUrlsWhenAsked) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    merge({.all_pages = false});
    auto const before = load_all(a_).sessions;
    auto const after = load_all(out_).sessions;
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].pages, before[i].pages);
  });
}

TEST_F(Copies, MergeGivesASessionWithoutStartUrlsThoseOfTheNext) {
  auto const writer = create_archive(a_);
  ASSERT_TRUE(writer->begin_session({}) && writer->end_session() && writer->close());
  make_random_archive(b_, 1);
  merge({.all_pages = false});
  auto const from = Matcher(*open_archive(b_), 0).session();
  ASSERT_EQ(load_all(out_).sessions.size(), 1U);
  EXPECT_EQ(load_all(out_).sessions[0].pages, load_all(b_).sessions[from - 1].pages);
}

TEST_F(Copies, MergeKeepsSessionsApartWhenAsked) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    merge({.separate_sessions = true});
    auto const a = load_all(a_);
    auto const b = load_all(b_);
    auto const after = load_all(out_);
    ASSERT_EQ(after.sessions.size(), a.sessions.size() + b.sessions.size());
    ASSERT_EQ(after.exchanges.size(), a.exchanges.size() + b.exchanges.size());
    for (std::size_t i = 0; i < after.exchanges.size(); ++i) {
      bool const is_first = i < a.exchanges.size();
      auto expected = is_first ? a.exchanges[i] : b.exchanges[i - a.exchanges.size()];
      if (!is_first) {
        expected.exchange.session += static_cast<std::uint32_t>(a.sessions.size());
      }
      expect_same(after.exchanges[i], expected);
    }
    EXPECT_EQ(after.connections.size(), a.connections.size() + b.connections.size());
  });
}

std::string key_text(const Exchange& exchange) {
  return exchange.request.method + " " + url_of(exchange.request) + " " +
         std::string(reinterpret_cast<const char*>(exchange.request.body.digest.data()), 32);
}

TEST_F(Copies, MergeTakesOneArchivesAnswersToAKeyWhenAsked) {
  for_seeds(10, [this](std::uint64_t seed) {
    for (auto const policy : {Duplicates::kFirst, Duplicates::kLast}) {
      make(seed);
      auto const parts = merge({.duplicates = policy});
      auto const a_session = Matcher(*open_archive(a_), 0).session();
      auto const b_session = Matcher(*open_archive(b_), 0).session();
      bool const is_first = policy == Duplicates::kFirst;
      auto const chosen = load_all(is_first ? a_ : b_);
      auto const other = load_all(is_first ? b_ : a_);
      auto const common_of_chosen = is_first ? a_session : b_session;
      auto const common_of_other = is_first ? b_session : a_session;
      auto const complete = [](const auto& archive, std::uint32_t session) {
        std::set<std::string> keys;
        for (auto const& [exchange, sent, received] : archive.exchanges) {
          if (exchange.session == session && exchange.outcome == Outcome::kComplete) {
            keys.insert(key_text(exchange));
          }
        }
        return keys;
      };
      auto const in_chosen = complete(chosen, common_of_chosen);
      auto const in_other = complete(other, common_of_other);
      std::size_t expected = 0, not_whole = 0, left_out = 0;
      for (auto const& [exchange, sent, received] : chosen.exchanges) {
        auto const key = key_text(exchange);
        if (exchange.session != common_of_chosen) {
          if (is_first) ++expected;  // other sessions of the first archive stay
        } else {
          ++(!in_chosen.contains(key) && in_other.contains(key) ? not_whole : expected);
        }
      }
      for (auto const& [exchange, sent, received] : other.exchanges) {
        if (exchange.session != common_of_other) {
          if (!is_first) ++expected;
        } else {
          ++(in_chosen.contains(key_text(exchange)) ? left_out : expected);
        }
      }
      EXPECT_EQ(load_all(out_).exchanges.size(), expected);
      EXPECT_EQ(parts[is_first ? 1 : 0].duplicates, left_out);
      EXPECT_EQ(parts[is_first ? 0 : 1].duplicates, not_whole);
    }
  });
}

TEST_F(Copies, EditToAStatusWithoutContentHasNoPauses) {
  make(1);
  auto const before = load_all(a_);
  std::size_t number = 0;
  while (before.exchanges.at(number).exchange.response.chunk_times.empty()) ++number;
  {
    auto const reader = open_archive(a_);
    auto const writer = create_archive(out_);
    ReplyHead const head{.status = 204, .reason = "No Content", .headers = {}};
    auto const ordinal = reader->ordinals_in_order()[number];
    ASSERT_TRUE(EditedCopy(*reader, *writer, ordinal, head, as_bytes(std::string())).run());
    ASSERT_TRUE(writer->close());
  }
  auto const after = load_all(out_);
  EXPECT_TRUE(after.exchanges.at(number).exchange.response.chunk_times.empty());
}

TEST_F(Copies, EditChangesOneResponseAndNothingElse) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    auto const before = load_all(a_);
    auto const number = seed % before.exchanges.size();
    auto const body = noise(seed % 5'000, seed);
    {
      auto const reader = open_archive(a_);
      auto const ordinal = reader->ordinals_in_order()[number];
      auto const& response = before.exchanges[number].exchange.response;
      auto const writer = create_archive(out_);
      ReplyHead const head{
          .status = response.status, .reason = response.reason, .headers = response.headers};
      ASSERT_TRUE(EditedCopy(*reader, *writer, ordinal, head, as_bytes(body)).run());
      ASSERT_TRUE(writer->close());
    }
    auto const after = load_all(out_);
    ASSERT_EQ(after.exchanges.size(), before.exchanges.size());
    for (std::size_t i = 0; i < before.exchanges.size(); ++i) {
      auto expected = before.exchanges[i];
      if (i == number) {
        auto& response = expected.exchange.response;
        auto const& found = after.exchanges[i].exchange.response;
        EXPECT_EQ(find_header(found.headers.list(), "Content-Length"), std::to_string(body.size()));
        EXPECT_EQ(found.body.size_bytes, body.size());
        if (body.empty()) response.chunk_times.clear();
        EXPECT_EQ(found.chunk_times, response.chunk_times);
        if (!body.empty()) EXPECT_EQ(found.timed_size_bytes(), response.body.size_bytes);
        response.headers = with_content_length(response.headers, body.size());
        response.timed_bytes = found.timed_bytes;
        response.body = found.body;
        expected.response_body = body;
      }
      expect_same(after.exchanges[i], expected);
    }
    for (std::size_t i = 0; i < before.connections.size(); ++i) {
      expect_same(after.connections[i], before.connections[i]);
    }
    for (std::size_t i = 0; i < before.sessions.size(); ++i) {
      expect_same(after.sessions[i], before.sessions[i]);
    }
    EXPECT_EQ(after.answers.size(), before.answers.size());
  });
}

/// What diff reports, as text.
std::vector<std::string> diff(const std::filesystem::path& a, const std::filesystem::path& b,
                              const DiffOptions& options = {}) {
  std::vector<std::string> lines;
  auto const counts =
      diff_archives(*open_archive(a), *open_archive(b), options,
                    [&lines](const DiffSide& in_a, const DiffSide& in_b,
                             const std::vector<Difference>& differences) {
                      auto line = std::to_string(in_a.number) + "," + std::to_string(in_b.number);
                      for (auto const difference : differences) {
                        line += " " + std::string(to_string(difference));
                      }
                      lines.push_back(line);
                    });
  EXPECT_TRUE(counts);
  return lines;
}

TEST_F(Copies, DiffFindsWhatTrimLeftOut) {
  for_seeds(10, [this](std::uint64_t seed) {
    make(seed);
    EXPECT_THAT(diff(a_, a_, {.requests = true, .times = true}), IsEmpty());
    // The last exchange of its session, so that no repeat takes its place.
    std::size_t dropped = 0;
    trim([&dropped](const Exchange& exchange, std::uint32_t, std::size_t number) {
      if (exchange.session == 1) dropped = number;
      return true;
    });
    std::filesystem::remove(out_);
    trim([dropped](const Exchange&, std::uint32_t, std::size_t number) {
      return number != dropped;
    });
    EXPECT_EQ(diff(a_, out_), std::vector{std::to_string(dropped) + ",0"});
    EXPECT_EQ(diff(out_, a_), std::vector{"0," + std::to_string(dropped)});
  });
}

}  // namespace
}  // namespace reprise
