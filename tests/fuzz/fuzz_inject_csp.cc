// Policies of any form: what comes out lets our script run, and no script that did not run.

#include <cstdlib>

#include "inject/csp.h"
#include "inject/policy.h"

using namespace reprise::inject;

namespace {

constexpr std::string_view kOurs = "'sha256-b3Vycw=='";
constexpr std::string_view kOther = "'sha256-Zm9yYmlkZGVu'";

void check(bool holds) {
  if (!holds) std::abort();
}

void check_no_wider(std::string_view before, std::string_view after) {
  auto const was = split_policies(before), is = split_policies(after);
  check(was.size() == is.size());
  for (std::size_t i = 0; i < was.size(); ++i) {
    Policy const old_policy(was[i]), new_policy(is[i]);
    check(old_policy.lets_run(kOther, "") == new_policy.lets_run(kOther, ""));
    check(old_policy.lets_run(kOther, "guess") == new_policy.lets_run(kOther, "guess"));
    check(old_policy.sandboxes_scripts() == new_policy.sandboxes_scripts());
    for (auto const* const name : {"default-src", "script-src-attr", "style-src", "img-src"}) {
      auto const* const old_one = old_policy.find(name);
      auto const* const new_one = new_policy.find(name);
      check((old_one == nullptr) == (new_one == nullptr));
      if (old_one != nullptr) check(old_one->sources == new_one->sources);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  auto const line = std::min(text.find('\n'), text.size());
  std::string_view const first = text.substr(0, line);
  std::string_view const second = text.substr(std::min(line + 1, text.size()));
  reprise::HeaderView const headers[] = {
      {.name = "Content-Security-Policy", .value = first},
      {.name = "Content-Security-Policy-Report-Only", .value = second}};
  auto const allowance = allow_script(headers, kOurs);
  check(allowance.values.size() == 2);
  check(allowance.nonce.find_first_of("\"'<>& ") == std::string::npos);
  if (!allowance.scripts_run) {
    check(allowance.changes.empty() && !allowance.values[0] && !allowance.values[1]);
    return 0;
  }
  auto const one = allowance.values[0].value_or(std::string(first));
  auto const two = allowance.values[1].value_or(std::string(second));
  check_no_wider(first, one);
  check_no_wider(second, two);
  for (auto const& field : {one, two}) {
    for (auto const policy : split_policies(field)) {
      check(Policy(policy).lets_run(kOurs, allowance.nonce));
    }
  }
  return 0;
}
