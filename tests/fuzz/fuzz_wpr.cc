// Web Page Replay's rules files, scripts and parameters to ignore. The first byte chooses.

#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "inject/rewrite.h"
#include "tools/wpr/input/ignored_param.h"
#include "tools/wpr/input/rules.h"
#include "tools/wpr/input/script_text.h"

using namespace reprise;

namespace {

void read_rules(std::string_view text) {
  auto const rules = wpr::parse_rules(text, "/rules");
  if (!rules) return;
  for (const wpr::Rule& rule : *rules) {
    for (std::string_view const url : {"http://a.test/", "https://b.test/x?y=z"}) rule.selects(url);
  }
}

void fit_script(std::string_view text) {
  auto const script = wpr::fit_for_documents(std::string(text));
  invariant(inject::InjectedScript::create({.document = {script}, .worker = {}}).has_value(),
            "what is fit can be injected");
}

void strip(std::string_view text) {
  auto const line = text.find('\n');
  if (line == std::string_view::npos) return;
  auto const param = wpr::IgnoredParam::parse(text.substr(0, line));
  if (!param) return;
  RequestHead const head{
      .method = "GET", .host = "a.test", .port = 80, .target = text.substr(line + 1)};
  auto const stripped = param->stripped(head);
  if (!stripped) return;
  invariant(stripped->size() < head.target.size(), "a parameter was taken out");
  auto again = head;
  again.target = *stripped;
  invariant(!param->stripped(again), "all of them were taken out");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view const text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'r') read_rules(text);
  if (data[0] == 's') fit_script(text);
  if (data[0] == 'p') strip(text);
  return 0;
}
