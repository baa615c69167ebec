// `reprise archive` as a user meets it: what it prints and how it ends. In process; the archive is
// the golden one.

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text/printable.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/file_size_limit.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ArchiveCommand : public testing::Test {
 protected:
  ArchiveCommand() {
    std::filesystem::copy_file(std::filesystem::path(GOLDEN_FOLDER) / "v1.reprise", path_);
  }

  /// Runs `reprise archive ARGUMENTS` with the archive's path where they say FILE.
  int run(std::vector<std::string> arguments) {
    std::ranges::replace(arguments, "FILE", path_.string());
    arguments.insert(arguments.begin(), "archive");
    CLI::App app;
    int exit_code = kExitDone;
    add_archive_command(app, exit_code);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      parse_words(app, std::move(arguments));
    } catch (const CLI::ParseError&) {
      exit_code = kExitUsage;
    }
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return exit_code;
  }

  boost::json::value json() {
    boost::system::error_code error;
    auto parsed = boost::json::parse(out_, error);
    EXPECT_FALSE(error) << out_;
    return parsed;
  }

  void damage_first_exchange() {
    auto bytes = read_file(path_);
    bytes[bytes.find("/form?a=1") + 1] ^= 1;
    write_file(path_, bytes);
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::string out_;
  std::string error_;
};

TEST_F(ArchiveCommand, LsPrintsALineAnExchange) {
  EXPECT_EQ(run({"ls", "FILE"}), kExitDone);
  EXPECT_EQ(std::ranges::count(out_, '\n'), 6) << "four, and two sessions' heads";
  EXPECT_THAT(out_, AllOf(HasSubstr("https://example.org:8443/form?a=1&b=%20&a=2"),
                          HasSubstr("text/css"), HasSubstr("cut by client")));
  EXPECT_EQ(error_, "");
}

TEST_F(ArchiveCommand, LsPrintsAnArrayOfObjectsAsJson) {
  EXPECT_EQ(run({"ls", "FILE", "--json"}), kExitDone);
  auto const list = json().as_array();
  ASSERT_EQ(list.size(), 4U);
  auto const& last = list[3].as_object();
  EXPECT_EQ(last.at("number").as_int64(), 4);
  EXPECT_EQ(last.at("url").as_string(), "http://example.org/a?b=c");
  EXPECT_EQ(last.at("size_bytes").as_int64(), 1000);
}

TEST_F(ArchiveCommand, ShowLetsNoEscapeSequenceReachTheTerminal) {
  EXPECT_EQ(run({"show", "FILE", "4"}), kExitDone);
  EXPECT_THAT(out_, HasSubstr("\\x1b[31mred\\x1b[0m"));
  EXPECT_EQ(out_.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({"show", "FILE", "4", "--json"}), kExitDone);
  EXPECT_EQ(json().at("response").at("headers").at(1).at(1).as_string(), "\x1b[31mred\x1b[0m");
}

TEST_F(ArchiveCommand, ShowKeepsHeadersInWireOrderWithCaseAndDuplicates) {
  EXPECT_EQ(run({"show", "FILE", "1"}), kExitDone);
  EXPECT_THAT(out_, HasSubstr("> HOST: example.org:8443\n> x-Empty: \n> Accept: text/html\n"
                              "> accept: */*\n"));
  EXPECT_THAT(out_, HasSubstr("< Set-Cookie: a=1\n< Set-Cookie: b=2; Path=/\n"));
}

TEST_F(ArchiveCommand, CatPrintsTheBytesOfABodyAndNothingElse) {
  EXPECT_EQ(run({"cat", "FILE", "4"}), kExitDone);
  EXPECT_EQ(out_, std::string(1000, 'a'));
  EXPECT_EQ(run({"cat", "FILE", "1", "--request"}), kExitDone);
  EXPECT_EQ(out_, "name=value");
  EXPECT_EQ(run({"cat", "FILE", "2"}), kExitDone);
  EXPECT_EQ(out_, "");
}

