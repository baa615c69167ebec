#include "tools/record/page_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/http/url_parts.h"

namespace reprise {
namespace {

struct Mark {
  std::string_view text;  ///< as in a serialised document, or in a URL
  std::string_view maker;
};

/// Titles of pages that check for a human.
constexpr std::array<std::string_view, 14> kBotTitles{
    "Just a moment...",        "Attention Required! | Cloudflare",
    "Access Denied",           "Access to this page has been denied",
    "Pardon Our Interruption", "Are you a robot",
    "Are you a human",         "Robot Check",
    "Bot Verification",        "Human Verification",
    "Verify you are human",    "Verifying you are human",
    "Checking your browser",   "DDoS-Guard"};

/// Parts of URLs that only challenges use.
constexpr std::array kBotUrls{
    Mark{"captcha-delivery.com/", "DataDome"},
    Mark{"/_Incapsula_Resource", "Imperva"},
    Mark{"captcha.px-cdn.net/", "HUMAN"},
    Mark{"/sorry/index", "Google"},
    Mark{"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page", "Cloudflare"},
    Mark{"/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page", "Cloudflare"},
    Mark{".token.awswaf.com/", "AWS WAF"},
};

/// Elements of consent managers.
constexpr std::array kConsentMarks{
    Mark{"id=\"onetrust-banner-sdk\"", "OneTrust"},
    Mark{"id=\"CybotCookiebotDialog\"", "Cookiebot"},
    Mark{"id=\"didomi-host\"", "Didomi"},
    Mark{"id=\"sp_message_container", "Sourcepoint"},
    Mark{"qc-cmp2-container", "Quantcast"},
    Mark{"id=\"truste-consent-track\"", "TrustArc"},
    Mark{"id=\"usercentrics-root\"", "Usercentrics"},
    Mark{"id=\"usercentrics-cmp-ui\"", "Usercentrics"},
    Mark{"class=\"fc-consent-root\"", "Google Funding Choices"},
    Mark{"id=\"cmpwrapper\"", "consentmanager"},
    Mark{"id=\"iubenda-cs-banner\"", "iubenda"},
    Mark{"id=\"axeptio_overlay\"", "Axeptio"},
    Mark{"id=\"tarteaucitronRoot\"", "tarteaucitron"},
    Mark{"id=\"cookiescript_injected", "CookieScript"},
    Mark{"class=\"osano-cm-window\"", "Osano"},
    Mark{"id=\"BorlabsCookieBox\"", "Borlabs"},
    Mark{"id=\"cc--main\"", "CookieConsent"},
    Mark{"id=\"cc-main\"", "CookieConsent"},
};

/// The pages to which sites redirect users without a choice of consent.
constexpr std::array kConsentUrls{
    Mark{"://consent.google.", "Google"}, Mark{"://consent.youtube.", "YouTube"},
    Mark{"://consent.yahoo.", "Yahoo"},   Mark{"://guce.", "Yahoo"},
    Mark{"://consent.", "the site"},
};

constexpr int kFirstError = 400;
constexpr int kTooManyRequests = 429;

int status_of(const PageLoad& load) {
  auto const* const document = document_of(load);
  return document == nullptr ? 0 : document->status;
}

std::string_view dom_of(const PageLoad& load) {
  return load.dom ? std::string_view(*load.dom) : std::string_view();
}

std::string_view title_of(std::string_view dom) {
  auto start = dom.find("<title");
  start = start == std::string_view::npos ? start : dom.find('>', start);
  if (start == std::string_view::npos) return {};
  return dom.substr(start + 1, dom.find("</title", start) - start - 1);
}

template <std::size_t kCount>
const Mark* find_mark(const std::array<Mark, kCount>& marks, std::string_view text) {
  auto const found =
      std::ranges::find_if(marks, [text](const Mark& mark) { return text.contains(mark.text); });
  return found == marks.end() ? nullptr : &*found;
}

std::optional<PageProblem> bot_wall(const PageLoad& load) {
  auto const problem = [](std::string text) {
    return PageProblem{.kind = "bot-wall", .text = std::move(text)};
  };
  auto const title = title_of(dom_of(load));
  for (auto const each : kBotTitles) {
    if (title.contains(each)) {
      return problem("The page title contains \"" + std::string(each) +
                     "\", as titles of bot checks do");
    }
  }
  if (auto const* const mark = find_mark(kBotUrls, load.final_url)) {
    return problem("The page ended on a bot challenge by " + std::string(mark->maker));
  }
  for (const PageRequest& request : load.requests) {
    if (auto const* const mark = find_mark(kBotUrls, request.url)) {
      return problem("The page requested a bot challenge by " + std::string(mark->maker) + ": " +
                     request.url.substr(0, 200));
    }
  }
  if (status_of(load) == kTooManyRequests) {
    return problem("The document's status is 429: too many requests");
  }
  return std::nullopt;
}

std::optional<PageProblem> consent_wall(const PageLoad& load) {
  auto const problem = [](std::string text) {
    return PageProblem{.kind = "consent-wall", .text = std::move(text)};
  };
  const std::string& final_url = load.final_url;
  if (final_url.starts_with("http") && !load.url.contains("://consent.")) {
    if (auto const* const mark = find_mark(kConsentUrls, final_url)) {
      return problem("The page led to a consent page by " + std::string(mark->maker) + ": " +
                     final_url.substr(0, 200));
    }
  }
  if (auto const* const mark = find_mark(kConsentMarks, dom_of(load))) {
    return problem("A banner by " + std::string(mark->maker) + " asks for consent");
  }
  return std::nullopt;
}

}  // namespace

const PageRequest* document_of(const PageLoad& load) {
  auto const page = without_fragment(load.final_url);
  const PageRequest* document = nullptr;
  for (const PageRequest& request : load.requests) {
    if (request.resource_type != "Document") continue;
    bool const redirects = request.status >= 300 && request.status < 400 && request.status != 304;
    if (redirects) continue;
    // Documents of frames come later; a document that scripts navigated to has the page's URL.
    if (document == nullptr || request.url == page) document = &request;
  }
  return document;
}

std::vector<PageProblem> check_page(const PageLoad& load) {
  std::vector<PageProblem> problems;
  if (load.outcome != LoadOutcome::kLoaded) {
    std::string text = load.failure;
    if (text.ends_with('.')) text.pop_back();
    problems.push_back({.kind = "not-loaded", .text = std::move(text)});
  }
  if (auto const status = status_of(load); status >= kFirstError) {
    problems.push_back(
        {.kind = "error-page", .text = "The document's status is " + std::to_string(status)});
  }
  if (auto wall = bot_wall(load)) problems.push_back(std::move(*wall));
  if (auto wall = consent_wall(load)) problems.push_back(std::move(*wall));
  return problems;
}

}  // namespace reprise
