#include "archive/import/mahimahi.h"

#include <fstream>

#include "archive/import/source/zip.h"
#include "tests/archive/import/import_fixture.h"
#include "tests/scratch_folder.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

const std::string kWarc =
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: "
    "http://a.test/\r\nContent-Length: 23\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody\r\n\r\n";

class ImportZip : public ImportTest {};

TEST_F(ImportZip, ReadsThePagesAndTheWarcsOfAWacz) {
  ASSERT_EQ(
      import(zip({{"pages/pages.jsonl",
                   "{\"format\":\"json-pages-1.0\"}\n{\"id\":\"1\",\"url\":\"http://a.test/\"}\n"},
                  {"archive/b.warc", kWarc},
                  {"archive/a.warc.gz", gzip(kWarc)}})),
      "");
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(sink.sessions.at(0).pages, std::vector<std::string>{"http://a.test/"});
}

TEST_F(ImportZip, ReadsWaczsInAZip) {
  auto const one = zip({{"archive/a.warc", kWarc}});
  ASSERT_EQ(import(zip({{"one.wacz", one}, {"two.wacz", one}})), "");
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_THAT(import(zip({{"one.wacz", zip({{"deeper.wacz", one}})}})), HasSubstr("neither"));
}

TEST_F(ImportZip, ReadsAHarWithItsAttachmentsWhateverTheirNames) {
  ASSERT_EQ(import(zip({{"har.har", R"({"log":{"entries":[{"request":{"method":"GET","url":)"
                                    R"("http://a.test/","headers":[]},"response":{"status":200,)"
                                    R"("headers":[],"content":{"_file":"../../etc/passwd"}}}]}})"},
                        {"../../etc/passwd", "content"}})),
            "");
  EXPECT_EQ(body(0), "content") << "an entry of the zip, and nothing outside of it";
}

