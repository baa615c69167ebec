// What the C++ emitter writes, read by analysis/trench.
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <random>
#include <thread>

#include "analysis/trench/trench_fields.h"
#include "analysis/trench/trench_json.h"
#include "emitters/cpp/trench.h"
#include "emitters/cpp/trench_fields.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;

std::int64_t now_ns = 0;
std::int64_t fake_clock() {
  return now_ns;
}

TrenchTrace read(const std::vector<std::string>& values) {
  std::vector<HeaderView> fields;
  for (auto const& value : values) fields.push_back({trench::kField, value});
  auto read = read_trench_fields(fields);
  EXPECT_TRUE(read) << read.error();
  EXPECT_TRUE(read && read->trace);
  return read && read->trace ? *read->trace : TrenchTrace{};
}

TrenchTrace read(const trench::Trace& trace) {
  return read(trench::field_values(trench::json_of(trace.content())));
}

/// "Class.method:line hits us" of each node, indented by its depth.
std::vector<std::string> lines_of(const TrenchTrace& trace) {
  std::vector<std::string> lines;
  std::vector<std::size_t> depths;
  for (auto const& node : trace.nodes) {
    auto const& point = trace.points[node.point];
    auto const depth = node.caller == TrenchNode::kNoCaller ? 0 : depths[node.caller] + 1;
    depths.push_back(depth);
    lines.push_back(std::string(depth, ' ') + point.class_name + "." + point.method + ":" +
                    std::to_string(point.line) + " " + std::to_string(node.hits) + " " +
                    std::to_string(node.inclusive_us));
  }
  return lines;
}

trench::Point const kShow{"shop.Cart", "show", 12};
trench::Point const kTax{"shop.Cart", "tax", -1};

TEST(CppTrench, WritesTheTreeOfCalls) {
  now_ns = 5;
  trench::Trace trace(&fake_clock);
  {
    trench::At const at(trace);
    trench::Scope const show(kShow);
    for (int i = 0; i < 3; ++i) {
      trench::Scope const tax(kTax);
      now_ns += 66'500'000;
    }
    auto const sum = trench::trace("shop.Cart.sum", [] {
      now_ns += 1'000;
      return 7;
    });
    EXPECT_EQ(sum, 7);
    now_ns += 243'499'000;
  }
  auto lines = lines_of(read(trace));
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0], "shop.Cart.show:12 1 443000");
  EXPECT_EQ(lines[1], " shop.Cart.tax:-1 3 199500");
  EXPECT_THAT(lines[2], StartsWith(" shop.Cart.sum:"));
  EXPECT_THAT(lines[2], testing::EndsWith(" 1 1"));
}

TEST(CppTrench, CountsCallsThatHaveNotEnded) {
  trench::Trace trace(&fake_clock);
  trench::At const at(trace);
  trench::Scope const show(kShow);
  now_ns += 2'000'000;
  EXPECT_THAT(lines_of(read(trace)), ElementsAre("shop.Cart.show:12 1 2000"));
  now_ns += 1'000'000;
  EXPECT_THAT(lines_of(read(trace)), ElementsAre("shop.Cart.show:12 1 3000"));
}

TEST(CppTrench, CountsNothingWithoutATrace) {
  trench::Trace trace(&fake_clock);
  {
    TRENCH_SCOPE("shop.Cart", "show");
    EXPECT_EQ(trench::trace("a", [] { return 1; }), 1);
    std::thread([&] { trench::At const at(trace); }).join();
    TRENCH_SCOPE("shop.Cart", "tax");
  }
  EXPECT_THAT(read(trace).nodes, SizeIs(0));
}

/// Calls at random, as long as there is time; and what should come of it, in the same order.
class RandomCalls {
 public:
  explicit RandomCalls(std::uint64_t seed) : random_(seed) {
    auto const classes = draw(1, 4);
    for (auto i = draw(1, 8); i > 0; --i) {
      std::string const odd[] = {"a", "\"", "\\n\n", "é𝄞", std::string(3, '\1'), "x.y", "<init>"};
      TrenchPoint point{.class_name = "c" + std::to_string(draw(0, classes)) + odd[draw(0, 6)],
                        .method = odd[draw(0, 6)] + std::to_string(i),
                        .line = draw(-1, 400)};
      points_.push_back(std::move(point));
    }
  }

  void run(std::size_t calls) {
    left_ = calls;
    while (left_ > 0) call(TrenchNode::kNoCaller, 0);
  }

  TrenchTrace expected() const {
    TrenchTrace trace{.points = points_, .nodes = {}};
    add(trace, TrenchNode::kNoCaller, TrenchNode::kNoCaller);
    return trace;
  }

 private:
  struct Seen {
    std::uint32_t point, caller;
    std::uint64_t hits = 0;
    std::int64_t us = 0;
  };

  std::int64_t draw(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }

  void call(std::uint32_t caller, int depth) {
    --left_;
    auto const point = static_cast<std::uint32_t>(draw(0, std::ssize(points_) - 1));
    auto seen = std::ranges::find_if(
        seen_, [&](const Seen& each) { return each.point == point && each.caller == caller; });
    if (seen == seen_.end()) seen = seen_.insert(seen, {.point = point, .caller = caller});
    auto const node = static_cast<std::uint32_t>(seen - seen_.begin());
    auto const& [class_name, method, line] = points_[point];
    auto const began = now_ns;
    {
      trench::Scope const scope({class_name, method, line});
      now_ns += draw(0, 3'000) * 1'000;
      while (left_ > 0 && depth < 30 && draw(0, 2) > 0) call(node, depth + 1);
    }
    ++seen_[node].hits;
    seen_[node].us += (now_ns - began) / 1'000;
  }

  void add(TrenchTrace& trace, std::uint32_t seen_caller, std::uint32_t caller) const {
    for (std::uint32_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i].caller != seen_caller) continue;
      auto const node = static_cast<std::uint32_t>(trace.nodes.size());
      trace.nodes.push_back({.point = seen_[i].point,
                             .hits = seen_[i].hits,
                             .inclusive_us = seen_[i].us,
                             .caller = caller});
      add(trace, i, node);
    }
  }

  std::mt19937_64 random_;
  std::vector<TrenchPoint> points_;
  std::vector<Seen> seen_;
  std::size_t left_ = 0;
};

