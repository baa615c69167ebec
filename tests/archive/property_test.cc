// Random archives, written, killed, appended to and repaired, against a model in memory.

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "archive/repair.h"
#include "tests/archive/archive_fixture.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::IsEmpty;

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed) {}

  void run() {
    writer_ = create_archive(path_);
    begin_session();
    for (int step = 0; step < 60; ++step) {
      switch (below(14)) {
        case 0:
          begin_session();
          break;
        case 1:
          reopen();
          break;
        case 2:
          kill_inside_a_write();
          break;
        case 3:
          repair();
          break;
        case 4:
        case 5:
          answer();
          break;
        default:
          record();
      }
      if (testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(writer_->close());
    check();
  }

 private:
  struct Expected {
    Exchange exchange;
    std::string request_body;
    std::string response_body;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::string text(std::size_t size_max) { return noise(below(size_max + 1), random_()); }

  std::string body() {
    if (below(3) == 0) return "one of few: " + std::to_string(below(4));
    if (below(20) == 0) return noise((1 << 20) + below(1 << 20), below(3));
    return text(2'000);
  }

  Headers headers() {
    std::vector<std::string> strings(2 * below(8));
    for (auto& string : strings) string = text(30);
    std::vector<HeaderView> fields;
    for (std::size_t i = 0; i < strings.size(); i += 2) {
      fields.push_back({.name = strings[i], .value = strings[i + 1]});
    }
    return Headers(fields);
  }

  void begin_session() {
    auto const begun = writer_->begin_session({});
    ASSERT_TRUE(begun);
    session_ = *begun;
  }

  void record() {
    Expected expected;
    auto& exchange = expected.exchange;
    exchange = an_exchange(++sequence_, "/" + text(20));
    exchange.session = session_;
    exchange.request.host = text(10);
    exchange.request.headers = headers();
    exchange.response.headers = headers();
    exchange.response.trailers = headers();
    exchange.response.reason = text(5);
    exchange.outcome = static_cast<Outcome>(1 + below(4));
    expected.request_body = below(4) == 0 ? body() : "";
    expected.response_body = body();
    exchange.request.body = store(*writer_, expected.request_body);
    exchange.response.body = store(*writer_, expected.response_body);
    add(*writer_, exchange);
    model_[{session_, sequence_}] = std::move(expected);
  }

  void answer() {
    auto answer = an_answer(text(10));
    answer.session = session_;
    answer.addresses.resize(below(4), text(20));
    answer.https.resize(below(3), text(50));
    ASSERT_TRUE(writer_->add_answer(answer));
    answers_.push_back(answer);
  }

  void reopen() {
    if (below(2) == 0) ASSERT_TRUE(writer_->close());
    writer_.reset();
    check();
    writer_ = append_archive(path_);
    begin_session();
  }

  void kill_inside_a_write() {
    writer_.reset();
    auto bytes = read_file(path_);
    auto const whole = bytes.size();
    {
      auto const more = append_archive(path_);
      ASSERT_TRUE(more->begin_session({}));
      static_cast<void>(store(*more, noise(below(100'000), random_())));
    }
    auto const longer = read_file(path_);
    write_file(path_, longer.substr(0, whole + below(longer.size() - whole)));
    check();
    writer_ = append_archive(path_);
    begin_session();
  }

  void repair() {
    writer_.reset();
    auto const report = repair_archive(path_, false);
    ASSERT_TRUE(report) << report.error().message();
    ASSERT_EQ(report->exchanges_lost, 0U);
    check();
    writer_ = append_archive(path_);
    begin_session();
  }

  void check() {
    auto const reader = open_archive(path_);
    ASSERT_THAT(problems_of(*reader), IsEmpty());
    ASSERT_EQ(reader->answers().size(), answers_.size());
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      expect_same(reader->answers()[i], answers_[i]);
    }
    auto const found = exchanges_of(*reader);
    ASSERT_EQ(found.size(), model_.size());
    auto expected = model_.begin();
    for (auto const& exchange : found) {
      auto& [name, kept] = *expected++;
      EXPECT_EQ(load(*reader, exchange.request.body), kept.request_body);
      EXPECT_EQ(load(*reader, exchange.response.body), kept.response_body);
      // A repair moves bodies to other offsets.
      kept.exchange.request.body = exchange.request.body;
      kept.exchange.response.body = exchange.response.body;
      expect_same(exchange, kept.exchange);
    }
  }

  std::mt19937_64 random_;
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::unique_ptr<ArchiveWriter> writer_;
  std::uint32_t session_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Expected> model_;
  std::vector<DnsAnswer> answers_;
};

TEST(Property, WhateverIsRecordedKilledAppendedAndRepairedComesBack) {
  for_seeds(rounds_of(10), [](std::uint64_t seed) { Life(seed).run(); });
}

}  // namespace
}  // namespace reprise
