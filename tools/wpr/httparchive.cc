// `httparchive`, the second program of Web Page Replay, on `reprise archive`. Reads and writes
// .wprgo and .reprise; the output is overwritten.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "archive/copy.h"
#include "archive/edit/merge.h"
#include "archive/export/job.h"
#include "archive/export/message.h"
#include "tools/archive/errors.h"
#include "tools/archive/given_archive.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/wpr/draft.h"
#include "tools/wpr/printed_exchange.h"
#include "tools/wpr/ruled_archive.h"
#include "tools/wpr/url_list.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using wpr::say_error;

/// The exchanges that the flags select; what is empty selects all.
struct Selection {
  std::string method;
  std::string host;  ///< with a port that is not the scheme's
  std::string path;
  unsigned status = 0;

  void add_to(CLI::App& command) {
    command.add_option("--command", method, "Only this HTTP method");
    command.add_option("--host", host, "Only this host");
    command.add_option("--full-path", path, "Only this path, without query");
    command.add_option("--status-code", status, "Only this status");
  }
  bool selects(const Exchange& exchange) const {
    auto const& request = exchange.request;
    auto const upper = [](std::string text) {
      for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
      }
      return text;
    };
    return (method.empty() || upper(method) == request.method) &&
           (host.empty() || host == exporting::authority_of(request)) &&
           (path.empty() || path == request.target.substr(0, request.target.find('?'))) &&
           (status == 0 || status == exchange.response.status);
  }
};

/// The archive that a user names, of which no copy is left; nothing: the error has been printed.
std::optional<OpenArchive> open(const fs::path& path) {
  auto const given = GivenArchive::take(path);
  return given ? open_with_remarks(given->path()) : std::nullopt;
}

/// The same for an archive that another one is made of, which would lack what is damaged.
std::optional<OpenArchive> open_undamaged(const fs::path& path) {
  auto opened = open(path);
  if (opened && refuses_as_damaged(*opened)) return std::nullopt;
  return opened;
}

/// Copies what it is told to.
class SelectingCopy final : public ArchiveCopy {
 public:
  SelectingCopy(const ArchiveReader& from, ArchiveWriter& to,
                std::function<bool(const Exchange&)> keeps)
      : ArchiveCopy(from, to), keeps_(std::move(keeps)) {}

 private:
  bool takes_exchange(std::uint32_t ordinal) const override {
    if (Interruption::was_asked()) return false;  // the draft is not delivered then
    auto const exchange = from().exchange(ordinal);
    return !exchange || keeps_(*exchange);  // one that cannot be read ends the copy
  }

  std::function<bool(const Exchange&)> keeps_;
};

/// Whether the copy was made; its error has been printed.
bool copy(const OpenArchive& from, const fs::path& to,
          const std::function<bool(const Exchange&)>& keeps) {
  auto writer = ArchiveWriter::create(to, {});
  auto copied = writer ? Result<void>() : fail(writer.error());
  if (copied) copied = SelectingCopy(*from.reader, **writer, keeps).run();
  if (copied) copied = (*writer)->close();
  if (copied) return true;
  auto const is_source = copied.error() == archive_errc::corrupt;
  say_error(archive_error_text(is_source ? from.path : to, copied.error()));
  return false;
}

bool keeps_all(const Exchange&) {
  return true;
}

/// `reprise archive WORDS`.
int run_archive(std::vector<std::string> words) {
  auto const app = make_command_line("", "");
  int exit_code = kExitDone;
  add_archive_command(*app, exit_code);
  words.insert(words.begin(), "archive");
  try {
    parse_words(*app, std::move(words));
  } catch (const CLI::ParseError& error) {
    return app->exit(error);
  }
  return exit_code;
}

