#include "inject/csp.h"

#include <gmock/gmock.h>

#include "base/text/base64.h"
#include "inject/policy.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kHash = "'sha256-b3Vycw=='";
constexpr std::string_view kSame = "=";

/// "$" stands for our hash.
struct PolicyCase {
  std::string_view policy;
  std::string_view becomes;  ///< kSame: not a byte is changed
  std::string_view nonce = "";
};

constexpr PolicyCase kPolicies[] = {
    // Nothing forbids inline scripts.
    {"", kSame},
    {";;", kSame},
    {"upgrade-insecure-requests", kSame},
    {"img-src 'none'; style-src 'self'", kSame},
    {"frame-ancestors 'none'; object-src 'none'; base-uri 'self'", kSame},
    {"script-src-attr 'none'", kSame},
    {"worker-src 'none'; child-src 'none'", kSame},
    {"script-src 'unsafe-inline'", kSame},
    {"script-src 'self' 'UNSAFE-INLINE' https:", kSame},
    {"default-src 'unsafe-inline'", kSame},
    {"default-src * 'unsafe-inline' 'unsafe-eval' data: blob:", kSame},
    {"script-src 'none'; script-src-elem 'unsafe-inline'", kSame},
    {"default-src 'none'; script-src 'unsafe-inline'", kSame},
    {"script-src 'unsafe-inline' 'nonce-'", kSame},
    {"script-src 'unsafe-inline' 'nonce-a b'", kSame},
    {"script-src 'unsafe-inline' nonce-abc", kSame},
    {"script-src 'unsafe-inline' 'sha256-'", kSame},
    {"script-src 'unsafe-inline' 'sha1-abcd'", kSame},
    {"script-src 'unsafe-inline' 'unsafe-hashes'", kSame},
    {"script-src $", kSame},
    {"script-src 'SHA256-b3Vycw=='", kSame},
    {"default-src 'none'; script-src 'self' $ https:", kSame},
    {"default-src $ 'self'", kSame},
    {"default-src $", kSame},
    {"script-src-\xC3\xA9lem 'none'", kSame},
    // A nonce is taken over.
    {"script-src 'nonce-R4nd0m'", kSame, "R4nd0m"},
    {"script-src 'self' 'NONCE-Ab+/_-=='", kSame, "Ab+/_-=="},
    {"script-src 'nonce-one' 'nonce-two'", kSame, "one"},
    {"default-src 'nonce-abc'", kSame, "abc"},
    {"script-src 'none'; script-src-elem 'nonce-abc'", kSame, "abc"},
    {"script-src 'strict-dynamic' 'nonce-abc' 'unsafe-inline' https:", kSame, "abc"},
    {"script-src 'none' 'nonce-abc'", kSame, "abc"},
    {"script-src 'nonce-abc'; script-src 'nonce-def'", kSame, "abc"},
    {"script-src 'nonce-abc'; require-trusted-types-for 'script'", kSame, "abc"},
    {"script-src 'self' 'nonce-\"><script>'", "script-src 'self' 'nonce-\"><script>' $"},
    // The hash is added where the rule is.
    {"script-src 'self'", "script-src 'self' $"},
    {"script-src 'self';", "script-src 'self' $;"},
    {"script-src  'self'\t https: ; img-src *", "script-src  'self'\t https: $ ; img-src *"},
    {"SCRIPT-SRC https:", "SCRIPT-SRC https: $"},
    {" ;script-src\thttps://a.test:8443/x?y", " ;script-src\thttps://a.test:8443/x?y $"},
    {"script-src *", "script-src * $"},
    {"script-src-elem 'self'; script-src 'unsafe-inline'",
     "script-src-elem 'self' $; script-src 'unsafe-inline'"},
    {"script-src 'unsafe-eval'; default-src 'unsafe-inline'",
     "script-src 'unsafe-eval' $; default-src 'unsafe-inline'"},
    {"script-src 'self'; script-src 'unsafe-inline'",
     "script-src 'self' $; script-src 'unsafe-inline'"},
    {"script-src 'strict-dynamic'", "script-src 'strict-dynamic' $"},
    {"script-src 'strict-dynamic' 'unsafe-inline'",
     "script-src 'strict-dynamic' 'unsafe-inline' $"},
    {"script-src 'unsafe-inline' 'sha256-b3RoZXI='",
     "script-src 'unsafe-inline' 'sha256-b3RoZXI=' $"},
    {"script-src 'sha512-b3RoZXI='", "script-src 'sha512-b3RoZXI=' $"},
    {"script-src 'report-sample' 'wasm-unsafe-eval'",
     "script-src 'report-sample' 'wasm-unsafe-eval' $"},
    {"script-src 'unsafe-hashes'", "script-src 'unsafe-hashes' $"},
    {"script-src 'self'; require-trusted-types-for 'script'; trusted-types a",
     "script-src 'self' $; require-trusted-types-for 'script'; trusted-types a"},
    // 'none' alone, or no source at all, gives way.
    {"script-src 'none'", "script-src $"},
    {"script-src 'NONE' ;x", "script-src $ ;x"},
    {"script-src", "script-src $"},
    {"script-src ; img-src *", "script-src $ ; img-src *"},
    {"script-src; img-src *", "script-src $; img-src *"},
    {"script-src-elem 'none'; script-src *", "script-src-elem $; script-src *"},
    {"script-src 'none' 'self'", "script-src 'none' 'self' $"},
    // default-src stays as it is, for all else that it governs.
    {"default-src 'self'", "default-src 'self'; script-src-elem 'self' $"},
    {"default-src 'self'; img-src *", "default-src 'self'; script-src-elem 'self' $; img-src *"},
    {"default-src 'none'", "default-src 'none'; script-src-elem $"},
    {"default-src", "default-src; script-src-elem $"},
    {"default-src ;", "default-src; script-src-elem $ ;"},
    {"default-src 'strict-dynamic' 'unsafe-inline'",
     "default-src 'strict-dynamic' 'unsafe-inline'; "
     "script-src-elem 'strict-dynamic' 'unsafe-inline' $"},
    {"img-src *; Default-Src https: data: ; object-src 'none'",
     "img-src *; Default-Src https: data:; script-src-elem https: data: $ ; object-src 'none'"},
    {"sandbox allow-scripts; default-src 'self'",
     "sandbox allow-scripts; default-src 'self'; script-src-elem 'self' $"},
    // Several policies in one field: all must agree, each is changed for itself.
    {"script-src 'self', default-src 'none'",
     "script-src 'self' $, default-src 'none'; script-src-elem $"},
    {"script-src 'nonce-abc', script-src 'self'", "script-src 'nonce-abc', script-src 'self' $",
     "abc"},
    {"script-src 'self', script-src 'nonce-abc'", "script-src 'self' $, script-src 'nonce-abc'",
     "abc"},
    {"script-src 'nonce-abc', script-src 'nonce-def'",
     "script-src 'nonce-abc', script-src 'nonce-def' $", "abc"},
    {"script-src 'nonce-abc',, default-src 'nonce-abc' ,", kSame, "abc"},
    {"img-src *, script-src 'unsafe-inline'", kSame},
};