TEST_F(ArchiveCommand, CatPrintsNothingOfADamagedBody) {
  auto bytes = read_file(path_);
  bytes[bytes.find("aaaaaaaa") + 500] ^= 1;
  write_file(path_, bytes);
  EXPECT_EQ(run({"cat", "FILE", "4"}), kExitArchive);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(error_, HasSubstr("exchange 4 is damaged"));
}

TEST_F(ArchiveCommand, NamesTheNumbersThatThereAre) {
  EXPECT_EQ(run({"show", "FILE", "5"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("no exchange 5: the archive has 4"));
  EXPECT_EQ(run({"cat", "FILE", "0"}), kExitUsage);
  EXPECT_EQ(run({"cat", "FILE"}), kExitUsage);
}

TEST_F(ArchiveCommand, StatsCountsASharedBodyOnce) {
  EXPECT_EQ(run({"stats", "FILE", "--json"}), kExitDone);
  auto const stats = json();
  EXPECT_EQ(stats.at("body_bytes").as_int64(), 1048);
  EXPECT_EQ(stats.at("body_bytes_stored").as_int64(), 1029);
  EXPECT_EQ(stats.at("hosts").at("example.org").at("exchanges").as_int64(), 4);
  EXPECT_EQ(run({"stats", "FILE"}), kExitDone);
  EXPECT_THAT(out_, HasSubstr("body bytes shared     19\n"));
}

TEST_F(ArchiveCommand, VerifyPassesAWholeArchiveAndAnUnclosedOne) {
  EXPECT_EQ(run({"verify", "FILE"}), kExitDone);
  EXPECT_THAT(out_, HasSubstr("whole: 4 exchanges"));
  auto const bytes = read_file(path_);
  write_file(path_, bytes.substr(0, open_archive(path_)->records_end() - 3));
  EXPECT_EQ(run({"verify", "FILE"}), kExitDone);
  EXPECT_THAT(out_, AllOf(HasSubstr("not closed"), HasSubstr("archive repair")));
  EXPECT_EQ(run({"verify", "FILE", "--json"}), kExitDone);
  EXPECT_FALSE(json().at("closed").as_bool());
  EXPECT_TRUE(json().at("whole").as_bool());
}

TEST_F(ArchiveCommand, VerifyPrintsALineAProblem) {
  damage_first_exchange();
  EXPECT_EQ(run({"verify", "FILE"}), kExitArchive);
  EXPECT_EQ(std::ranges::count(out_, '\n'), 1);
  EXPECT_THAT(out_, HasSubstr("the exchange record at byte"));
  EXPECT_THAT(error_, HasSubstr("1 problem. Run "));
  EXPECT_EQ(run({"verify", "FILE", "--json"}), kExitArchive);
  EXPECT_EQ(json().at("problems").as_array().size(), 1U);
}

TEST_F(ArchiveCommand, RepairLeavesAWholeFileAndTheOriginal) {
  damage_first_exchange();
  EXPECT_EQ(run({"repair", "FILE"}), kExitDone);
  EXPECT_THAT(out_, AllOf(HasSubstr("3 exchanges kept, 1 lost"), HasSubstr(".bak")));
  EXPECT_EQ(run({"verify", "FILE"}), kExitDone);
  EXPECT_EQ(run({"repair", "FILE"}), kExitArchive);
  EXPECT_THAT(error_, HasSubstr(".bak already exists"));
  EXPECT_EQ(run({"repair", "FILE", "--no-backup", "--json"}), kExitDone);
  EXPECT_EQ(json().at("exchanges_kept").as_int64(), 3);
}

TEST_F(ArchiveCommand, RepairSaysWhenItCannotCountTheLoss) {
  auto bytes = read_file(path_);
  bytes.resize(open_archive(path_)->records_end());  // no index, so it is scanned
  bytes += "no record but no zeros";
  write_file(path_, bytes);
  auto const copy = folder_ / "copy.reprise";
  std::filesystem::copy_file(path_, copy);
  EXPECT_EQ(run({"repair", "FILE"}), kExitDone);
  EXPECT_THAT(out_, AllOf(HasSubstr("4 exchanges kept, an unknown number lost"),
                          HasSubstr("the number of exchanges lost there is unknown")));
  EXPECT_EQ(run({"repair", copy.string(), "--json"}), kExitDone);
  EXPECT_EQ(json().at("exchanges_lost").as_int64(), 0);
  EXPECT_TRUE(json().at("more_may_be_lost").as_bool());
}

TEST_F(ArchiveCommand, NamesTheFileWhatIsWrongAndWhatToDo) {
  write_file(path_, "#!/bin/sh\n");
  EXPECT_EQ(run({"ls", "FILE"}), kExitArchive);
  EXPECT_THAT(error_, AllOf(HasSubstr(path_.string()), HasSubstr("not a reprise archive")));
  // A header of version 7, with its checksum.
  write_file(path_, std::string("REPRISE\0\7\0\0\0"
                                "\xa9\x75\x00\x7a",
                                16));
  EXPECT_EQ(run({"ls", "FILE"}), kExitArchive);
  EXPECT_THAT(error_,
              HasSubstr("written by a newer reprise (format 7, this version reads up to 1). "
                        "Update reprise"));
  std::filesystem::remove(path_);
  EXPECT_EQ(run({"verify", "FILE"}), kExitArchive);
  EXPECT_THAT(error_, HasSubstr("No such file or directory"));
}

TEST_F(ArchiveCommand, SendsNobodyToRepairWhenTheFileHeaderIsDamaged) {
  auto bytes = read_file(path_);
  bytes[12] ^= 1;  // its checksum
  write_file(path_, bytes);
  for (auto const* command : {"ls", "verify", "repair"}) {
    EXPECT_EQ(run({command, "FILE"}), kExitArchive);
    EXPECT_EQ(error_, "reprise: " + path_.string() +
                          ": its file header is damaged: no command can read it; use a copy\n");
  }
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(ArchiveCommand, NamesTheCopyWhenTheDiskIsFull) {
  auto const out = folder_ / "out.reprise";
  auto const body = folder_ / "body";
  write_file(body, "new");
  path_ = folder_ / "large.reprise";
  {
    auto const writer = create_archive(path_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/large");
    exchange.response.body = store(*writer, noise(4 << 20, 1));
    add(*writer, exchange);
    add(*writer, an_exchange(2, "/small"));
    ASSERT_TRUE(writer->close());
  }
  std::vector<std::vector<std::string>> const changes = {{"2", "--body", body.string()},
                                                         {"1", "--think-time", "30ms"}};
  for (auto const& change : changes) {
    std::vector<std::string> arguments = {"edit", "FILE", "-o", out.string()};
    arguments.insert(arguments.begin() + 2, change.begin(), change.end());
    {
      FileSizeLimit const full_disk(1 << 20);
      EXPECT_EQ(run(arguments), kExitArchive);
    }
    EXPECT_THAT(error_, HasSubstr(out.string() + ": File too large"));
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

std::string har_of(const std::string& url, const std::string& text) {
  return R"({"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{)"
         R"("startedDateTime":"2024-01-01T00:00:00.000Z","time":1,)"
         R"("request":{"method":"GET","url":")" +
         url +
         R"(","httpVersion":"HTTP/1.1","headers":[]},)"
         R"("response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],)"
         R"("content":{"size":)" +
         std::to_string(text.size()) + R"(,"mimeType":"text/plain","text":")" + text +
         R"("}},"timings":{"send":0,"wait":1,"receive":0}}]}})";
}

