#include "tools/process/chromium_flags.h"

#include <gmock/gmock.h>

#include "base/text/command_words.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string> kFlags{"--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.0.0.1",
                                      "--no-first-run",
                                      "--hash=Ab+/12=", "--proxy-bypass-list=<-loopback>"};

TEST(ChromiumFlags, AsShellWordsQuoteOnlyValuesThatNeedIt) {
  EXPECT_EQ(to_shell_words(kFlags),
            "--host-resolver-rules='MAP * ~NOTFOUND,EXCLUDE 127.0.0.1' --no-first-run "
            "--hash=Ab+/12= --proxy-bypass-list='<-loopback>'");
}

TEST(ChromiumFlags, AsShellWordsAreReadBackAsTheyWere) {
  std::vector<std::string> flags = kFlags;
  flags.insert(flags.end(), {"--agent=it's", "--empty=", "--a b=c", "plain", "$HOME"});
  EXPECT_EQ(command_words(to_shell_words(flags)), flags);
}

TEST(ChromiumFlags, TakeTheirPlaceAsArgumentsAndInsideOne) {
  std::vector<std::string> const flags{"--a=1 2", "--b"};
  EXPECT_THAT(expand_chromium_flags({"run", "{chromium-flags}", "x"}, flags),
              ElementsAre("run", "--a=1 2", "--b", "x"));
  EXPECT_THAT(
      expand_chromium_flags({"--chrome-flags={chromium-flags} --c {chromium-flags}"}, flags),
      ElementsAre("--chrome-flags=--a='1 2' --b --c --a='1 2' --b"));
}

}  // namespace
}  // namespace reprise
