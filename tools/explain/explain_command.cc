#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "analysis/beacons/beacon_script.h"
#include "analysis/calls/call_lines.h"
#include "analysis/contribution/call_subject.h"
#include "analysis/contribution/explanation.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "tools/commands.h"
#include "tools/explain/explain_inputs.h"
#include "tools/explain/explain_text.h"
#include "tools/explain/partial_lines.h"
#include "tools/explain/partial_tables.h"
#include "tools/partials/engine_lines.h"
#include "tools/process/command_line.h"
#include "view/explain_page.h"
#include "view/page_link.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct ExplainFlags {
  std::vector<fs::path> inputs;
  std::vector<std::string> by;
  std::vector<std::string> tags;
  std::string where;
  std::string slowest = "100%";
  std::string trend;
  fs::path kinds;
  fs::path entities;
  fs::path calls;
  fs::path page;
  fs::path view;
  std::optional<double> from_ms;
  std::optional<double> to_ms;
  bool json = false;
  bool csv = false;
  bool beacon_script = false;
  bool partial = false;
  bool merge = false;
};

/// "10%" or "10".
std::optional<double> percent_of(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number > 0 && number <= 100)) return std::nullopt;
  return number;
}

/// What a file given with an option means. Prints an error.
template <class Parsed>
std::optional<Parsed> read_data(const fs::path& path,
                                std::expected<Parsed, std::string> (*parse)(std::string_view),
                                std::size_t bytes_max) {
  auto const text = read_text_file(path, bytes_max);
  if (!text) {
    std::fprintf(stderr, "reprise: explain: %s cannot be read: %s\n", path.c_str(),
                 text.error().message().c_str());
    return std::nullopt;
  }
  auto parsed = parse(*text);
  if (parsed) return std::move(*parsed);
  std::fprintf(stderr, "reprise: explain: %s: %s\n", path.c_str(), parsed.error().c_str());
  return std::nullopt;
}

/// Everything that the options say, checked before any input is read.
struct ExplainTask {
  ExplainOptions options;
  KindRules rules = KindRules::standard();
  Entities entities = Entities::built_in();
  std::optional<Filter> where;
};

std::optional<ExplainTask> task_of(const ExplainFlags& flags) {
  ExplainTask task;
  task.options.by = flags.by;
  task.options.trend = !flags.trend.empty();
  auto const slowest = percent_of(flags.slowest);
  if (!slowest) {
    std::fprintf(stderr, "reprise: explain: --slowest %s: give a part of the views, like 10%%\n",
                 flags.slowest.c_str());
    return std::nullopt;
  }
  task.options.slowest_percent = *slowest;
  if (!flags.where.empty()) {
    auto filter = Filter::parse(flags.where, view_vocabulary());
    if (!filter) {
      std::fprintf(stderr, "reprise: explain: --where: %s\n",
                   caret_text(flags.where, filter.error()).c_str());
      return std::nullopt;
    }
    task.where = std::move(*filter);
  }
  if (!flags.kinds.empty()) {
    auto rules = read_data<KindRules>(flags.kinds, KindRules::parse, KindRules::kTextBytesMax);
    if (!rules) return std::nullopt;
    task.rules = std::move(*rules);
  }
  if (!flags.entities.empty()) {
    auto entities = read_data<Entities>(flags.entities, Entities::parse, Entities::kBytesMax);
    if (!entities) return std::nullopt;
    task.entities = std::move(*entities);
  }
  return task;
}

int write_output(const fs::path& path, std::string_view text) {
  if (auto const written = write_private_file(text, path); !written) {
    std::fprintf(stderr, "reprise: %s cannot be written: %s\n", path.c_str(),
                 written.error().message().c_str());
    return kExitFailed;
  }
  return kExitDone;
}

/// Those of `names` that are tags: partial results always have day and page.
std::vector<std::string> tags_among(const std::vector<std::string>& names) {
  std::vector<std::string> tags;
  std::ranges::copy_if(names, std::back_inserter(tags),
                       [](const std::string& name) { return name != "day" && name != "page"; });
  return tags;
}

int explain_partially(const ExplainFlags& flags) {
  if (flags.merge) return merge_partials("explain", flags.inputs);
  auto const task = task_of(flags);
  if (!task) return kExitUsage;
  return write_partials(flags.inputs, tags_among(flags.by), task->rules, task->entities);
}

/// As engines leave one where a part has no lines.
bool is_empty_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == 0 && !error;
}

