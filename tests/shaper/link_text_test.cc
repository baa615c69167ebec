#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "shaper/description.h"
#include "shaper/profile.h"
#include "tests/scratch_folder.h"
#include "tests/shaper/link_fixture.h"

namespace reprise {
namespace {

using testing::HasSubstr;

LinkProfile read(const std::string& text) {
  auto const profile = parse_link(text);
  EXPECT_TRUE(profile) << profile.error();
  return profile.value_or(LinkProfile{});
}

std::string error_of(const std::string& text) {
  auto const profile = parse_link(text);
  EXPECT_FALSE(profile) << text;
  return profile ? "" : profile.error();
}

TEST(LinkText, KnowsProfilesByName) {
  auto const link = read("wpt:4g");
  EXPECT_EQ(link.id, "wpt:4g");
  EXPECT_THAT(link.source, HasSubstr("WebPageTest"));
  EXPECT_EQ(link.down.rate_bps, 9'000'000);
  EXPECT_EQ(link.up.rate_bps, 9'000'000);
  EXPECT_EQ(link.down.delay, 85ms);
  EXPECT_EQ(link.up.delay, 85ms);
  EXPECT_EQ(read("sitespeed:4g").rtt(), 85ms);
  EXPECT_EQ(read("sitespeed:lte").up.delay, 17'500us);
  EXPECT_EQ(read("lighthouse:slow4g").down.rate_bps, 1'638'400);
}

TEST(LinkText, OffersOnlyProfilesThatItReadsAgain) {
  EXPECT_EQ(known_profiles().size(), 12 + 11 + 2 + 8);
  for (const LinkProfile& known : known_profiles()) {
    EXPECT_EQ(read(known.id), known);
    EXPECT_EQ(read(to_text(known)).down, known.down);
    EXPECT_EQ(read(to_text(known)).up, known.up);
    EXPECT_FALSE(known.source.empty());
  }
}

TEST(LinkText, ReadsNumbersInKilobitsAndMilliseconds) {
  auto const link = read("9000/768/170");
  EXPECT_EQ(link.down.rate_bps, 9'000'000);
  EXPECT_EQ(link.up.rate_bps, 768'000);
  EXPECT_EQ(link.rtt(), 170ms);
  EXPECT_EQ(link.down.loss, LossModel{});
  EXPECT_EQ(read("9000/768/170/1%").down.loss.in_good, 0.01);
  EXPECT_EQ(read("9000/768/170/1%").up.loss.in_good, 0.01);
}

TEST(LinkText, ReadsUnits) {
  EXPECT_EQ(read("1.6mbit/1gbit/1.5s").down.rate_bps, 1'600'000);
  EXPECT_EQ(read("1.6mbit/1Gbit/1.5s").up.rate_bps, 1'000'000'000);
  EXPECT_EQ(read("1bit/1tbit/1.5s").rtt(), 1500ms);
  EXPECT_EQ(read("none/none/20us").rtt(), 20us);
  EXPECT_EQ(read("none/none/20us").up.rate_bps, 0);
  EXPECT_EQ(read("1/1/1ns").down.delay, 1ns);  // nothing of an odd time is lost
  EXPECT_EQ(read("1/1/0,loss=0.125%").up.loss.in_good, 0.00125);
}

TEST(LinkText, GivesTheQueueOneProductOrAHundredPackets) {
  EXPECT_EQ(read("wpt:dsl").down.queue, (QueueLimit{.packets = 100}));
  EXPECT_EQ(read("100mbit/1mbit/120ms").down.queue, (QueueLimit{.packets = 1000}));
  EXPECT_EQ(read("100mbit/1mbit/120ms").up.queue, (QueueLimit{.packets = 100}));
  EXPECT_EQ(read("1tbit/1mbit/3600s").down.queue.packets, kQueuePacketsMax);
  EXPECT_EQ(read("1mbit/1mbit/0,rtt=12s").down.queue.packets, 1000);
}

TEST(LinkText, ReadsQueuesInPacketsBytesAndTime) {
  EXPECT_EQ(read("8mbit/8mbit/0,queue=7p").down.queue, (QueueLimit{.packets = 7}));
  EXPECT_EQ(read("8mbit/8mbit/0,queue=64kb").down.queue, (QueueLimit{0, 64'000}));
  EXPECT_EQ(read("8mbit/8mbit/0,queue=64kib").down.queue, (QueueLimit{0, 65'536}));
  EXPECT_EQ(read("8mbit/8mbit/0,queue=50ms").down.queue, (QueueLimit{0, 50'000}));
  // The rate may come after it; a queue holds at least one packet.
  EXPECT_EQ(read("none,queue=50ms,down=16mbit,up=8kbit").down.queue, (QueueLimit{0, 100'000}));
  EXPECT_EQ(read("none,queue=50ms,down=16mbit,up=8kbit").up.queue, (QueueLimit{0, 1500}));
}

TEST(LinkText, AppliesKeysToBothDirectionsOrOne) {
  auto const link = read(
      "wpt:4g,loss=1%,up.loss=0,jitter=5ms,down.aqm=codel,up.aqm=pie,"
      "target=7ms,interval=70ms,burst=15kb,reorder=yes,up.delay=1ms");
  EXPECT_EQ(link.down.loss.in_good, 0.01);
  EXPECT_EQ(link.up.loss.in_good, 0);
  EXPECT_EQ(link.up.jitter, 5ms);
  EXPECT_TRUE(link.down.reorder);
  EXPECT_EQ(link.down.burst_bytes, 15'000);
  EXPECT_EQ(link.down.active_queue, (ActiveQueue{QueueDiscipline::codel, 7ms, 70ms}));
  EXPECT_EQ(link.up.active_queue, (ActiveQueue{QueueDiscipline::pie, 7ms, 70ms}));
  EXPECT_EQ(link.rtt(), 86ms);
}

TEST(LinkText, ReadsGilbertElliottAndOutages) {
  EXPECT_EQ(read("none,ge=1%/20%").down.loss,
            (LossModel{.in_good = 0, .good_to_bad = 0.01, .bad_to_good = 0.2, .in_bad = 1}));
  EXPECT_EQ(read("none,ge=1%/20%/90%/0.5%").up.loss,
            (LossModel{.in_good = 0.005, .good_to_bad = 0.01, .bad_to_good = 0.2, .in_bad = 0.9}));
  EXPECT_EQ(read("none,outage=1s-2s+3s-3500").up.outages,
            (Outages{.off = {{1s, 2s}, {3s, 3500ms}}}));
  EXPECT_EQ(read("none,outage=5s/500ms").up.outages,
            (Outages{.off = {{5s, 5500ms}}, .repeat = 5500ms}));
}

TEST(LinkText, ALaterLossModelReplacesTheOneBefore) {
  LossModel const bursts{.in_good = 0, .good_to_bad = 0.01, .bad_to_good = 0.2, .in_bad = 1};
  auto const example = read("9000/9000/170,ge=1%/20%,up.loss=0");
  EXPECT_EQ(example.down.loss, bursts);
  EXPECT_EQ(example.up.loss, LossModel{});
  EXPECT_FALSE(example.up.has_chance());
  EXPECT_EQ(read("none,ge=1%/20%,loss=3%").down.loss, (LossModel{.in_good = 0.03}));
  EXPECT_EQ(read("9000/9000/170/3%,ge=1%/20%").down.loss, bursts);
  EXPECT_EQ(read("none,loss=3%,up.ge=1%/20%").up.loss, bursts);
}

TEST(LinkText, ReadsTraceFiles) {
  ScratchFolder const folder;
  auto const path = (folder / "a.trace").string();
  std::ofstream(path) << "1\n2\n";
  EXPECT_EQ(read("none,down=" + path + ",up=1mbit,rtt=40").down.trace->period(), 2ms);
  EXPECT_EQ(read("wpt:4g,up=" + path).up.rate_bps, 0);
  auto const both = read(path);
  EXPECT_EQ(both.down.trace, both.up.trace);
  EXPECT_THAT(to_text(read("wpt:4g,up=" + path)), HasSubstr("up=" + path));
  EXPECT_EQ(read("wpt:4g,up=" + path + ",queue=1s").up.queue.bytes, 1'500'000);
}

TEST(LinkText, ReadsATraceFileWhosePathBeginsWithANumber) {
  ScratchFolder const folder;
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories("2024/11");
  for (const char* const path : {"2024/att.trace", "2024/11/att.trace"}) {
    std::ofstream(path) << "1\n2\n";
    auto const link = read(path);
    EXPECT_EQ(link.source, "trace file");
    EXPECT_EQ(link.down.rate_bps, 0);
    EXPECT_EQ(link.up.trace ? link.up.trace->period() : 0ns, 2ms);
  }
  EXPECT_THAT(error_of("2024/none.trace"), HasSubstr("DOWN/UP/RTT[/LOSS]"));
  std::filesystem::create_directories("9000/9000");
  std::ofstream("9000/9000/170") << "1\n2\n";
  EXPECT_EQ(read("9000/9000/170").source, "given in numbers");
  EXPECT_EQ(read("./9000/9000/170").source, "trace file");
  std::filesystem::current_path(before);
}

TEST(LinkText, MakesPathsOfTraceFilesAbsolute) {
  ScratchFolder const folder;
  auto const path = (folder / "a.trace").string();
  std::ofstream(path) << "1\n2\n";
  auto const absolute = [&](const std::string& text) {
    auto const made = absolute_link(text, folder.path());
    return made ? *made : "refused: " + made.error();
  };
  EXPECT_EQ(absolute("a.trace"), path);
  EXPECT_EQ(absolute(path + ",loss=1%"), path + ",loss=1%");
  EXPECT_EQ(absolute("wpt:4g,up=a.trace,down=1mbit,rtt=40"),
            "wpt:4g,up=" + path + ",down=1mbit,rtt=40");
  EXPECT_EQ(absolute("none,down=a.trace,up.loss=1%"), "none,down=" + path + ",up.loss=1%");
  for (auto const* const text : {"none", "wpt:4g", "9000/9000/170/1%,queue=50ms"}) {
    EXPECT_EQ(absolute(text), text);
  }
  EXPECT_THAT(absolute("wpt:4gg"), HasSubstr("'wpt:4gg' is neither a known profile nor a file"));
  EXPECT_THAT(absolute("wpt:4g,down=b.trace"), HasSubstr("refused: "));
}

TEST(LinkText, TakesTraceFilesOfTheGivenFolderAlone) {
  ScratchFolder const folder;
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::ofstream("a.trace") << "1\n2\n";
  std::filesystem::create_directories("a,b");
  std::ofstream("a,b/b.trace") << "1\n2\n";
  EXPECT_TRUE(parse_link("a.trace"));
  EXPECT_FALSE(absolute_link("a.trace", folder / "a,b"));
  auto const comma = absolute_link("b.trace", folder / "a,b");
  EXPECT_THAT(comma ? "accepted" : comma.error(), HasSubstr("contains a comma"));
  std::filesystem::current_path(before);
}

TEST(LinkText, WritesATextThatReadsAsTheSame) {
  for (const char* const text :
       {"none", "9000/9000/171/1%", "wpt:4g,queue=50ms,loss=0.3%,aqm=codel,target=3ms",
        "sitespeed:cable,down.burst=15kb,outage=20s/500ms", "1/1/1ns,up.jitter=3ns,up.reorder=yes",
        "9000/9000/170,ge=1%/20%/77.7%,up.loss=3%,outage=10s-12s+30s-30.5s", "none,up.delay=3ms",
        "none,loss=0.007%", "none,loss=0.0035%", "none,loss=29%"}) {
    auto const link = read(text);
    auto const again = read(to_text(link));
    EXPECT_EQ(again.down, link.down) << to_text(link);
    EXPECT_EQ(again.up, link.up) << to_text(link);
  }
}

TEST(LinkText, WritesALossAsItWasTyped) {
  for (const char* const loss : {"loss=0.007%", "loss=29%", "loss=0.1%"}) {
    EXPECT_THAT(to_text(read(std::string("none,") + loss)), testing::EndsWith(loss));
  }
}

TEST(LinkText, SaysWhatIsWrongAndWhatFits) {
  EXPECT_THAT(error_of("4g"), HasSubstr("similar names: wpt:4g, sitespeed:4g"));
  EXPECT_THAT(error_of("wpt:5g"), HasSubstr("wpt:3gfast, wpt:4g"));
  EXPECT_THAT(error_of("nothing"), HasSubstr("`reprise profiles` lists"));
  EXPECT_THAT(error_of(""), HasSubstr("neither a known profile"));
  EXPECT_THAT(error_of("9mbps/1/1"), HasSubstr("kbps is ambiguous"));
  EXPECT_THAT(error_of("9MB/1/1"), HasSubstr("has no known unit of rate"));
  EXPECT_THAT(error_of("1/1"), HasSubstr("DOWN/UP/RTT[/LOSS]"));
  EXPECT_THAT(error_of("1/1/1/1"), HasSubstr("is not a percentage"));
  EXPECT_THAT(error_of("1/1/1/101%"), HasSubstr("more than 100%"));
  EXPECT_THAT(error_of("0.0001/1/1"), HasSubstr("whole number of bit/s"));
  EXPECT_THAT(error_of("2tbit/1/1"), HasSubstr("up to 1 Tbit/s"));
  for (auto const* const text : {"0/1/1", "1/0.0mbit/1", "none,down=0", "none,up=0kbit"}) {
    EXPECT_THAT(error_of(text), HasSubstr("is not a rate: write none for no limit")) << text;
  }
  EXPECT_THAT(error_of("1/1/2h"), HasSubstr("is not a time"));
  EXPECT_THAT(error_of("1/1/3601s"), HasSubstr("up to 3600s"));
  EXPECT_THAT(error_of("1/1/1.ms"), HasSubstr("is not a time"));
  EXPECT_THAT(error_of("none,delay=3000s"), HasSubstr("round trip is above 1 hour"));
  EXPECT_THAT(error_of("none,queue=50"), HasSubstr("100p, 64kb"));
  EXPECT_THAT(error_of("none,queue=0p"), HasSubstr("must be above 0"));
  EXPECT_THAT(error_of("none,queue=5ms"), HasSubstr("needs a rate"));
  EXPECT_THAT(error_of("none,burst=5p"), HasSubstr("number of bytes"));
  EXPECT_THAT(error_of("none,aqm=red"), HasSubstr("droptail, codel or pie"));
  EXPECT_THAT(error_of("none,aqm=pie,interval=1ns"), HasSubstr("PIE is below 100us"));
  EXPECT_THAT(error_of("1/1/1,aqm=pie,target=0"), HasSubstr("'target': '0' must be above 0"));
  EXPECT_THAT(error_of("1/1/1,aqm=codel,interval=0ms"), HasSubstr("must be above 0"));
  EXPECT_THAT(error_of("none,ge=1%"), HasSubstr("P/R"));
  EXPECT_THAT(error_of("none,outage=2s-1s"), HasSubstr("end after they begin"));
  EXPECT_THAT(error_of("none,outage=0/1s"), HasSubstr("never on"));
  EXPECT_THAT(error_of("none,outage=1s"), HasSubstr("neither FROM-TO nor ON/OFF"));
  EXPECT_THAT(error_of("none,rtt"), HasSubstr("'rtt' is not KEY=VALUE"));
  EXPECT_THAT(error_of("none,rtt=1,rtt=1"), HasSubstr("'rtt' is given twice"));
  EXPECT_THAT(error_of("none,up.rtt=1"), HasSubstr("is not a key"));
  EXPECT_THAT(error_of("none,down=/no/such"), HasSubstr("/no/such"));
  EXPECT_THAT(error_of(std::string(5000, 'x')), HasSubstr("longer than 4096"));
}

TEST(LinkText, RefusesKeysWithoutEffect) {
  ScratchFolder const folder;
  auto const trace = (folder / "a.trace").string();
  std::ofstream(trace) << "1\n2\n";
  EXPECT_THAT(error_of("none,burst=15kb"),
              HasSubstr("down: burst has no effect without a rate (a trace is not one): add that, "
                        "remove burst, or set up.burst alone"));
  EXPECT_THAT(error_of("9000/none/170,burst=15kb"), HasSubstr("set down.burst alone"));
  EXPECT_THAT(error_of("wpt:4g,burst=15kb,up=" + trace), HasSubstr("up: burst has no effect"));
  EXPECT_THAT(error_of("none,aqm=codel"), HasSubstr("aqm has no effect without a rate or a trace"));
  EXPECT_THAT(error_of("wpt:4g,target=3ms"), HasSubstr("target has no effect without aqm=codel"));
  EXPECT_THAT(error_of("wpt:4g,down.aqm=pie,interval=30ms"), HasSubstr("up: interval has no"));
  EXPECT_THAT(error_of("wpt:4g,reorder=yes"), HasSubstr("reorder has no effect without jitter"));
  EXPECT_TRUE(read("9000/none/170,down.burst=15kb,reorder=no").up.trace == nullptr);
  EXPECT_TRUE(read(trace + ",aqm=codel,target=3ms,queue=50p").down.trace != nullptr);
}

TEST(LinkText, TakesKeysThatALaterOneGivesAnEffect) {
  EXPECT_EQ(read("none,burst=15kb,down=1mbit,up=1mbit").up.burst_bytes, 15'000);
  EXPECT_TRUE(read("wpt:4g,reorder=yes,jitter=5ms").up.reorder);
  EXPECT_FALSE(read("wpt:4g,reorder=yes,down.jitter=5ms,up.reorder=no").up.reorder);
  EXPECT_EQ(read("wpt:4g,target=3ms,aqm=pie").down.active_queue.target, 3ms);
}

TEST(LinkText, TakesEqualTracesForTheSameLink) {
  ScratchFolder const folder;
  auto const link_over = [&](const char* name, const char* lines) {
    std::ofstream(folder / name) << lines;
    return read("wpt:4g,down=" + (folder / name).string()).down;
  };
  auto const first = link_over("a.trace", "1\n2\n");
  EXPECT_TRUE(first == link_over("b.trace", "1\r\n2"));
  EXPECT_FALSE(first == link_over("a.trace", "1\n3\n"));
  EXPECT_FALSE(first == read("wpt:4g").down);
}

TEST(LinkText, WritesAllNumbersAsJson) {
  auto const text = boost::json::serialize(to_json(read("wpt:lte,loss=1%,up=none")));
  EXPECT_THAT(text, HasSubstr(R"("link":"wpt:lte,loss=1%,up=none")"));
  EXPECT_THAT(text, HasSubstr(R"("rtt_ms":70,"down":{"rate_bps":12000000,"trace":null)"));
  EXPECT_THAT(text, HasSubstr(R"("up":{"rate_bps":null)"));
  EXPECT_THAT(text, HasSubstr(R"("delay_ms":35)"));
}

TEST(LinkText, WritesTheDigestOfATraceAsJson) {
  ScratchFolder const folder;
  auto const path = (folder / "a.trace").string();
  std::ofstream(path) << "1\n2\n";
  EXPECT_THAT(
      boost::json::serialize(to_json(read(path))),
      HasSubstr(R"("sha256":"a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1",)"));
}

}  // namespace
}  // namespace reprise