/// With points in the order of their nodes, and no others.
TrenchTrace merged(TrenchTrace trace) {
  std::vector<TrenchPoint> points;
  for (auto& node : trace.nodes) {
    auto const& point = trace.points[node.point];
    auto const found = std::ranges::find(points, point);
    node.point = static_cast<std::uint32_t>(found - points.begin());
    if (found == points.end()) points.push_back(point);
  }
  trace.points = std::move(points);
  return trace;
}

TEST(CppTrench, WritesRandomTreesThatAreReadAsTheyWere) {
  for_seeds(rounds_of(10'000), [](std::uint64_t seed) {
    RandomCalls calls(seed);
    trench::Trace trace(&fake_clock);
    {
      trench::At const at(trace);
      calls.run(1 + seed % 60);
    }
    EXPECT_EQ(merged(read(trace)), merged(calls.expected()));
  });
}

TEST(CppTrench, HasLimits) {
  trench::Trace wide(&fake_clock);
  {
    trench::At const at(wide);
    for (std::size_t i = 0; i < trench::Trace::kNodesMax + 9; ++i) {
      trench::Scope const outer({"", "f", static_cast<std::int64_t>(i % 300)});
      trench::Scope const inner({"", "f", static_cast<std::int64_t>(i / 300)});
    }
  }
  EXPECT_THAT(read(wide).nodes, SizeIs(trench::Trace::kNodesMax));

  trench::Trace deep(&fake_clock);
  {
    trench::At const at(deep);
    auto const recurse = [](auto& self, int depth) -> void {
      trench::Scope const scope(kShow);
      if (depth > 1) self(self, depth - 1);
    };
    recurse(recurse, 1000);
    EXPECT_EQ(trench::current.node, trench::Trace::kNone);
  }
  EXPECT_THAT(read(deep).nodes, SizeIs(trench::Trace::kDepthMax));

  trench::Trace long_names(&fake_clock);
  {
    trench::At const at(long_names);
    trench::Scope const scope({std::string(1000, '\xff'), std::string(1000, 'b'), 1});
    for (int i = 0; i < 100'000; ++i) trench::Scope const other({"", "f", i});
  }
  EXPECT_EQ(read(long_names).points[0].class_name, std::string(200, '?'));
  EXPECT_LT(trench::json_of(long_names.content()).size(), kTrenchJsonBytesMax);
}

TEST(CppTrench, IsAUrlIfItIsTooLongForTheHeadersOfAResponse) {
  trench::Trace trace(&fake_clock);
  trench::At const at(trace);
  trench::Store store;
  std::size_t scopes = 0;
  std::vector<std::string> values;
  auto const field_bytes = [&] {
    std::size_t bytes = 0;
    for (auto const& value : values) bytes += trench::kField.size() + value.size() + 4;
    return bytes;
  };
  while (true) {
    values = trench::response_values(trace, store);
    ASSERT_LE(field_bytes(), trench::kFieldBytesMax);
    if (values.size() == 1) break;
    EXPECT_THAT(read(values).nodes, SizeIs(scopes));
    trench::Scope const scope({"shop.Cart", "tax", static_cast<std::int64_t>(++scopes)});
  }
  EXPECT_GT(scopes, 100U);
  ASSERT_THAT(values[0], StartsWith("url=/banky-trace/"));
  auto const kept = store.find(values[0].substr(4));
  ASSERT_TRUE(kept);
  EXPECT_THAT(read_trench_json(*kept)->nodes, SizeIs(scopes));
  EXPECT_FALSE(store.find("/banky-trace/"));
}

TEST(CppTrench, IsKeptForAMinuteInAStoreWithLimits) {
  trench::Store store;
  trench::Store::Clock::time_point const start;
  auto const first = store.keep("1", start);
  EXPECT_EQ(store.find(first, start + std::chrono::seconds(59)), "1");
  EXPECT_FALSE(store.find(first, start + std::chrono::seconds(60)));
  auto const second = store.keep("2", start);
  for (std::size_t i = 1; i < trench::Store::kTracesMax; ++i) store.keep("", start);
  EXPECT_TRUE(store.find(second, start));
  auto const large = store.keep(std::string(trench::Store::kBytesMax, ' '), start);
  EXPECT_FALSE(store.find(second, start));
  EXPECT_TRUE(store.find(large, start));
  EXPECT_NE(store.keep("1", start), first);
  EXPECT_FALSE(store.find(large, start));
}

TEST(CppTrench, IsOffUnlessAsked) {
  EXPECT_FALSE(trench::Asking("").traces(""));
  EXPECT_FALSE(trench::Asking("").traces("on"));
  EXPECT_FALSE(trench::Asking("off").traces("off"));
  EXPECT_TRUE(trench::Asking("on").traces(""));
  EXPECT_FALSE(trench::Asking("ask:").traces(""));
  EXPECT_FALSE(trench::Asking("ask:short").traces("short"));
  trench::Asking const asking("ask:0123456789abcdef");
  EXPECT_TRUE(asking.traces("0123456789abcdef"));
  EXPECT_FALSE(asking.traces("0123456789abcdeg"));
  EXPECT_FALSE(asking.traces(""));
}

}  // namespace
}  // namespace reprise