TEST_F(ArchiveCommand, ImportEndsWhenTheDiskIsFullEvenWithKeepGoing) {
  auto const large = folder_ / "large.har";
  auto const small = folder_ / "small.har";
  auto const out = folder_ / "out.reprise";
  write_file(large, har_of("https://a.test/large", std::string(4 << 20, 'a')));
  write_file(small, har_of("https://a.test/small", "a"));
  {
    FileSizeLimit const full_disk(1 << 20);
    EXPECT_EQ(run({"import", large.string(), small.string(), "--keep-going", "-o", out.string()}),
              kExitArchive);
  }
  EXPECT_THAT(error_,
              AllOf(HasSubstr(out.string() + ": File too large"), Not(HasSubstr(large.string()))));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run({"import", large.string(), small.string(), "-o", out.string()}), kExitDone)
      << error_;
}

TEST_F(ArchiveCommand, DiffSkipsDateAndAgeUnlessAsked) {
  auto const import_dated = [this](const std::string& name, const std::string& seconds) {
    auto har = har_of("https://a.test/", "same");
    std::string const none = R"("headers":[],"content")";
    har.replace(har.find(none), none.size(),
                R"("headers":[{"name":"Date","value":"Thu, 01 Jan 2026 00:00:)" + seconds +
                    R"( GMT"},{"name":"age","value":")" + seconds + R"("}],"content")");
    write_file(folder_ / name, har);
    auto archive = (folder_ / (name + ".reprise")).string();
    EXPECT_EQ(run({"import", (folder_ / name).string(), "-o", archive}), kExitDone) << error_;
    return archive;
  };
  auto const a = import_dated("a.har", "10");
  auto const b = import_dated("b.har", "20");
  EXPECT_EQ(run({"diff", a, b}), kExitDone) << out_;
  EXPECT_EQ(run({"diff", a, b, "--all-headers"}), kExitGate);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("+ Date: Thu, 01 Jan 2026 00:00:20 GMT"), HasSubstr("- age: 10")));
}