std::string expand(std::string_view text) {
  std::string result(text);
  for (auto at = result.find('$'); at != result.npos; at = result.find('$')) {
    result.replace(at, 1, kHash);
  }
  return result;
}

TEST(Csp, EveryPolicyOfTheTableLetsTheScriptRunAndNothingElse) {
  for (const PolicyCase& one : kPolicies) {
    for (auto const* const field :
         {"Content-Security-Policy", "content-security-policy-report-only"}) {
      auto const policy = expand(one.policy);
      std::vector<HeaderView> const headers{{.name = "Server", .value = "x"},
                                            {.name = field, .value = policy}};
      auto const allowance = allow_script(headers, kHash);
      ASSERT_EQ(allowance.values.size(), 1U);
      EXPECT_TRUE(allowance.scripts_run);
      EXPECT_EQ(allowance.nonce, one.nonce) << policy;
      auto const becomes = one.becomes == kSame ? policy : expand(one.becomes);
      EXPECT_EQ(allowance.values[0].value_or(policy), becomes);
      EXPECT_EQ(allowance.values[0].has_value(), one.becomes != kSame) << policy;
      EXPECT_EQ(allowance.changes.empty(), one.becomes == kSame) << policy;
      for (const PolicyChange& change : allowance.changes) {
        EXPECT_EQ(change.report_only, field[0] == 'c');
        EXPECT_TRUE(becomes.contains(change.added)) << policy;
      }
      // What comes out lets the script run, and needs no second change.
      std::vector<HeaderView> const again{{.name = field, .value = becomes}};
      EXPECT_TRUE(allow_script(again, kHash).changes.empty()) << becomes;
    }
  }
}

