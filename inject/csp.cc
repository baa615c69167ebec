#include "inject/csp.h"

#include <algorithm>
#include <ranges>

#include "base/http/digest.h"
#include "base/text/base64.h"
#include "inject/policy.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kEnforcing = "content-security-policy";
constexpr std::string_view kReportOnly = "content-security-policy-report-only";

/// One policy, its place, and its rule for inline scripts.
struct Found {
  std::size_t field;  // among the policy fields
  bool report_only;
  Policy policy;
};

// Adds the hashes to the policy in `edited`.
PolicyChange add_hashes(const Found& found, std::string_view hashes, std::string& edited) {
  const Policy& policy = found.policy;
  auto const& governing = *policy.governing_script_elements();
  auto const text = policy.text();
  PolicyChange change{
      .report_only = found.report_only, .directive = governing.name, .added = std::string(hashes)};
  auto const value_start = static_cast<std::size_t>(governing.value.data() - text.data());
  auto const value_end = value_start + governing.value.size();
  bool const none = governing.sources_are_none();
  auto const sources =
      none ? std::string(hashes) : std::string(governing.value) + ' ' + std::string(hashes);
  if (governing.name == "default-src") {
    change.directive = "script-src-elem";
    change.added = "; script-src-elem " + sources;
    // After default-src, before the next directive.
    edited =
        std::string(text.substr(0, value_end)) + change.added + std::string(text.substr(value_end));
    return change;
  }
  change.replaced_none = none;
  auto const gap = value_start > 0 && text[value_start - 1] != ' ' && text[value_start - 1] != '\t'
                       ? std::string_view(" ")
                       : std::string_view();
  edited = std::string(text.substr(0, value_start)) + std::string(gap) + sources +
           std::string(text.substr(value_end));
  return change;
}

}  // namespace

bool is_policy_field(std::string_view name) {
  return equals_ignoring_case(name, kEnforcing) || equals_ignoring_case(name, kReportOnly);
}

std::string hash_source_of(std::string_view script) {
  return "'sha256-" + base64(sha256(std::as_bytes(std::span(script)))) + '\'';
}

ScriptAllowance allow_script(HeaderList headers, std::string_view hash_sources, NonceUse use) {
  ScriptAllowance result;
  std::vector<std::string_view> fields;
  std::vector<Found> policies;
  for (const HeaderView& header : headers) {
    if (!is_policy_field(header.name)) continue;
    bool const report_only = equals_ignoring_case(header.name, kReportOnly);
    for (auto const text : split_policies(header.value)) {
      policies.push_back({fields.size(), report_only, Policy(text)});
    }
    fields.push_back(header.value);
  }
  result.values.resize(fields.size());
  for (const Found& found : policies) {
    if (!found.report_only && found.policy.sandboxes_scripts()) result.scripts_run = false;
    if (found.policy.find("require-trusted-types-for")) result.requires_trusted_types = true;
  }
  if (!result.scripts_run) return result;
  for (const Found& found : policies) {
    if (use == NonceUse::kWithoutNonce) break;
    auto const governing = found.policy.governing_script_elements();
    if (result.nonce.empty() && governing) result.nonce = governing->nonce();
  }
  // From the last policy of a field to the first, so edits do not move those still to come.
  for (const Found& found : std::views::reverse(policies)) {
    if (found.policy.lets_run(hash_sources, result.nonce)) continue;
    std::string edited;
    result.changes.push_back(add_hashes(found, hash_sources, edited));
    auto& value = result.values[found.field];
    auto const field = fields[found.field];
    if (!value) value = std::string(field);
    auto const start = static_cast<std::size_t>(found.policy.text().data() - field.data());
    value->replace(start, found.policy.text().size(), edited);
  }
  std::ranges::reverse(result.changes);
  return result;
}

}  // namespace reprise::inject