TEST_F(ArchiveCommand, DiffNamesTheFirstMessageThatDiffersAndOneThatIsDamaged) {
  auto const record_messages = [this](const char* name, std::vector<std::string_view> texts) {
    auto const path = folder_ / name;
    auto const writer = create_archive(path);
    EXPECT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/socket");
    exchange.request.protocol = kWebSocketProtocol;
    exchange.response.status = 101;
    add(*writer, exchange);
    for (auto const text : texts) {
      EXPECT_TRUE(writer->add_message(1, {.time = SessionTime(1), .payload = as_bytes(text)}));
    }
    EXPECT_TRUE(writer->close());
    return path.string();
  };
  auto const a = record_messages("ws-a.reprise", {"hello", "again", "bye"});
  auto const b = record_messages("ws-b.reprise", {"hello", "bye"});
  EXPECT_EQ(run({"diff", a, a}), kExitDone) << out_;
  EXPECT_EQ(run({"diff", a, b}), kExitGate);
  EXPECT_THAT(out_, HasSubstr("    messages: 3 -> 2, different from message 2 on\n"));
  EXPECT_EQ(run({"diff", a, b, "--json"}), kExitGate);
  auto const difference = json().at("differences").at(0);
  EXPECT_EQ(difference.at("differences").at(0).as_string(), "messages");
  EXPECT_EQ(difference.at("messages").at("a").as_int64(), 3);
  EXPECT_EQ(difference.at("messages").at("b").as_int64(), 2);
  EXPECT_EQ(difference.at("messages").at("first_changed").as_int64(), 2);
  auto bytes = read_file(b);
  bytes[bytes.find("bye")] = 'B';
  write_file(b, bytes);
  EXPECT_EQ(run({"diff", a, b}), kExitArchive);
  EXPECT_THAT(error_, AllOf(HasSubstr(b + ": a WebSocket message of exchange 1 ("),
                            HasSubstr("/socket) is damaged")));
}

TEST(ArchiveText, KeepsPrintableUtf8AndEscapesTheRest) {
  EXPECT_EQ(printable("plain ~ text"), "plain ~ text");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xe6\x96\x87 \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe6\x96\x87 \xf0\x9f\x98\x80");
  EXPECT_EQ(printable(std::string_view("\0\t\n\x1b\x7f", 5)), "\\x00\\x09\\x0a\\x1b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "CSI as one C1 character";
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff") << "not UTF-8";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right-to-left override";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "not the shortest form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past Unicode";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut short";
}

TEST(ArchiveText, GivesJsonOnlyUtf8) {
  EXPECT_EQ(as_utf8("a\x1b\xc3\xbc"), "a\x1b\xc3\xbc") << "Boost.JSON escapes control characters";
  EXPECT_EQ(as_utf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(as_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace reprise
