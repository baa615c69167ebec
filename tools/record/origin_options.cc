#include "tools/record/origin_options.h"

#include <cstdio>
#include <cstdlib>

#include "dns/host.h"
#include "proxy/tls/client_context.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::string_view kHidden = "***";

std::nullopt_t wrong_option(const std::string& what) {
  std::fprintf(stderr, "reprise: %s\n", what.c_str());
  return std::nullopt;
}

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// "http://***@proxy.corp:3128".
std::string without_password(const std::string& proxy) {
  auto const at = proxy.rfind('@');
  if (at == std::string::npos) return proxy;
  auto const scheme = proxy.find("://");
  return (scheme == std::string::npos ? "" : proxy.substr(0, scheme + 3)) + std::string(kHidden) +
         proxy.substr(at);
}

std::string without_value(const std::string& header) {
  auto const field = AddedField::parse(header);
  if (!field) return std::string(kHidden);
  return (field->host == "*" ? "" : field->host + "=") + field->name + ": " + std::string(kHidden);
}

}  // namespace

void OriginOptions::add_to(CLI::App& command) {
  auto const many = [&command](const char* name, std::vector<std::string>& values,
                               const char* what) {
    return command.add_option(name, values, what)->allow_extra_args(false);
  };
  many("--connect-to", connect_to,
       "Connect to ADDR:PORT for HOST:PORT: HOST:PORT:ADDR:PORT, as in curl");
  many("--dns-server", dns_servers,
       "Ask this DNS server, ADDR[:PORT], instead of the system's; may be given more than once");
  command.add_option("--origin-ca", origin_ca,
                     "Trust the certificates in this PEM file for origins, too");
  command.add_flag("--insecure-origin", insecure_origin,
                   "Do not verify the certificates of origins");
  command.add_flag("--allow-private", allow_private,
                   "Let pages from the Internet reach private and loopback addresses");
  command
      .add_option("--upstream-proxy", upstream_proxy,
                  "Reach origins through this proxy: "
                  "[http://|socks5://][USER:PASSWORD@]HOST[:PORT]; none: directly [https_proxy, "
                  "http_proxy and all_proxy]; NO_PROXY lists exceptions")
      ->type_name("URL|none");
  many("--client-cert", client_certificates,
       "Identify to HOST (* matches any text) with the certificate and the key in this PEM file")
      ->type_name("HOST=FILE");
  many("--header", headers,
       "Send this field to HOST (* matches any text) [all hosts], instead of the client's; it is "
       "not archived")
      ->type_name("[HOST=]NAME: VALUE");
  many("--block", blocked,
       "Do not send requests that this filter selects, such as 'host=.ads.example'; the archive "
       "keeps them as failed")
      ->type_name("FILTER");
}

std::optional<NetworkDialer::Options> OriginOptions::dialing() const {
  NetworkDialer::Options dialing;
  for (const std::string& text : connect_to) {
    auto const rule = parse_connect_to(text);
    if (!rule) return wrong_option("--connect-to must be HOST:PORT:ADDR:PORT, not '" + text + "'");
    dialing.connect_to.push_back(*rule);
  }
  for (const std::string& text : dns_servers) {
    auto const server = dns::parse_endpoint(text, kDnsPort);
    if (!server) {
      return wrong_option(
          "--dns-server must be ADDR or ADDR:PORT (192.0.2.53, [2001:db8::53]:53), not '" + text +
          "'");
    }
    dialing.names.servers.push_back(*server);
  }
  auto upstream = UpstreamProxies::make(upstream_proxy, environment_variable);
  if (!upstream) return wrong_option(upstream.error());
  dialing.upstream = std::move(*upstream);
  for (const std::string& text : client_certificates) {
    auto certificate = ClientCertificate::read(text);
    if (!certificate) return wrong_option(certificate.error());
    dialing.certificates.push_back(std::move(*certificate));
  }
  auto tls = make_client_context({.extra_ca = origin_ca, .verify = !insecure_origin});
  if (!tls) {
    auto const file = origin_ca.empty() ? std::string("the system's certificates")
                                        : "--origin-ca " + origin_ca.string();
    return wrong_option(file + " cannot be read: " + tls.error().message());
  }
  dialing.tls = std::move(*tls);
  dialing.rebinding = allow_private;
  return dialing;
}

std::optional<RequestRules> OriginOptions::rules() const {
  RequestRules rules;
  for (const std::string& text : headers) {
    auto field = AddedField::parse(text);
    if (!field) return wrong_option(field.error());
    rules.fields.push_back(std::move(*field));
  }
  for (const std::string& text : blocked) {
    auto filter = Filter::parse(text, request_vocabulary());
    if (!filter) return wrong_option("--block: " + caret_text(text, filter.error()));
    rules.blocked.push_back({.text = text, .filter = std::move(*filter)});
  }
  return rules;
}

std::vector<std::string> without_secrets(std::vector<std::string> command_line) {
  struct Secret {
    std::string_view option;
    std::string (*shown)(const std::string&);
  };
  static constexpr Secret kSecrets[] = {{"--upstream-proxy", without_password},
                                        {"--header", without_value}};
  for (std::size_t i = 0; i < command_line.size() && command_line[i] != "--"; ++i) {
    for (auto const& [option, shown] : kSecrets) {
      std::string& word = command_line[i];
      if (word == option && i + 1 < command_line.size()) {
        command_line[i + 1] = shown(command_line[i + 1]);
      } else if (word.starts_with(std::string(option) + "=")) {
        word = word.substr(0, option.size() + 1) + shown(word.substr(option.size() + 1));
      }
    }
  }
  return command_line;
}

}  // namespace reprise