// A script with another hash and no nonce, and a script whose nonce is another one, are where they
// were before.
TEST(Csp, EveryPolicyOfTheTableForbidsWhatItForbade) {
  constexpr std::string_view kOther = "'sha256-Zm9yYmlkZGVu'";
  for (const PolicyCase& one : kPolicies) {
    auto const before = expand(one.policy);
    auto const after = one.becomes == kSame ? before : expand(one.becomes);
    auto const old_policies = split_policies(before), new_policies = split_policies(after);
    ASSERT_EQ(old_policies.size(), new_policies.size());
    for (std::size_t i = 0; i < old_policies.size(); ++i) {
      Policy const was(old_policies[i]), is(new_policies[i]);
      EXPECT_EQ(was.lets_run(kOther, ""), is.lets_run(kOther, "")) << after;
      EXPECT_EQ(was.lets_run(kOther, "guess"), is.lets_run(kOther, "guess")) << after;
      // What other kinds of content fall back to.
      for (auto const* const name : {"default-src", "script-src-attr", "style-src", "worker-src"}) {
        auto const* const old_one = was.find(name);
        auto const* const new_one = is.find(name);
        ASSERT_EQ(old_one == nullptr, new_one == nullptr) << after;
        if (old_one != nullptr) {
          EXPECT_EQ(old_one->sources, new_one->sources) << after;
        }
      }
    }
  }
}

TEST(Csp, ASandboxWithoutScriptsLeavesNothingToDo) {
  for (auto const* const policy : {"sandbox", "sandbox allow-forms; script-src 'none'",
                                   "script-src 'self', sandbox allow-same-origin"}) {
    Headers const headers{{.name = "Content-Security-Policy", .value = policy}};
    auto const allowance = allow_script(headers.list(), kHash);
    EXPECT_FALSE(allowance.scripts_run) << policy;
    EXPECT_TRUE(allowance.changes.empty());
    // A report-only sandbox is not one.
    Headers const reporting{{.name = "Content-Security-Policy-Report-Only", .value = policy}};
    EXPECT_TRUE(allow_script(reporting.list(), kHash).scripts_run);
  }
  Headers const scripts{{.name = "Content-Security-Policy", .value = "SANDBOX Allow-Scripts"}};
  EXPECT_TRUE(allow_script(scripts.list(), kHash).scripts_run);
}

TEST(Csp, SeveralFieldsAreChangedEachForItself) {
  Headers const headers{
      {.name = "content-security-policy", .value = "script-src 'self'"},
      {.name = "X-Content-Security-Policy", .value = "script-src 'none'"},
      {.name = "Content-Security-Policy-Report-Only", .value = "default-src 'nonce-abc'"},
      {.name = "CONTENT-SECURITY-POLICY", .value = "require-trusted-types-for 'script'"},
  };
  auto const allowance = allow_script(headers.list(), kHash);
  EXPECT_EQ(allowance.nonce, "abc");
  ASSERT_EQ(allowance.values.size(), 3U);
  EXPECT_EQ(allowance.values[0], expand("script-src 'self' $"));
  EXPECT_EQ(allowance.values[1], std::nullopt);
  EXPECT_EQ(allowance.values[2], std::nullopt);
  ASSERT_EQ(allowance.changes.size(), 1U);
  EXPECT_EQ(allowance.changes[0].directive, "script-src");
  EXPECT_TRUE(allowance.requires_trusted_types);
}

TEST(Csp, SaysWhereNoneGaveWay) {
  Headers const headers{{.name = "Content-Security-Policy", .value = "script-src 'none'"}};
  auto const allowance = allow_script(headers.list(), kHash);
  ASSERT_EQ(allowance.changes.size(), 1U);
  EXPECT_TRUE(allowance.changes[0].replaced_none);
}

TEST(Csp, HashesAsTheSpecificationsExample) {
  // CSP Level 3, section 8.4: the script is alert('Hello, world.');
  EXPECT_EQ(hash_source_of("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
}

TEST(Base64, EncodesTheVectorsOfTheRfc) {
  auto const of = [](std::string_view text) { return base64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foob"), "Zm9vYg==");
  EXPECT_EQ(of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace reprise::inject