TEST_F(ImportZip, RefusesWhatDoesNotLieInTheFile) {
  auto text = zip({{"archive/a.warc", kWarc}});
  EXPECT_THAT(import(text.substr(0, text.size() - 30)), HasSubstr("no directory"));
  auto const size_at = text.rfind("PK\x01\x02") + 20;
  text.replace(size_at, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(import(text), HasSubstr("lies outside the zip: archive/a.warc"));
  EXPECT_THAT(import(zip({{"a.txt", "x"}})), HasSubstr("neither WACZ nor HAR"));
}

TEST_F(ImportZip, RefusesAnEntryThatItsChecksumDoesNotFit) {
  std::string const pages = "{\"url\":\"http://a.test/\"}\n";
  auto const whole = zip({{"pages/pages.jsonl", pages},
                          {"archive/a.warc", kWarc},
                          {"archive/b.warc", kWarc},
                          {"indexes/index.cdx", "unused"}});
  ASSERT_EQ(import(whole), "");
  for (auto const* const place : {"body", "a.test/\"}"}) {
    auto text = whole;
    text[text.find(place)] ^= 1;
    auto const* const name = *place == 'b' ? "archive/a.warc: " : "pages/pages.jsonl: ";
    EXPECT_THAT(import(text), HasSubstr(name + std::string("its CRC-32 or its length")));
    EXPECT_THAT(import(text, true), HasSubstr(name));
    EXPECT_EQ(report.exchanges, 2U) << "it goes on with the next entry";
    EXPECT_EQ(report.damaged, 1U);
  }
}

TEST_F(ImportZip, RefusesADirectoryThatTheEntriesDoNotFit) {
  auto const whole = zip({{"archive/a.warc", kWarc}, {"archive/b.warc", kWarc}});
  auto renamed = whole;
  renamed[renamed.rfind("archive/b.warc")] = 'A';
  EXPECT_THAT(import(renamed), HasSubstr("differ: Archive/b.warc"));
  EXPECT_THAT(import(renamed, true), HasSubstr("differ"));
  EXPECT_EQ(report.exchanges, 1U);
  auto recounted = whole;
  recounted[recounted.rfind("PK\x05\x06") + 10] = 1;
  EXPECT_THAT(import(recounted), HasSubstr("directory is broken"));
}

TEST_F(ImportZip, FindsTheFirstEntryOfAName) {
  auto const bytes = zip({{"a", "one"}, {"b", "two"}, {"a", "three"}});
  MemoryInput input(bytes);
  std::optional<Fault> fault;
  Zip const opened(input, fault);
  ASSERT_FALSE(fault);
  EXPECT_EQ(opened.find("a"), &opened.entries().at(0));
  EXPECT_EQ(opened.find("b"), &opened.entries().at(1));
  EXPECT_EQ(opened.find("c"), nullptr);
}

TEST_F(ImportZip, RefusesABomb) {
  // 1 GiB and a half of zeros as gzip: 1.5 MB.
  std::string const zeros(64 << 20, '\0');
  auto const member =
      gzip("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 99999999999\r\n\r\n");
  std::string bomb = member;
  auto const part = gzip(zeros);
  for (int i = 0; i < 24; ++i) bomb += part;
  EXPECT_THAT(import(bomb), HasSubstr("expands more than 200-fold"));
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out += static_cast<char>(value);
}
std::string bytes_field(unsigned number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

class ImportMahimahi : public ImportTest {
 protected:
  bool take(const std::string& file) {
    sink = {};
    Collector collector(sink, false);
    auto const good = import_mahimahi(file, std::nullopt, collector) && !collector.failed();
    report = collector.report();
    return good;
  }
};

/// With these fields of the response.
std::string mahimahi_record(const std::string& fields = "") {
  return bytes_field(1, "192.0.2.1") + varint(2 << 3) + varint(8443) + varint(3 << 3) + varint(2) +
         bytes_field(4,
                     bytes_field(1, "GET /x HTTP/1.1") +
                         bytes_field(2, bytes_field(1, "Host") + bytes_field(2, "a.test:8443"))) +
         bytes_field(5, bytes_field(1, "HTTP/1.1 200 OK") + fields +
                            bytes_field(2, bytes_field(1, "Transfer-Encoding") +
                                               bytes_field(2, "chunked")) +
                            bytes_field(3, "4\r\nbody\r\n0\r\n\r\n"));
}

TEST_F(ImportMahimahi, ReadsAnExchange) {
  ASSERT_TRUE(take(mahimahi_record()));
  EXPECT_EQ(url(0), "https://a.test:8443/x");
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(sink.connections.at(0).address, "192.0.2.1:8443");
}

TEST_F(ImportMahimahi, RefusesEveryCutOfAnExchange) {
  auto const record = mahimahi_record();
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(take(record.substr(0, size))) << size;
  }
}

TEST_F(ImportMahimahi, RefusesFieldsThatComeTwiceOrAsSomethingElse) {
  auto const record = mahimahi_record();
  auto const address = bytes_field(1, "192.0.2.1");
  EXPECT_FALSE(take(record + address));
  EXPECT_FALSE(take(record + varint(1 << 3) + varint(5)));
  EXPECT_FALSE(take(record + "garbage"));
  ASSERT_TRUE(take(record + varint(9 << 3) + varint(5)));
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some files have unknown fields")));
}

TEST_F(ImportMahimahi, IsRecognisedByItsBeginningUpToTheRequestLine) {
  auto const record = mahimahi_record();
  EXPECT_TRUE(begins_as_mahimahi(record));
  auto const line_end = record.find("HTTP/1.1") + 8;
  EXPECT_TRUE(begins_as_mahimahi(record.substr(0, line_end)));
  for (std::size_t size = 0; size < line_end; ++size) {
    EXPECT_FALSE(begins_as_mahimahi(record.substr(0, size))) << size;
  }
  EXPECT_FALSE(begins_as_mahimahi(bytes_field(4, bytes_field(1, "no request line"))));
  for (auto const* const other : {"\n", "\n\nten letters", "# Notes\n", R"({"log":{}})"}) {
    EXPECT_FALSE(begins_as_mahimahi(other)) << other;
  }
}

TEST_F(ImportMahimahi, IsAFolderWithExchangesBesideOtherFiles) {
  ScratchFolder const folder;
  auto const write = [&](std::string_view name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  EXPECT_FALSE(is_mahimahi_folder(folder.path())) << "it is empty";
  write("save.b", mahimahi_record());
  write(".hidden", "no exchange");
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
  EXPECT_FALSE(is_mahimahi_folder(folder / "save.b")) << "a file";
  EXPECT_FALSE(is_mahimahi_folder(folder / "nothing"));
  write("save.c", mahimahi_record());
  Importer importer(sink, false);
  EXPECT_FALSE(importer.read_path(folder.path(), nullptr));
  EXPECT_FALSE(importer.finish());
  EXPECT_EQ(importer.report().exchanges, 2U);
  write("notes.txt", "no exchange");
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
  CollectingSink more;
  Importer again(more, false);
  EXPECT_FALSE(again.read_path(folder.path(), nullptr)) << "other files are passed over";
  EXPECT_FALSE(again.finish());
  EXPECT_EQ(again.report().exchanges, 2U);
  EXPECT_THAT(again.report().remarks,
              testing::Contains(testing::StartsWith("1 file of the folder")));
}

TEST_F(ImportMahimahi, IsAFolderWhoseFilesAreRenamed) {
  ScratchFolder const folder;
  auto const write = [&](std::string_view name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  write("0", "no exchange");
  EXPECT_FALSE(is_mahimahi_folder(folder.path()));
  write("1", mahimahi_record());
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
}

TEST_F(ImportMahimahi, BeginsWithTheEarliestDateOfAResponse) {
  auto const header = [](const std::string& name, const std::string& value) {
    return bytes_field(2, bytes_field(1, name) + bytes_field(2, value));
  };
  ScratchFolder const folder;
  int number = 0;
  for (auto const& fields :
       {header("Date", "Mon, 15 Jun 2020 12:00:09 GMT"),
        header("date", "Mon, 15 Jun 2020 12:00:05 GMT"),
        header("Date", "Mon, 15 Jun 2020 11:00:00 GMT") + header("Age", "3607"),
        header("Date", "Thu, 01 Jan 1970 00:00:00 GMT"), header("Date", "no date"),
        std::string()}) {
    std::ofstream(folder / std::to_string(number++), std::ios::binary) << mahimahi_record(fields);
  }
  Importer importer(sink, false);
  EXPECT_FALSE(importer.read_path(folder.path(), nullptr));
  EXPECT_EQ(sink.sessions.at(0).started,
            std::chrono::system_clock::time_point(std::chrono::seconds(1'592'222'405)));
}

class ImportAnything : public ImportTest {};

TEST_F(ImportAnything, IsToldApartByContent) {
  EXPECT_EQ(recognise("WARC/1.0\r\n"), RecordingKind::kWarc);
  EXPECT_EQ(recognise("filedesc://x"), RecordingKind::kArc);
  EXPECT_EQ(recognise("\xef\xbb\xbf {\"log\": {"), RecordingKind::kHar);
  EXPECT_EQ(recognise("{\"Requests\": {"), RecordingKind::kWprgo);
  EXPECT_EQ(recognise("PK\x03\x04"), RecordingKind::kZip);
  EXPECT_EQ(recognise("1234:4:type;"), RecordingKind::kMitmproxy);
  EXPECT_EQ(recognise("hello"), RecordingKind::kUnknown);
  EXPECT_EQ(recognise("onInputData({\"log\": {"), RecordingKind::kHar);
  EXPECT_EQ(recognise("{\"a\": 1}"), RecordingKind::kUnknown);
}

TEST_F(ImportAnything, WithDictionariesInsideDictionariesEnds) {
  std::string nested;
  for (int i = 0; i < 2'000; ++i) {
    nested = "\x5d\x2a\x4d\x18" + little_endian(nested.size(), 4) + nested;
  }
  EXPECT_NE(import(nested), "");
}

TEST_F(ImportAnything, OfNoKnownKindIsSaidSo) {
  EXPECT_THAT(import("hello"), HasSubstr("unknown format"));
  EXPECT_THAT(import(std::string("REPRISE\0 and records", 20)),
              HasSubstr("already a reprise archive"));
  EXPECT_THAT(import(""), HasSubstr("it is empty"));
  EXPECT_THAT(import(gzip("")), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace reprise::importing