struct Arguments {
  Selection selection;
  fs::path archive;
  fs::path other;
  fs::path output;
  fs::path list;
  fs::path script;
  std::vector<std::string> urls;
  bool decode = false;
  bool invert = false;
  bool keep_duplicates = false;
  bool skip_existing = false;
  bool overwrite_existing = false;
  std::string log_level;             ///< changes nothing
  bool relative_timestamps = false;  ///< changes nothing
};

/// Calls `visit` with each selected exchange of the session that a replay would serve.
int visit(const Arguments& arguments,
          const std::function<void(exporting::Job&, const Exchange&)>& visit) {
  auto const opened = open(arguments.archive);
  if (!opened) return kExitArchive;
  exporting::ExportReport report;
  const ArchiveReader& archive = *opened->reader;
  exporting::ExportOptions const options{.session = exporting::choose_session(archive, 0)};
  exporting::Job job(archive, options, report);
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (Interruption::was_asked()) return Interruption::exit_code();
    auto const exchange = job.read(i);
    if (!exchange) break;
    if (arguments.selection.selects(*exchange)) visit(job, *exchange);
  }
  if (!job.fault()) return kExitDone;
  say_error(arguments.archive.string() + ": " + job.fault()->what);
  return kExitArchive;
}

int list(const Arguments& arguments) {
  return visit(arguments, [](exporting::Job&, const Exchange& exchange) {
    std::printf("%s %s %s\n", exchange.request.method.c_str(),
                exporting::authority_of(exchange.request).c_str(),
                exporting::safe_url(exchange.request).c_str());
  });
}

int print_all(const Arguments& arguments) {
  exporting::FileOutput out(Descriptor(::dup(STDOUT_FILENO)));
  bool good = true;
  int const code = visit(arguments, [&](exporting::Job& job, const Exchange& exchange) {
    good = wpr::print_exchange(job, exchange, arguments.decode, out) && good;
  });
  out.flush();
  if (out.error()) {
    say_error("cannot write the output: " + out.error().message());
    return kExitFailed;
  }
  return good || code != kExitDone ? code : int{kExitFailed};
}

int trim(const Arguments& arguments) {
  auto const opened = open_undamaged(arguments.archive);
  if (!opened) return kExitArchive;
  wpr::Draft const draft(arguments.output);
  auto const keeps = [&arguments](const Exchange& exchange) {
    return arguments.selection.selects(exchange) == arguments.invert;
  };
  if (!draft.has_place() || !copy(*opened, draft.path(), keeps)) return kExitFailed;
  return draft.deliver();
}

int merge(const Arguments& arguments) {
  auto const first = open_undamaged(arguments.archive);
  auto const second = first ? open_undamaged(arguments.other) : std::nullopt;
  if (!second) return kExitArchive;
  wpr::Draft const draft(arguments.output);
  if (!draft.has_place()) return kExitFailed;
  auto writer = ArchiveWriter::create(draft.path(), {});
  auto merged = writer ? Result<void>() : fail(writer.error());
  std::string named = "the archives";
  if (merged) {
    auto const parts = merge_archives(
        std::array<const ArchiveReader*, 2>{first->reader.get(), second->reader.get()},
        {.duplicates = arguments.keep_duplicates ? Duplicates::kKeep : Duplicates::kFirst},
        **writer);
    merged = parts ? (*writer)->close() : fail(parts.error().code);
    if (!parts && parts.error().code == archive_errc::corrupt) {
      named = (parts.error().archive == 0 ? arguments.archive : arguments.other).string();
    }
  }
  if (merged) return draft.deliver();
  say_error(named + " cannot be merged: " + merged.error().message());
  return kExitFailed;
}

int inject(const Arguments& arguments) {
  auto const opened = open_undamaged(arguments.archive);
  if (!opened) return kExitArchive;
  wpr::Draft const draft(arguments.output);
  if (!draft.has_place()) return kExitFailed;
  auto const problem = wpr::inject_script(
      *opened->reader, draft.path(), arguments.script,
      [&arguments](const Exchange& exchange) { return arguments.selection.selects(exchange); });
  if (problem.empty()) return draft.deliver();
  say_error("the script cannot be injected into " + arguments.archive.string() + ": " + problem);
  return kExitFailed;
}

