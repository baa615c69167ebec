#include "base/system/program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>
#include <vector>

namespace reprise {
namespace {

constexpr std::size_t kOutputBytes = kProgramOutputBytesMax + 1;

Result<ProgramResult> print_much(std::size_t output_bytes_max) {
  const std::vector<std::string> arguments{
      "-c", "head -c " + std::to_string(kOutputBytes) + " /dev/zero"};
  return run_program("/bin/sh", arguments, std::chrono::seconds(60), output_bytes_max);
}

TEST(Program, ThatPrintsTooMuchIsAnError) {
  auto const ran = print_much(kProgramOutputBytesMax);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error(), std::make_error_code(std::errc::message_size));
}

TEST(Program, PrintsAsMuchAsItsCallerAllows) {
  auto const ran = print_much(kOutputBytes);
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(ran->exit_code, 0);
  EXPECT_EQ(ran->output.size(), kOutputBytes);
}

}  // namespace
}  // namespace reprise
