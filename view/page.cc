#include "view/page.h"

#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/http/digest.h"
#include "base/text/base64.h"
#include "view/page_parts.h"

namespace reprise {
namespace {

/// The source of an inline script or style in a Content-Security-Policy (CSP3 section 2.3.1).
std::string policy_hash(std::string_view text) {
  auto const digest = sha256(std::as_bytes(std::span(text)));
  return "'sha256-" + base64(digest) + "'";
}

/// `text` up to `mark`; both are removed from it.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  auto const at = text.find(mark);
  if (at == std::string_view::npos) {
    std::fprintf(stderr, "reprise: the page has no place for %s\n", std::string(mark).c_str());
    std::abort();
  }
  auto const before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

}  // namespace

std::string page_of(const PageParts& parts, std::string_view model) {
  std::string page;
  page.reserve(kPageMarkup.size() + parts.style.size() + parts.script.size() + model.size() + 512);
  auto markup = kPageMarkup;
  page += take_until(markup, "POLICY");
  page += "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src ";
  page += policy_hash(parts.script) + "; style-src " + policy_hash(parts.style);
  page += take_until(markup, "TITLE");
  page += parts.title;
  page += take_until(markup, "STYLE");
  page += parts.style;
  page += take_until(markup, "MODEL");
  page += model;
  page += take_until(markup, "SCRIPT");
  page += parts.script;
  page += markup;
  return page;
}

std::string view_page(std::string_view model) {
  return page_of(kViewParts, model);
}

}  // namespace reprise