int explain_tables(const ExplainFlags& flags, const ExplainTask& task) {
  for (fs::path const& path : flags.inputs) {
    if (is_partial_result(path) || is_empty_file(path)) continue;
    std::fprintf(stderr,
                 "reprise: explain: %s is not a partial result, as another FILE is: explain them "
                 "apart\n",
                 path.c_str());
    return kExitUsage;
  }
  bool const beyond_sums = !flags.page.empty() || !flags.where.empty() || !flags.trend.empty() ||
                           !flags.calls.empty() || !flags.entities.empty() || flags.json ||
                           flags.from_ms || flags.to_ms;
  if (beyond_sums) {
    std::fputs(
        "reprise: explain: partial results are sums by kind: only --by, --tags, --slowest, "
        "--types and --csv apply to them\n",
        stderr);
    return kExitUsage;
  }
  PartialTablesTask tables{.inputs = flags.inputs,
                           .tags = flags.tags.empty() ? tags_among(flags.by) : flags.tags,
                           .by = flags.by,
                           .slowest_percent = task.options.slowest_percent,
                           .csv = flags.csv};
  return explain_partial_results(tables, task.rules);
}

ViewPart part_of(const ExplainFlags& flags) {
  ViewPart part;
  if (flags.from_ms) part.from_us = std::llround(*flags.from_ms * 1000);
  if (flags.to_ms) part.to_us = std::llround(*flags.to_ms * 1000);
  return part;
}

/// What the options write to standard output instead of the table.
std::vector<std::string> outputs_of(const ExplainFlags& flags) {
  std::vector<std::string> outputs;
  if (flags.calls == "-") outputs.emplace_back("--calls -");
  if (flags.page == "-") outputs.emplace_back("-o -");
  if (flags.json) outputs.emplace_back("--json");
  if (flags.csv) outputs.emplace_back("--csv");
  return outputs;
}

/// Whether views can be explained so. Prints an error, or a notice if names of hosts are unknown.
bool check_for_views(const ExplainFlags& flags, const ExplainTask& task) {
  if (!flags.tags.empty()) {
    std::fputs("reprise: explain: --tags is for partial results\n", stderr);
    return false;
  }
  if (task.entities.empty()) {
    std::fputs(
        "reprise: explain: built without the data of third-party-web, so ads and CDNs are not "
        "known by name. Give it with --entities FILE\n",
        stderr);
  }
  if (auto const outputs = outputs_of(flags); outputs.size() > 1) {
    std::fprintf(stderr, "reprise: explain: %s and %s both write to standard output\n",
                 outputs[0].c_str(), outputs[1].c_str());
    return false;
  }
  if (auto const part = part_of(flags); part.from_us >= part.to_us) {
    std::fputs("reprise: explain: --from must be before --to\n", stderr);
    return false;
  }
  return true;
}

/// Whether no output replaces an input or another output. Prints an error.
bool check_files(const ExplainFlags& flags) {
  return are_different_files("FILE", flags.inputs,
                             {{"--types", flags.kinds},
                              {"--entities", flags.entities},
                              {"--calls", flags.calls},
                              {"-o", flags.page}});
}

struct ViewsToExplain {
  std::vector<GivenView> views;
  ExplanationFacts facts;
};

/// The views that the options select, of all inputs. The error is an exit code, whose message was
/// printed.
std::expected<ViewsToExplain, int> read_views(const ExplainFlags& flags, const ExplainTask& task) {
  ExplainInputs inputs;
  for (fs::path const& path : flags.inputs) {
    if (int const code = read_explain_input(path, inputs); code != kExitDone) {
      return std::unexpected(code);
    }
  }
  place_spans(inputs);
  ExplanationFacts facts{.inputs = std::move(inputs.inputs),
                         .views_read = inputs.views.size(),
                         .losses = std::move(inputs.losses)};
  if (!flags.view.empty()) facts.view = link_between(flags.page, flags.view);
  if (task.where) {
    facts.where = flags.where;
    std::erase_if(inputs.views, [&](const GivenView& view) {
      return !task.where->takes(ViewSubject(view.tree));
    });
  }
  if (facts.views_read == 0) {
    std::fprintf(stderr, "reprise: explain: no span begins a view\n%s",
                 losses_text({}, facts).c_str());
    return std::unexpected(int{kExitFailed});
  }
  if (inputs.views.empty()) {
    std::fprintf(stderr, "reprise: explain: --where selects none of the %zu views\n",
                 facts.views_read);
    return std::unexpected(int{kExitFailed});
  }
  if (flags.from_ms || flags.to_ms) cut_views(part_of(flags), inputs.views, facts.losses);
  if (inputs.views.empty()) {
    std::fputs("reprise: explain: all views ended before --from\n", stderr);
    return std::unexpected(int{kExitFailed});
  }
  return ViewsToExplain{.views = std::move(inputs.views), .facts = std::move(facts)};
}

int write_calls(const fs::path& path, const std::vector<GivenView>& views) {
  std::string lines;
  for (GivenView const& view : views) lines += call_line(view.tree);
  return write_output(path, lines);
}

