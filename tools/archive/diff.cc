#include "archive/edit/diff.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <iterator>
#include <memory>

#include "archive/edit/message_changes.h"
#include "archive/match/steady_request.h"
#include "base/text/counted.h"
#include "base/text/glob.h"
#include "base/text/printable.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/coding.h"
#include "tools/archive/open.h"
#include "tools/archive/text.h"
#include "tools/archive/views.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// Fields that differ between recordings of an unchanged page.
constexpr const char* kTimeFields[] = {"date", "age"};

struct DiffArguments {
  std::filesystem::path a;
  std::filesystem::path b;
  std::string filter;
  DiffOptions options;
  bool all_headers = false;
  bool brief = false;
  bool json = false;
};

/// The difference of two bodies with unequal digests, after decoding.
struct BodyDifference {
  bool decoded = false;  ///< false: one of them cannot be decoded, or is too large to try
  bool same = false;
  std::size_t first_byte = 0;  ///< offset of the first difference, from 0
  std::size_t a_bytes = 0;
  std::size_t b_bytes = 0;
};

class Printer {
 public:
  Printer(const OpenArchive& a, const OpenArchive& b, const DiffArguments& arguments)
      : a_(a), b_(b), arguments_(arguments) {}

  void report(const DiffSide& a, const DiffSide& b, const std::vector<Difference>& differences) {
    if (arguments_.json) {
      report_json(a, b, differences);
      return;
    }
    const Exchange& one = a.exchange != nullptr ? *a.exchange : *b.exchange;
    auto const sign = a.exchange == nullptr ? '+' : b.exchange == nullptr ? '-' : '~';
    auto const numbers = sign == '+'   ? std::to_string(b.number)
                         : sign == '-' ? std::to_string(a.number)
                                       : std::to_string(a.number) + ", " + std::to_string(b.number);
    std::printf("%c %s %s (%s)\n", sign, printable(one.request.method).c_str(),
                printable(url_of(one.request)).c_str(), numbers.c_str());
    if (arguments_.brief) return;
    if (has_two_urls(a, b)) {
      print_change("url", url_of(a.exchange->request), url_of(b.exchange->request));
    }
    for (auto const difference : differences) print(difference, *a.exchange, *b.exchange);
  }

  int finish(const DiffCounts& counts) const {
    auto const remark = volatile_remark(counts.volatile_names);
    if (arguments_.json) {
      json::array remarks;
      if (!remark.empty()) remarks.emplace_back(as_utf8(remark));
      json::object const out = {{"same", counts.same},           {"changed", counts.changed},
                                {"only_in_a", counts.only_in_a}, {"only_in_b", counts.only_in_b},
                                {"remarks", std::move(remarks)}, {"differences", list_}};
      std::printf("%s\n", json::serialize(out).c_str());
    } else {
      if (!remark.empty()) std::fprintf(stderr, "note: %s\n", printable(remark).c_str());
      std::fprintf(stderr, "%llu the same, %llu changed, %llu only in %s, %llu only in %s\n",
                   static_cast<unsigned long long>(counts.same),
                   static_cast<unsigned long long>(counts.changed),
                   static_cast<unsigned long long>(counts.only_in_a), a_.path.c_str(),
                   static_cast<unsigned long long>(counts.only_in_b), b_.path.c_str());
    }
    return counts.any_difference() ? kExitGate : kExitDone;
  }

 private:
  BodyDifference compare_bodies(const StoredReply& a, const StoredReply& b) const {
    auto const in_a = read_plain(*a_.reader, a.headers.list(), a.body);
    auto const in_b = read_plain(*b_.reader, b.headers.list(), b.body);
    if (!in_a || !in_b) return {};
    auto const [at, other] = std::ranges::mismatch(in_a->bytes, in_b->bytes);
    return {.decoded = true,
            .same = in_a->bytes == in_b->bytes,
            .first_byte = static_cast<std::size_t>(at - in_a->bytes.begin()),
            .a_bytes = in_a->bytes.size(),
            .b_bytes = in_b->bytes.size()};
  }

  /// Fails only for damage, which diff_archives() would have found.
  Result<MessageChanges> message_changes(const Exchange& a, const Exchange& b) const {
    return compare_messages(*a_.reader, owner_of_messages(a), *b_.reader, owner_of_messages(b));
  }

  /// Of a pair, whose URLs can differ in volatile values.
  static bool has_two_urls(const DiffSide& a, const DiffSide& b) {
    return a.exchange != nullptr && b.exchange != nullptr &&
           a.exchange->request.target != b.exchange->request.target;
  }

