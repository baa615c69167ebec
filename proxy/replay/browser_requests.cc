#include "proxy/replay/browser_requests.h"

#include <algorithm>
#include <array>

#include "archive/match/browser_paths.h"

namespace reprise {
namespace {

/// `host`: a name, or with a dot before it, that name and all subdomains. `path`: the start of the
/// path.
struct Service {
  std::string_view host;
  std::string_view path;
  std::string_view what;
  std::uint16_t status = 404;
  std::string_view body = {};
};

constexpr std::string_view kCheck = "connectivity check";
constexpr std::string_view kUpdate = "update";
constexpr std::string_view kSafety = "safe browsing";
constexpr std::string_view kServices = "service of the browser";

constexpr auto kHosts = std::to_array<Service>({
    // Chromium and its derivatives.
    {"connectivitycheck.gstatic.com", "/", kCheck, 204},
    {"clients3.google.com", "/generate_204", kCheck, 204},
    {"clients1.google.com", "/generate_204", kCheck, 204},
    {"www.gstatic.com", "/generate_204", kCheck, 204},
    {"www.google.com", "/generate_204", kCheck, 204},
    {"safebrowsing.googleapis.com", "/", kSafety},
    {"safebrowsing.google.com", "/", kSafety},
    {"safebrowsingohttpgateway.googleapis.com", "/", kSafety},
    {"sb-ssl.google.com", "/", kSafety},
    {"passwordsleakcheck-pa.googleapis.com", "/", kSafety},
    {"update.googleapis.com", "/", kUpdate},
    {"clients2.google.com", "/service/update2", kUpdate},
    {"clients2.google.com", "/time/", kServices},
    {"clients2.google.com", "/domainreliability/", kServices},
    {"clients2.googleusercontent.com", "/crx/", kUpdate},
    {"redirector.gvt1.com", "/edgedl/", kUpdate},
    {"edgedl.me.gvt1.com", "/", kUpdate},
    {"dl.google.com", "/release2/", kUpdate},
    {"dl.google.com", "/widevine-cdm/", kUpdate},
    {"clientservices.googleapis.com", "/", kServices},
    {"optimizationguide-pa.googleapis.com", "/", kServices},
    {"content-autofill.googleapis.com", "/", kServices},
    {"chromewebstore.googleapis.com", "/", kServices},
    {"chromesyncpasswords-pa.googleapis.com", "/", kServices},
    {"chromekanonymity-pa.googleapis.com", "/", kServices},
    {"chromekanonymityquery-pa.googleapis.com", "/", kServices},
    {"affiliation-pa.googleapis.com", "/", kServices},
    {"privacysandbox-update.googleapis.com", "/", kServices},
    {"clients4.google.com", "/chrome-sync", kServices},
    {"clients4.google.com", "/ukm", kServices},
    {"clients4.google.com", "/uma/", kServices},
    {"accounts.google.com", "/ListAccounts", kServices},
    {"android.clients.google.com", "/c2dm/", kServices},
    {"android.clients.google.com", "/checkin", kServices},
    {"mtalk.google.com", "/", kServices},
    {"www.google.com", "/async/folae", kServices},
    {"www.google.com", "/async/newtab", kServices},
    {"www.google.com", "/async/ddljson", kServices},
    {"www.google.com", "/dl/release2/", kUpdate},
    {"www.googleapis.com", "/chromewebstore/", kServices},
    {"msedge.api.cdp.microsoft.com", "/", kUpdate},
    {"edge.microsoft.com", "/", kServices},
    {"config.edge.skype.com", "/", kServices},
    {"nav-edge.smartscreen.microsoft.com", "/", kSafety},
    {"smartscreen-prod.microsoft.com", "/", kSafety},
    // Firefox.
    {"detectportal.firefox.com", "/success.txt", kCheck, 200, "success\n"},
    {"detectportal.firefox.com", "/canonical.html", kCheck, 200,
     "<meta http-equiv=\"refresh\" "
     "content=\"0;url=https://support.mozilla.org/kb/captive-portal\"/>"},
    {".services.mozilla.com", "/", kServices},
    {".cdn.mozilla.net", "/", kServices},
    {".telemetry.mozilla.org", "/", kServices},
    {"aus5.mozilla.org", "/", kUpdate},
    {"archive.mozilla.org", "/pub/", kUpdate},
    {"download.mozilla.org", "/", kUpdate},
    {"download.cdn.mozilla.net", "/", kUpdate},
    {"ciscobinary.openh264.org", "/", kUpdate},
    {"ads.mozilla.org", "/", kServices},
    {"mozilla-ohttp.fastly-edge.com", "/", kServices},
    {"spocs.getpocket.com", "/", kServices},
    // Operating systems.
    {"captive.apple.com", "/", kCheck, 200,
     "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>"},
    {"www.msftconnecttest.com", "/connecttest.txt", kCheck, 200, "Microsoft Connect Test"},
    {"www.msftncsi.com", "/ncsi.txt", kCheck, 200, "Microsoft NCSI"},
    {"nmcheck.gnome.org", "/check_network_status.txt", kCheck, 200, "NetworkManager is online\n"},
    {"network-test.debian.org", "/nm", kCheck, 200, "NetworkManager is online\n"},
    {"connectivity-check.ubuntu.com", "/", kCheck, 204},
});

bool is_host(std::string_view host, std::string_view named) {
  if (!named.starts_with('.')) return host == named;
  return host == named.substr(1) || host.ends_with(named);
}

/// Whether the request shows that a page made it.
bool names_page(HeaderList headers) {
  auto const site = find_header(headers, "Sec-Fetch-Site");
  if (site && *site != "none") return true;
  if (find_header(headers, "Referer")) return true;
  auto const origin = find_header(headers, "Origin");
  return origin && origin->starts_with("http");
}

/// A user or a script navigates there, not the browser itself.
bool is_navigation(HeaderList headers) {
  return find_header(headers, "Sec-Fetch-Mode").value_or("") == "navigate";
}

/// Chromium tests whether the resolver makes up names: HEAD of three names of 7 to 15 letters.
bool is_name_probe(const MatchKey& key) {
  return key.method == "HEAD" && key.target == "/" && key.host.size() >= 7 &&
         key.host.size() <= 15 &&
         std::ranges::all_of(key.host, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// RFC 6960, appendix A.
bool asks_for_revocation(const AskedRequest& asked) {
  auto const is = [&asked](std::string_view name, std::string_view value) {
    return equals_ignoring_case(find_header(asked.headers, name).value_or(""), value);
  };
  if (is("Content-Type", "application/ocsp-request")) return true;
  return asked.key.scheme == Scheme::kHttp &&
         (asked.key.host.starts_with("ocsp.") || is("Accept", "application/ocsp-response") ||
          asked.key.target.ends_with(".crl"));
}

MadeUp answered(const Service& service) {
  return {.special = Special::kBrowser,
          .status = service.status,
          .headers = service.body.empty()
                         ? Headers()
                         : Headers({{.name = "Content-Type", .value = "text/plain"}}),
          .body = service.body,
          .why = std::string(service.what)};
}

}  // namespace

std::optional<MadeUp> answer_browser(const AskedRequest& asked) {
  auto const& key = asked.key;
  auto const path = key.target.substr(0, key.target.find('?'));
  if (!is_navigation(asked.headers)) {
    // Even with a page's name.
    auto const common = std::ranges::find(kBrowserPaths, path, &BrowserPath::path);
    if (common != kBrowserPaths.end() && (key.method == "GET" || key.method == "HEAD")) {
      return answered({"", "", common->what});
    }
  }
  if (names_page(asked.headers) || is_navigation(asked.headers)) return std::nullopt;
  auto const is_asked = [&](const Service& service) {
    return is_host(key.host, service.host) && path.starts_with(service.path);
  };
  auto const service = std::ranges::find_if(kHosts, is_asked);
  if (service != kHosts.end()) return answered(*service);
  if (is_name_probe(key)) return answered({"", "", "check of the resolver"});
  if (asks_for_revocation(asked)) return answered({"", "", "revocation check"});
  return std::nullopt;
}

}  // namespace reprise
