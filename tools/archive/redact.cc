#include "archive/edit/redact.h"

#include <sys/random.h>

#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/text/counted.h"
#include "base/text/glob.h"
#include "base/text/printable.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/coding.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

struct RedactArguments {
  std::filesystem::path archive;
  std::filesystem::path output;
  RedactOptions options;
  bool json = false;
};

BodyCoder body_coder() {
  return {
      .decode = [](HeaderList headers, std::span<const std::byte> coded) -> Result<std::string> {
        auto const plain = decode_body(headers, coded);
        if (!plain) return fail(plain.error());
        return std::string(reinterpret_cast<const char*>(plain->bytes.data()), plain->bytes.size());
      },
      .encode = [](HeaderList headers, std::string_view plain,
                   std::span<const std::byte> before) -> std::vector<std::byte> {
        // Decoding finds the real coding.
        auto const was = decode_body(headers, before);
        auto const codings = was ? was->codings : std::vector<coding::Coding>();
        return encode_body(codings, std::as_bytes(std::span(plain)), before);
      }};
}

/// The options that matched no field or parameter with a value.
std::vector<std::string> unmatched_options(const RedactReport& report) {
  std::vector<std::string> options;
  for (auto const& name : report.unmatched_headers) options.push_back("--header " + name);
  for (auto const& name : report.unmatched_parameters) options.push_back("--param " + name);
  return options;
}

void print_json(const RedactReport& report) {
  boost::json::object names;
  for (auto const& [name, count] : report.counts) {
    names[as_utf8(name)] = boost::json::object{
        {"values", count.values}, {"places", count.places}, {"elsewhere", count.elsewhere}};
  }
  boost::json::array unmatched;
  for (auto const& option : unmatched_options(report)) unmatched.emplace_back(as_utf8(option));
  boost::json::object const out = {{"redacted", std::move(names)},
                                   {"unmatched", std::move(unmatched)},
                                   {"exchanges_changed", report.exchanges_changed},
                                   {"bodies_changed", report.bodies_changed},
                                   {"messages_changed", report.messages_changed},
                                   {"bodies_undecoded", report.bodies_undecoded},
                                   {"bodies_too_large", report.bodies_too_large}};
  std::printf("%s\n", boost::json::serialize(out).c_str());
}

void print_text(const RedactArguments& arguments, const RedactReport& report) {
  if (!report.counts.empty()) {
    std::printf("%s    values    places  elsewhere\n", align_left("redacted", 44).c_str());
  }
  for (auto const& [name, count] : report.counts) {
    std::printf("%s%10zu%10llu%11llu\n", align_left(printable(name), 44).c_str(), count.values,
                static_cast<unsigned long long>(count.places),
                static_cast<unsigned long long>(count.elsewhere));
  }
  std::fprintf(stderr, "redacted %s: changed %s, %s and %s\n", arguments.output.c_str(),
               counted(report.exchanges_changed, "exchange").c_str(),
               counted(report.bodies_changed, "body", "bodies").c_str(),
               counted(report.messages_changed, "message").c_str());
  for (auto const& option : unmatched_options(report)) {
    std::fprintf(stderr, "reprise: %s matched nothing that has a value\n",
                 printable(option).c_str());
  }
  if (report.bodies_undecoded > 0) {
    std::fprintf(stderr, "reprise: searched %s in encoded form, because decoding failed\n",
                 counted(report.bodies_undecoded, "body", "bodies").c_str());
  }
  if (report.bodies_too_large > 0) {
    std::fprintf(stderr, "reprise: did not search %s larger than %llu MiB\n",
                 counted(report.bodies_too_large, "body", "bodies").c_str(),
                 static_cast<unsigned long long>(kSearchedBodyBytesMax >> 20));
  }
  if (!arguments.options.bodies) {
    std::fprintf(stderr, "bodies were not searched for the secrets; use --bodies to search them\n");
  }
}

int redact(RedactArguments& arguments) {
  Secrets::Key key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    std::perror("reprise: cannot create a random key");
    return kExitFailed;
  }
  auto const from = open_with_remarks(arguments.archive);
  if (!from) return kExitArchive;
  auto to = NewArchive::make(arguments.output);
  if (!to) return kExitArchive;
  for (auto& name : arguments.options.headers) name = lower_case(name);
  arguments.options.url_credentials = arguments.options.authorization;
  auto const report =
      redact_archive(*from->reader, arguments.options, body_coder(), key, to->writer());
  if (!report) {
    auto const is_source =
        report.error() == archive_errc::corrupt || from->reader->report().facts_ignored;
    return say_unusable(is_source ? from->path : to->path(), report.error());
  }
  if (auto const exit_code = to->finish(); exit_code != kExitDone) return exit_code;
  if (arguments.json) {
    print_json(*report);
  } else {
    print_text(arguments, *report);
  }
  return kExitDone;
}

}  // namespace

void add_redact_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<RedactArguments>();
  auto& options = arguments->options;
  auto* const command =
      add_command(archive, "redact", "Copy an archive and replace its secrets by stand-ins");
  command->add_option("ARCHIVE", arguments->archive, "Archive to read")->required();
  command->add_option("-o", arguments->output, "Archive to write; it must not exist")->required();
  command
      ->add_option("--header", options.headers,
                   "Replace values of header fields of this NAME (* matches any text); may be "
                   "given more than once")
      ->allow_extra_args(false);
  command
      ->add_option("--param", options.parameters,
                   "Replace values of query and form parameters of this NAME (* matches any text); "
                   "may be given more than once")
      ->allow_extra_args(false);
  command->add_flag("--cookies,!--no-cookies", options.cookies,
                    "Replace values of Cookie and Set-Cookie [on]");
  command->add_flag(
      "--authorization,!--no-authorization", options.authorization,
      "Replace values of Authorization and Proxy-Authorization, and user:password@ in "
      "URLs [on]");
  command->add_flag("--bodies", options.bodies, "Search bodies for the secrets, too");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      "Equal values get equal stand-ins, of equal length, with letters for letters and digits for "
      "digits. The\nstand-ins come from a random key that is then discarded. Of the "
      "recorded command line only the program's\nname is kept. Prints the number of changes for "
      "each name, and each NAME that matched nothing.");
  command->callback([arguments, &exit_code] { exit_code = redact(*arguments); });
}

}  // namespace reprise