/// The numbers in `ls` of the selected responses of an archive that was written here.
Result<std::vector<std::string>> numbers_in(const fs::path& path, const Selection& selection) {
  auto const archive = ArchiveReader::open(path, {});
  if (!archive) return fail(archive.error());
  std::vector<std::string> numbers;
  std::size_t number = 0;
  for (std::uint32_t const ordinal : (*archive)->ordinals_in_order()) {
    ++number;
    auto const exchange = (*archive)->exchange(ordinal);
    if (!exchange) return fail(exchange.error());
    if (exchange->response.status == 0) continue;  // nothing to edit
    if (selection.selects(*exchange)) numbers.push_back(std::to_string(number));
  }
  return numbers;
}

int edit(const Arguments& arguments) {
  if (::getenv("EDITOR") != nullptr) ::unsetenv("VISUAL");  // which Web Page Replay does not read
  auto const opened = open_undamaged(arguments.archive);
  if (!opened) return kExitArchive;
  wpr::Draft const draft(arguments.output);
  if (!draft.has_place() || !copy(*opened, draft.path(), keeps_all)) return kExitFailed;
  auto const numbers = numbers_in(draft.path(), arguments.selection);
  if (!numbers) {
    say_error(archive_error_text(draft.path(), numbers.error()));
    return kExitFailed;
  }
  for (const std::string& number : *numbers) {
    std::vector<std::string> words{"edit", draft.path(), number};
    if (!arguments.decode) words.emplace_back("--raw");
    if (Interruption::was_asked()) break;
    if (int const code = run_archive(std::move(words)); code != kExitDone) return code;
  }
  return draft.deliver();
}