  static void print_change(const char* what, const std::string& from, const std::string& to) {
    std::printf("    %s: %s -> %s\n", what, printable(from).c_str(), printable(to).c_str());
  }

  void print_fields(const char* what, const Headers& a, const Headers& b) const {
    std::printf("    %s:\n", what);
    for (auto const& [sign, field] : field_edits(a.list(), b.list(), arguments_.options)) {
      std::printf("      %c %s: %s\n", sign, printable(field.name).c_str(),
                  printable(field.value).c_str());
    }
  }

  void print_body(const StoredReply& a, const StoredReply& b) const {
    std::printf("    body: %llu -> %s", static_cast<unsigned long long>(a.body.size_bytes),
                counted(b.body.size_bytes, "byte").c_str());
    auto const difference = compare_bodies(a, b);
    if (!difference.decoded) {
      std::printf(", and at least one cannot be decoded\n");
    } else if (difference.same) {
      std::printf(", the same once decoded\n");
    } else {
      std::printf("; decoded %zu -> %s, different from byte %zu on\n", difference.a_bytes,
                  counted(difference.b_bytes, "byte").c_str(), difference.first_byte);
    }
  }

  void print_message_changes(const Exchange& a, const Exchange& b) const {
    auto const changes = message_changes(a, b);
    if (!changes) return;
    std::printf("    messages: %llu -> %llu, ", static_cast<unsigned long long>(changes->a_count),
                static_cast<unsigned long long>(changes->b_count));
    if (changes->first_changed) {
      std::printf("different from message %llu on\n",
                  static_cast<unsigned long long>(*changes->first_changed));
    } else {
      std::printf("the same at other times\n");
    }
  }

  static std::string interim_text(const Exchange& exchange) {
    std::string text;
    for (auto const& interim : exchange.interim) {
      text += (text.empty() ? "" : ", ") + std::to_string(interim.status);
    }
    return text.empty() ? "none" : text;
  }

  static std::string status_text(const StoredReply& reply) {
    return std::to_string(reply.status) + (reply.reason.empty() ? "" : " " + reply.reason);
  }

  void print(Difference difference, const Exchange& a, const Exchange& b) const {
    auto const& one = a.response;
    auto const& other = b.response;
    auto const name = std::string(to_string(difference));
    switch (difference) {
      case Difference::kOutcome:
        return print_change(name.c_str(), std::string(to_string(a.outcome)),
                            std::string(to_string(b.outcome)));
      case Difference::kStatus:
        return print_change(name.c_str(), status_text(one), status_text(other));
      case Difference::kProtocol:
        return print_change(name.c_str(), std::string(to_string(one.version)),
                            std::string(to_string(other.version)));
      case Difference::kHeaders:
        return print_fields(name.c_str(), one.headers, other.headers);
      case Difference::kInterim:
        return print_change("interim responses", interim_text(a), interim_text(b));
      case Difference::kBody:
        return print_body(one, other);
      case Difference::kTrailers:
        return print_fields(name.c_str(), one.trailers, other.trailers);
      case Difference::kRequestHeaders:
        return print_fields(name.c_str(), a.request.headers, b.request.headers);
      case Difference::kRequestTrailers:
        return print_fields(name.c_str(), a.request.trailers, b.request.trailers);
      case Difference::kTimes:
        return print_change("began, ended",
                            milliseconds(a.timings.queued) + ", " + milliseconds(a.timings.end),
                            milliseconds(b.timings.queued) + ", " + milliseconds(b.timings.end));
      case Difference::kMessages:
        return print_message_changes(a, b);
    }
  }

  json::array header_edits_json(const Exchange& a, const Exchange& b) const {
    json::array edits;
    for (auto const& [sign, field] :
         field_edits(a.response.headers.list(), b.response.headers.list(), arguments_.options)) {
      edits.push_back(json::array{std::string(1, sign), as_utf8(field.name), as_utf8(field.value)});
    }
    return edits;
  }

  json::value messages_json(const Exchange& a, const Exchange& b) const {
    auto const changes = message_changes(a, b);
    if (!changes) return nullptr;
    auto const& first = changes->first_changed;
    return json::object{{"a", changes->a_count},
                        {"b", changes->b_count},
                        {"first_changed", first ? json::value(*first) : json::value()}};
  }

