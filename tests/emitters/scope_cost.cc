// For scope_cost_test.py: calls a function so many times, with or without a scope in it, and with
// or without a trace. usage: scope_cost bare|off|on CALLS

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "emitters/cpp/trench.h"

namespace {

[[gnu::noinline]] std::uint64_t bare(std::uint64_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

[[gnu::noinline]] std::uint64_t scoped(std::uint64_t value) {
  TRENCH_SCOPE("shop.Cart", "tax");
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::string_view const how = arguments[1];
  auto const calls = std::strtoull(arguments[2], nullptr, 10);
  trench::Trace trace;
  std::optional<trench::At> at;
  if (how == "on") at.emplace(trace);
  auto* const called = how == "bare" ? &bare : &scoped;
  std::uint64_t sum = 0;
  auto const began = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < calls; ++i) sum += called(i);
  auto const took = std::chrono::steady_clock::now() - began;
  std::printf("%.2f ns a call (%llu)\n",
              std::chrono::duration<double, std::nano>(took).count() / static_cast<double>(calls),
              static_cast<unsigned long long>(sum));
}
