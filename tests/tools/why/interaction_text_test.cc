#include <gtest/gtest.h>

#include "tools/why/why_text.h"

namespace reprise {
namespace {

std::string text_of(double one, double other, EstimatedEffect together) {
  return interaction_text(one, other, together, Metric::Unit::kMs);
}

TEST(InteractionText, SaysWhatTwoCausesDoToEachOther) {
  EXPECT_EQ(text_of(250, 240, {.estimate = -500, .low = -600, .high = -400}),
            "mask each other: together they cost 500.0 ms less (400.0 ms to 600.0 ms) than the sum "
            "of what each costs without the other. Undo both.");
  EXPECT_EQ(text_of(250, 240, {.estimate = 80, .low = 60, .high = 100}),
            "make each other worse: together they cost 80.0 ms more (60.0 ms to 100.0 ms) than the "
            "sum of what each costs without the other.");
  EXPECT_EQ(text_of(-250, 240, {.estimate = -80, .low = -100, .high = -60}),
            "act on each other: together they cost 80.0 ms less (60.0 ms to 100.0 ms) than the sum "
            "of what each costs without the other.");
}

TEST(InteractionText, OfWhatMakesBFasterIsOfSavings) {
  EXPECT_EQ(text_of(-250, -240, {.estimate = 80, .low = 60, .high = 100}),
            "mask each other: together they save 80.0 ms less (60.0 ms to 100.0 ms) than the sum "
            "of what each saves without the other.");
  EXPECT_EQ(text_of(-250, -240, {.estimate = -80, .low = -100, .high = -60}),
            "strengthen each other: together they save 80.0 ms more (60.0 ms to 100.0 ms) than the "
            "sum of what each saves without the other.");
}

}  // namespace
}  // namespace reprise
