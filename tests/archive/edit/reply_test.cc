#include "archive/edit/reply.h"

#include <gmock/gmock.h>

#include "archive/edit/diff.h"
#include "archive/replace.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(HeadText, ComesBackAsItWas) {
  StoredReply reply;
  reply.status = 404;
  reply.reason = "Not  here";
  reply.headers = {{.name = "X-Empty", .value = ""},
                   {.name = "a", .value = "b: c"},
                   {.name = "A", .value = "\xff"}};
  auto const text = head_text(reply);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "404 Not  here\nX-Empty:\na: b: c\nA: \xff\n");
  auto const head = parse_head_text(*text);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 404);
  EXPECT_EQ(head->reason, "Not  here");
  EXPECT_TRUE(head->headers == reply.headers);
}

TEST(HeadText, IsNotMadeOfWhatNoTextCanCarry) {
  for (HeaderView const field :
       {HeaderView{.name = "a", .value = "b\nc: d"}, HeaderView{.name = "a:b", .value = "c"},
        HeaderView{.name = "", .value = "c"}, HeaderView{.name = "a", .value = " c"}}) {
    StoredReply reply;
    reply.status = 200;
    reply.headers = {field};
    EXPECT_FALSE(head_text(reply)) << field.name << field.value;
  }
}

TEST(HeadText, TakesWhatPeopleWrite) {
  auto const head = parse_head_text("200\r\nName:value\r\nOther:  spaced  \r\n\r\n\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->reason, "");
  EXPECT_TRUE(head->headers ==
              (Headers{{.name = "Name", .value = "value"}, {.name = "Other", .value = "spaced"}}));
}

TEST(HeadText, NamesTheLineOfAFault) {
  struct Case {
    const char* text;
    std::size_t line;
    const char* what;
  };
  for (auto const& [text, line, what] : {
           Case{"", 1, "200 OK"},
           Case{"OK\n", 1, "200 OK"},
           Case{"100 Continue\n", 1, "of 200 or more"},
           Case{"2000\n", 1, "200 OK"},
           Case{"200OK\n", 1, "200 OK"},
           Case{"200\nname\n", 2, "Name: value"},
           Case{"200\na: b\n: c\n", 3, "Name: value"},
           Case{"200\na : b\n", 2, "before the colon"},
           Case{"200\na: b\n\nc: d\n", 3, "an empty line"},
       }) {
    auto const head = parse_head_text(text);
    ASSERT_FALSE(head) << text;
    EXPECT_EQ(head.error().line, line) << text;
    EXPECT_THAT(head.error().what, HasSubstr(what)) << text;
  }
}

TEST(SetBody, KeepsTheTimesOfTheRecordedBodyAndItsSize) {
  StoredReply reply;
  reply.body.size_bytes = 400;
  reply.chunk_times = {{.end_bytes = 200, .time = SessionTime(1)},
                       {.end_bytes = 400, .time = SessionTime(2)}};
  auto const times = reply.chunk_times;
  for (std::uint64_t const size_bytes : {80U, 900U}) {
    set_body(reply, {.size_bytes = size_bytes});
    EXPECT_EQ(reply.body.size_bytes, size_bytes);
    EXPECT_EQ(reply.chunk_times, times);
    EXPECT_EQ(reply.timed_size_bytes(), 400U) << "of the recorded one, not of the one before";
  }
  set_body(reply, {.size_bytes = 400});
  EXPECT_FALSE(reply.timed_bytes.has_value());
  set_body(reply, {});
  EXPECT_THAT(reply.chunk_times, ElementsAre());
  EXPECT_FALSE(reply.timed_bytes.has_value());
}

TEST(FieldEdits, AreTheShortestThatTurnOneIntoTheOther) {
  std::vector<HeaderView> const a = {
      {.name = "a", .value = "1"}, {.name = "b", .value = "2"}, {.name = "c", .value = "3"}};
  std::vector<HeaderView> const b = {
      {.name = "b", .value = "2"}, {.name = "a", .value = "1"}, {.name = "c", .value = "4"}};
  auto const text = [](const std::vector<FieldEdit>& edits) {
    std::string out;
    for (auto const& [sign, field] : edits) out += sign + std::string(field.value);
    return out;
  };
  EXPECT_EQ(text(field_edits(a, b, {})), "-1-3+1+4");
  EXPECT_EQ(text(field_edits(a, b, {.ignored_headers = {"c"}})), "-1+1");
  EXPECT_EQ(text(field_edits(a, a, {})), "");
  EXPECT_EQ(text(field_edits(a, {}, {})), "-1-2-3");
}

TEST(Differences, AreOfWhatWasAnsweredUnlessMoreIsAsked) {
  auto a = an_exchange(1, "/");
  auto b = an_exchange(1, "/");
  EXPECT_THAT(differences_of(a, b, {.requests = true, .times = true}), ElementsAre());
  b.request.headers = {};
  b.timings.end = SessionTime(5);
  EXPECT_THAT(differences_of(a, b, {}), ElementsAre());
  EXPECT_THAT(differences_of(a, b, {.requests = true, .times = true}),
              ElementsAre(Difference::kRequestHeaders, Difference::kTimes));
  b = an_exchange(1, "/");
  b.response.reason = "Fine";
  EXPECT_THAT(differences_of(a, b, {}), ElementsAre(Difference::kStatus));
  b.response.version = HttpVersion::kH2;
  EXPECT_THAT(differences_of(a, b, {}), ElementsAre(Difference::kProtocol)) << "h2 has no reason";
  b.response.trailers = {{.name = "x", .value = "y"}};
  b.response.body.size_bytes = 1;
  b.outcome = Outcome::kCutByClient;
  b.interim = {{.status = 103}};
  EXPECT_THAT(differences_of(a, b, {}),
              ElementsAre(Difference::kOutcome, Difference::kProtocol, Difference::kInterim,
                          Difference::kBody, Difference::kTrailers));
  EXPECT_THAT(differences_of(a, b, {.ignored_headers = {"x"}}),
              ElementsAre(Difference::kOutcome, Difference::kProtocol, Difference::kInterim,
                          Difference::kBody));
}

TEST(Differences, CountTheOrderAndTheCaseOfFields) {
  auto a = an_exchange(1, "/");
  auto b = an_exchange(1, "/");
  a.response.headers = {{.name = "a", .value = "1"}, {.name = "b", .value = "2"}};
  b.response.headers = {{.name = "b", .value = "2"}, {.name = "a", .value = "1"}};
  EXPECT_THAT(differences_of(a, b, {}), ElementsAre(Difference::kHeaders));
  b.response.headers = {{.name = "A", .value = "1"}, {.name = "b", .value = "2"}};
  EXPECT_THAT(differences_of(a, b, {}), ElementsAre(Difference::kHeaders));
  EXPECT_THAT(differences_of(a, b, {.ignored_headers = {"a"}}), ElementsAre());
}

TEST(EditedCopy, CompletesACutResponseWithAWholeBody) {
  ScratchFolder const folder;
  {
    auto const writer = create_archive(folder / "a.reprise");
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/");
    exchange.response.headers = {{.name = "Content-Length", .value = "900"}};
    exchange.response.body = store(*writer, "half");
    exchange.outcome = Outcome::kCutByOrigin;
    exchange.failure = "closed early";
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  }
  for (bool const completes : {false, true}) {
    auto const out = folder / (completes ? "whole.reprise" : "cut.reprise");
    auto const reader = open_archive(folder / "a.reprise");
    auto const writer = create_archive(out);
    ReplyHead const head{.status = 200, .reason = "OK", .headers = {}};
    std::string const body = "whole";
    ASSERT_TRUE(EditedCopy(*reader, *writer, 0, head, as_bytes(body), completes).run());
    ASSERT_TRUE(writer->close());
    auto const after = exchanges_of(*open_archive(out)).at(0);
    EXPECT_EQ(after.outcome, completes ? Outcome::kComplete : Outcome::kCutByOrigin);
    EXPECT_EQ(after.failure, completes ? "" : "closed early");
  }
}

TEST(Replacement, LeavesNothingBehindUnlessItIsCommitted) {
  ScratchFolder const folder;
  auto const path = folder / "a.reprise";
  ASSERT_TRUE(create_archive(path)->close());
  auto const before = read_file(path);
  {
    auto const replacement = Replacement::begin(path, ".new");
    ASSERT_TRUE(replacement);
    ASSERT_TRUE(replacement->target().begin_session(a_session()));
    EXPECT_EQ(Replacement::begin(path, ".new").error(), archive_errc::locked);
    EXPECT_TRUE(std::filesystem::exists(folder / "a.reprise.new"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.reprise.new"));
  EXPECT_TRUE(read_file(path) == before);
  auto replacement = Replacement::begin(path, ".new");
  ASSERT_TRUE(replacement);
  ASSERT_TRUE(replacement->target().begin_session(a_session()));
  ASSERT_TRUE(replacement->commit({}));
  EXPECT_EQ(open_archive(path)->sessions().size(), 1U);
}

TEST(Replacement, OfASymbolicLinkReplacesItsTarget) {
  ScratchFolder const folder;
  std::filesystem::create_directory(folder / "sites");
  auto const path = folder / "sites" / "a.reprise";
  auto const link = folder / "link.reprise";
  ASSERT_TRUE(create_archive(path)->close());
  std::filesystem::create_symlink("sites/a.reprise", link);
  auto replacement = Replacement::begin(link, ".new");
  ASSERT_TRUE(replacement) << replacement.error().message();
  EXPECT_TRUE(std::filesystem::exists(folder / "sites" / "a.reprise.new"));
  ASSERT_TRUE(replacement->target().begin_session(a_session()));
  ASSERT_TRUE(replacement->commit({}));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_EQ(open_archive(path)->sessions().size(), 1U);
}

}  // namespace
}  // namespace reprise
