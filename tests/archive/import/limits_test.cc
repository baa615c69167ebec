// What is held of a recording, and read of it, has limits.

#include <utility>

#include "archive/import/collect/field_list.h"
#include "archive/import/source/json_reader.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ImportLimits : public testing::Test {
 protected:
  /// A half of an exchange of 1 MiB.
  static ExchangeDraft half(const std::string& url) {
    std::string const value(1 << 20, 'x');
    return {
        .url = *parse_url(url), .request_fields = {{.name = "a", .value = value}}, .status = 204};
  }

  CollectingSink sink_;
  Collector collector_{sink_, false};
  Captures captures_{collector_};
};

TEST_F(ImportLimits, ABoundedAmountOfRequestsWaits) {
  for (int i = 0; i < 140; ++i) {
    auto const url = "http://a.test/" + std::to_string(i);
    captures_.add_request({.uri = url}, half(url));
  }
  EXPECT_GE(collector_.report().requests_alone, 12U);
  EXPECT_LT(collector_.report().requests_alone, 20U);
}

TEST_F(ImportLimits, ABoundedAmountOfResponsesWaitsBesideRequests) {
  for (int i = 0; i < 70; ++i) {
    auto const url = "http://a.test/" + std::to_string(i);
    captures_.add_request({.id = "q", .uri = url}, half(url));
    captures_.add_response({.id = "r", .uri = url + "/other"}, half(url + "/other"));
  }
  EXPECT_GE(collector_.report().requests_alone, 6U);
  EXPECT_GE(collector_.report().exchanges, 6U);
  EXPECT_EQ(sink_.exchanges.at(0).request.target, "/0/other") << "the oldest is first";
  captures_.end_file();
  EXPECT_EQ(collector_.report().requests_alone, 70U);
  EXPECT_EQ(collector_.report().exchanges, 70U);
}

TEST_F(ImportLimits, TheTextOfAConnectionCountsInPart) {
  std::string const text(256, 'c');
  for (auto const& connection : {text + "1", text + "2", text.substr(1)}) {
    collector_.add({.url = *parse_url("http://a.test/"), .status = 204, .connection = connection});
  }
  ASSERT_EQ(sink_.exchanges.size(), 3U);
  EXPECT_EQ(sink_.connections.size(), 2U);
}

TEST_F(ImportLimits, StartUrlsAreLimitedInNumberAndLength) {
  std::string const url = "https://a.test/";
  collector_.add_pages({url + std::string(Collector::kPageBytesMax, 'x')});
  collector_.add_pages(std::vector<std::string>(Collector::kPagesMax + 1, url));
  EXPECT_THAT(collector_.report().remarks, ElementsAre(HasSubstr("some start URLs are skipped")));
  collector_.begin({});
  EXPECT_EQ(sink_.sessions.at(0).pages.size(), Collector::kPagesMax);
  EXPECT_EQ(sink_.sessions[0].pages.front(), url);
}

TEST_F(ImportLimits, AFieldListTakesWhatFits) {
  ImportReport report;
  FieldList fields(report);
  fields.add({.name = "cut", .value = std::string(FieldList::kBytesMax, 'x')}, true);
  fields.add({.name = "whole", .value = "1"}, false);
  fields.add({.name = "long", .value = std::string(FieldList::kBytesMax - 6, 'x')}, false);
  fields.add({.name = "short", .value = ""}, false);
  auto const taken = fields.take();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].name, "whole");
  EXPECT_EQ(taken[1].name, "short");
  EXPECT_THAT(report.remarks, ElementsAre(HasSubstr("some of their fields are skipped")));
}

TEST_F(ImportLimits, AReaderIsEmptyAfterAFaultWhateverIsConsumed) {
  MemoryInput input("0123456789");
  InputSource source(input, 0, input.size_bytes(), nullptr);
  ByteReader reader(source);
  auto const held = reader.some().size();
  reader.fail("bad");
  reader.consume(held);
  EXPECT_EQ(reader.some(), "");
  EXPECT_EQ(reader.fill(3), "");
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.offset(), 0U);
}

TEST_F(ImportLimits, AReaderContinuesAtTheByteWhereItsUserFailed) {
  MemoryInput input("0123456789");
  InputSource source(input, 0, input.size_bytes(), nullptr);
  ByteReader reader(source);
  ASSERT_FALSE(reader.some().empty());
  reader.consume(4);
  reader.fail("bad");
  EXPECT_FALSE(reader.source_failed());
  ASSERT_TRUE(reader.resume());
  EXPECT_EQ(reader.some(), "456789");
  EXPECT_EQ(reader.offset(), 4U);
  EXPECT_FALSE(reader.seek_part(0)) << "a plain source has no parts";
}

TEST_F(ImportLimits, OfALongJsonTextOnlyTheBeginningIsRead) {
  std::string const text = R"(["long text", 12, "1)" + std::string(2000, '0') + R"(", "short"])";
  MemoryInput input(text);
  InputSource source(input, 0, input.size_bytes(), nullptr);
  ByteReader reader(source);
  JsonReader json(reader);
  bool is_cut = false;
  ASSERT_TRUE(json.enter_array() && json.next_element());
  EXPECT_EQ(json.text_up_to(4, is_cut), "long");
  EXPECT_TRUE(std::exchange(is_cut, false));
  ASSERT_TRUE(json.next_element());
  EXPECT_EQ(json.text_up_to(4, is_cut), "12");
  ASSERT_TRUE(json.next_element());
  EXPECT_FALSE(json.number());
  ASSERT_TRUE(json.next_element());
  EXPECT_EQ(json.text_up_to(5, is_cut), "short");
  EXPECT_FALSE(is_cut);
  EXPECT_FALSE(json.next_element());
  EXPECT_FALSE(json.failed());
}

}  // namespace
}  // namespace reprise::importing