/// Writes the page of -o; and to standard output, unless something was written there, the text.
int write_explanation(const ExplainFlags& flags, const ExplainTask& task,
                      const Explanation& explanation, const ExplanationFacts& facts) {
  auto const json = to_json(explanation, task.rules, task.options, facts);
  if (!flags.page.empty()) {
    auto const page = explain_page(json);
    if (int const code = write_output(flags.page, page); code != kExitDone) return code;
    if (flags.page == "-") return kExitDone;
    std::fprintf(stderr, "wrote %s: %s, %.1f MB\n", flags.page.c_str(),
                 counted(explanation.slices.front().views, "view").c_str(),
                 static_cast<double>(page.size()) / 1e6);
  }
  if (flags.calls == "-") return kExitDone;
  std::string text;
  if (flags.json) {
    text = boost::json::serialize(json) + "\n";
  } else if (flags.csv) {
    text = explanation_csv(explanation, task.rules, task.options);
    std::fputs(losses_text(explanation, facts).c_str(), stderr);
  } else {
    text = explanation_text(explanation, task.rules, task.options, facts);
  }
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

int run_explain(const ExplainFlags& flags) {
  if (flags.beacon_script) {
    std::fwrite(beacon_script().data(), 1, beacon_script().size(), stdout);
    return kExitDone;
  }
  if (flags.inputs.empty()) {
    std::fputs("reprise: explain: give a file, such as a result of `reprise load -o`\n", stderr);
    return kExitUsage;
  }
  auto const task = task_of(flags);
  if (!task) return kExitUsage;
  if (std::ranges::any_of(flags.inputs, is_partial_result)) return explain_tables(flags, *task);
  if (!check_for_views(flags, *task) || !check_files(flags)) return kExitUsage;
  auto const read = read_views(flags, *task);
  if (!read) return read.error();
  if (!flags.calls.empty()) {
    if (int const code = write_calls(flags.calls, read->views); code != kExitDone) return code;
    if (flags.calls == "-" && flags.page.empty()) {
      std::fputs(losses_text({}, read->facts).c_str(), stderr);
      return kExitDone;
    }
  }
  auto const explanation = explain(read->views, task->rules, task->entities, task->options);
  return write_explanation(flags, *task, explanation, read->facts);
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto const flags = std::make_shared<ExplainFlags>();
  auto* const sub =
      add_command(app, "explain",
                  "Say where the time of page loads went: reprise explain FILE... [-o page.html]");
  sub->add_option("FILE", flags->inputs,
                  "Results of `load -o`, archives, recordings of other tools, HARs, lines of "
                  "calls, beacons, spans of servers (OTLP/JSON, Zipkin), partial results");
  sub->add_option("-o,--output", flags->page,
                  "Write an HTML page here; - writes to standard output");
  sub->add_option("--view", flags->view,
                  "Link to this page of `reprise view`, written with the same files")
      ->needs("-o");
  sub->add_option("--by", flags->by, "Also by these tags: browser,protocol,link,cache,page,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--tags", flags->tags,
                  "The tags in partial results, as --partial --by had them [those of --by]")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--where", flags->where, "Only views that this filter selects: 'link=wpt:4g'");
  sub->add_option("--slowest", flags->slowest, "Only the slowest part of the views [100%]");
  sub->add_option("--from", flags->from_ms, "Explain each view from so many ms after its start [0]")
      ->check(numbers_between(0.0, 86'400'000.0));
  sub->add_option("--to", flags->to_ms, "Explain it until so many ms after its start [its end]")
      ->check(numbers_between(0.0, 86'400'000.0));
  auto* const trend =
      sub->add_option("--trend", flags->trend, "Also by day (UTC)")->check(CLI::IsMember({"day"}));
  sub->add_option("--types", flags->kinds, "Rules for the kinds of calls [built in]");
  sub->add_option("--entities", flags->entities,
                  "Who hosts belong to: entities-nostats.json of third-party-web [built in]");
  sub->add_option("--calls", flags->calls,
                  "Write the calls to this file, a line of JSON per view; - writes them to "
                  "standard output instead of the table");
  auto* const json = sub->add_flag("--json", flags->json, "Write JSON");
  sub->add_flag("--csv", flags->csv, "Write CSV")->excludes(json)->excludes(trend);
  sub->add_flag("--beacon-script", flags->beacon_script,
                "Print the script with which pages send beacons (docs/beacons.md), and stop");
  // What says nothing about sums is refused with them.
  auto const sums_only = [sub](CLI::Option* option) {
    for (auto const* const name : {"-o", "--tags", "--where", "--slowest", "--from", "--to",
                                   "--trend", "--calls", "--json", "--csv"}) {
      option->excludes(sub->get_option(name));
    }
    return option;
  };
  auto* const partial = sums_only(sub->add_flag(
      "--partial", flags->partial,
      "Sum beacons to lines that --merge adds up, from standard input if there is no FILE"));
  auto* const merge =
      sums_only(sub->add_flag("--merge", flags->merge, "Add up sorted lines of --partial"))
          ->excludes(partial);
  for (auto const* const name : {"--by", "--types", "--entities"}) {
    merge->excludes(sub->get_option(name));
  }
  sub->callback([flags, &exit_code] {
    exit_code = flags->partial || flags->merge ? explain_partially(*flags) : run_explain(*flags);
  });
}

}  // namespace reprise