  void report_json(const DiffSide& a, const DiffSide& b,
                   const std::vector<Difference>& differences) {
    const Exchange& one = a.exchange != nullptr ? *a.exchange : *b.exchange;
    auto const number = [](const DiffSide& side) {
      return side.exchange != nullptr ? json::value(side.number) : json::value();
    };
    json::object out = {{"method", as_utf8(one.request.method)},
                        {"url", as_utf8(url_of(one.request))},
                        {"a", number(a)},
                        {"b", number(b)}};
    if (has_two_urls(a, b)) out["url_b"] = as_utf8(url_of(b.exchange->request));
    json::array names;
    for (auto const difference : differences) {
      names.emplace_back(std::string(to_string(difference)));
      if (difference == Difference::kHeaders) {
        out["header_edits"] = header_edits_json(*a.exchange, *b.exchange);
      }
      if (difference == Difference::kBody) {
        auto const body = compare_bodies(a.exchange->response, b.exchange->response);
        out["same_once_decoded"] = body.decoded ? json::value(body.same) : json::value();
      }
      if (difference == Difference::kMessages) {
        out["messages"] = messages_json(*a.exchange, *b.exchange);
      }
    }
    out["differences"] = std::move(names);
    list_.push_back(std::move(out));
  }

  const OpenArchive& a_;
  const OpenArchive& b_;
  const DiffArguments& arguments_;
  json::array list_;
};

int say_damaged(const DiffDamage& damage, const OpenArchive& archive) {
  if (damage.url.empty()) {
    report_damaged(archive, damage.number);
  } else {
    std::fprintf(stderr,
                 "reprise: %s: a WebSocket message of exchange %zu (%s) is damaged. Run `reprise "
                 "archive verify` for details\n",
                 archive.path.c_str(), damage.number, printable(damage.url).c_str());
  }
  return kExitArchive;
}

int diff(DiffArguments& arguments) {
  auto const filter = parse_filter(arguments.filter);
  if (!filter) return kExitUsage;
  auto const a = open_with_remarks(arguments.a);
  auto const b = open_with_remarks(arguments.b);
  if (!a || !b) return kExitArchive;
  for (auto& name : arguments.options.ignored_headers) name = lower_case(name);
  if (!arguments.all_headers) {
    auto& ignored = arguments.options.ignored_headers;
    ignored.insert(ignored.end(), std::begin(kTimeFields), std::end(kTimeFields));
  }
  arguments.options.filter = [&filter](const Exchange& exchange, std::size_t number) {
    return filter->takes(exchange, number);
  };
  Printer printer(*a, *b, arguments);
  auto const counts = diff_archives(*a->reader, *b->reader, arguments.options,
                                    [&printer](const DiffSide& in_a, const DiffSide& in_b,
                                               const std::vector<Difference>& differences) {
                                      printer.report(in_a, in_b, differences);
                                    });
  if (!counts) return say_damaged(counts.error(), counts.error().is_in_b ? *b : *a);
  return printer.finish(*counts);
}

}  // namespace

void add_diff_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<DiffArguments>();
  auto* const command =
      add_command(archive, "diff", "Compare the responses and WebSocket messages of two archives");
  command->add_option("A", arguments->a, "First archive")->required();
  command->add_option("B", arguments->b, "Second archive")->required();
  command
      ->add_option(
          "--ignore-header", arguments->options.ignored_headers,
          "Ignore header fields of this NAME (* matches any text); may be given more than once")
      ->allow_extra_args(false);
  command->add_flag(
      "--all-headers", arguments->all_headers,
      "Compare Date and Age, too, which differ between recordings of an unchanged page");
  command->add_option("--filter", arguments->filter, "Compare only exchanges that match FILTER");
  command->add_flag("--requests", arguments->options.requests,
                    "Compare request header fields, too");
  command->add_flag("--times", arguments->options.times,
                    "Compare times of exchanges and messages, too");
  command->add_flag("--across-sessions", arguments->options.across_sessions,
                    "Pair exchanges of different sessions, too");
  command->add_flag("--brief", arguments->brief, "Print only which exchanges differ");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      std::string(
          "Exchanges with equal method, URL and request body are paired in order, within sessions "
          "of equal number; then those whose URLs differ only in query values that look random or "
          "like a time, with a note.\nExit status: 0 if the archives are the same, 5 if they "
          "differ.\n\n") +
      kFilterHelp);
  command->callback([arguments, &exit_code] { exit_code = diff(*arguments); });
}

}  // namespace reprise