int add(Arguments arguments) {
  if (!arguments.list.empty()) {
    std::ifstream file(arguments.list);
    if (!file) {
      say_error(arguments.list.string() + " cannot be read");
      return kExitFailed;
    }
    arguments.urls = wpr::urls_in(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  auto const opened = open_undamaged(arguments.archive);
  if (!opened) return kExitArchive;
  if (arguments.skip_existing) {
    wpr::UrlSet existing;
    for (std::uint32_t const ordinal : opened->reader->ordinals_in_order()) {
      auto const exchange = opened->reader->exchange(ordinal);
      if (exchange) existing.insert(url_of(exchange->request));
    }
    std::erase_if(arguments.urls, [&](const std::string& url) { return existing.contains(url); });
  }
  wpr::UrlSet replaced;
  if (arguments.overwrite_existing) {
    for (const std::string& url : arguments.urls) replaced.insert(url);
  }
  auto const keeps = [&replaced](const Exchange& exchange) {
    return exchange.request.method != "GET" || !replaced.contains(url_of(exchange.request));
  };
  wpr::Draft const draft(arguments.output);
  if (!draft.has_place() || !copy(*opened, draft.path(), keeps)) return kExitFailed;
  if (!arguments.urls.empty()) {
    std::vector<std::string> words{"add", draft.path()};
    words.insert(words.end(), arguments.urls.begin(), arguments.urls.end());
    if (int const code = run_archive(std::move(words)); code != kExitDone) return code;
  }
  return draft.deliver();
}

/// "-full_path=/x" as "--full-path=/x".
std::string in_our_form(const std::string& word) {
  if (word.size() < 3 || !word.starts_with('-')) return word;
  auto const name = word.substr(word.starts_with("--") ? 2 : 1);
  auto const end = std::min(name.find('='), name.size());
  auto flag = name.substr(0, end);
  std::ranges::replace(flag, '_', '-');
  return "--" + flag + name.substr(end);
}

CLI::App* add_verb(CLI::App& app, const char* name, const char* help, Arguments& arguments,
                   int& exit_code, int (*run)(const Arguments&)) {
  auto* const verb = add_command(app, name, help);
  verb->add_option("ARCHIVE", arguments.archive, "Archive to read")->required();
  verb->callback([&arguments, &exit_code, run] { exit_code = run(arguments); });
  return verb;
}

void add_verbs(CLI::App& app, Arguments& arguments, int& exit_code) {
  auto const verb = [&](const char* name, const char* help, int (*run)(const Arguments&)) {
    return add_verb(app, name, help, arguments, exit_code, run);
  };
  auto const with_output = [&arguments](CLI::App* command) {
    command->add_option("OUTPUT", arguments.output, "Archive to write")->required();
    return command;
  };
  auto const selecting = [&arguments](CLI::App* command) {
    arguments.selection.add_to(*command);
    command->add_option("--log-level", arguments.log_level, "Changes nothing");
    command->add_flag("--relative-timestamps", arguments.relative_timestamps, "Changes nothing");
    return command;
  };
  auto const decoding = [&](CLI::App* command, const char* what) {
    selecting(command)->add_flag("--decode-response-body", arguments.decode, what);
    return command;
  };
  decoding(verb("ls", "List the requests", list), "Changes nothing");
  decoding(verb("cat", "Print requests and responses", print_all),
           "Print them without content coding");
  decoding(with_output(verb("edit", "Edit response bodies in $EDITOR", edit)),
           "Edit them without content coding");
  decoding(with_output(verb("trim", "Drop the selected requests", trim)), "Changes nothing")
      ->add_flag("--invert-match", arguments.invert, "Keep only them");
  selecting(with_output(verb("inject", "Put a script into documents", inject)))
      ->add_option("SCRIPT", arguments.script, "File with the script")
      ->required();
  auto* const merging = verb("merge", "Merge two archives", merge);
  merging->add_option("OTHER", arguments.other, "Archive to merge into it")->required();
  with_output(merging)->add_flag("--keep-duplicates", arguments.keep_duplicates,
                                 "Keep the responses of both to equal requests");
  auto const run_add = [](const Arguments& given) { return add(given); };
  auto* const adding = with_output(verb("add", "Record URLs into it, in a browser", run_add));
  adding->add_option("URL", arguments.urls, "What to record")->required();
  auto* const adding_all = with_output(verb("addAll", "The same for a file of URLs", run_add));
  adding_all->add_option("FILE", arguments.list, "One URL per line")->required();
  for (auto* const each : {adding, adding_all}) {
    each->add_flag("--skip-existing", arguments.skip_existing, "Skip URLs that it has");
    each->add_flag("--overwrite-existing", arguments.overwrite_existing,
                   "Replace the responses that it has to the URLs");
  }
}

/// Returns 0, or 1 on any error.
int run_httparchive(std::vector<std::string> words) {
  Interruption const interruption;  // a signal leaves no copies behind
  Arguments arguments;
  int exit_code = kExitDone;
  auto const app = make_command_line("Web Page Replay's httparchive, by reprise", "httparchive");
  app->require_subcommand(1);
  add_verbs(*app, arguments, exit_code);
  for (std::string& word : words) word = in_our_form(word);
  try {
    parse_words(*app, std::move(words));
  } catch (const CLI::ParseError& error) {
    return app->exit(error) == 0 ? kExitDone : kExitFailed;
  }
  return exit_code == kExitDone ? kExitDone : kExitFailed;
}

}  // namespace

void add_httparchive_command(CLI::App& app, int& exit_code) {
  auto* const sub = add_command(app, "httparchive",
                                "Web Page Replay's tool for archives: ls, cat, edit, merge, "
                                "add, addAll, trim, inject");
  sub->set_help_flag();
  sub->prefix_command();
  sub->callback([sub, &exit_code] { exit_code = run_httparchive(sub->remaining()); });
}

}  // namespace reprise
