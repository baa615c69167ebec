#include "tools/wpr/ruled_archive.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <system_error>
#include <vector>

#include "archive/copy.h"
#include "archive/export/job.h"
#include "base/bytes.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "inject/rewrite.h"
#include "inject/search.h"
#include "tools/archive/coding.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/process_signals.h"
#include "tools/wpr/input/rules.h"
#include "tools/wpr/input/script_text.h"
#include "tools/wpr/wpr_serving.h"
#include "tools/wpr/wprgo_file.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 16 << 20;
constexpr std::uint64_t kDocumentBytesMax = 64 << 20;

struct Script {
  std::string text;  ///< of its element
  inject::InjectedScript injected;
};

struct Change {
  std::function<bool(const Exchange&)> selects;
  Headers extra_headers;
  std::optional<Script> script;
};

struct ReadRules {
  std::vector<Change> changes;
  bool has_pushes = false;
};

/// A script to inject. The error is a sentence.
std::expected<Script, std::string> read_script(
    const fs::path& file, const std::function<std::string(std::string)>& fill) {
  auto source = read_text_file(file, kFileBytesMax);
  if (!source) return std::unexpected(file.string() + ": " + source.error().message());
  auto text = fit_for_documents(fill(std::move(*source)));
  auto script = inject::InjectedScript::create({.document = {text}, .worker = {}});
  if (!script) return std::unexpected(file.string() + ": " + script.error().message());
  return Script{.text = std::move(text), .injected = std::move(*script)};
}

/// Whether a document contains `script`, in its encoding.
bool contains(HeaderList headers, std::span<const std::byte> coded, const std::string& script) {
  using inject::TextForm;
  auto const document = decode_body(headers, coded);
  if (!document) return false;
  return std::ranges::any_of(
      std::array{TextForm::kAscii, TextForm::kUtf16le, TextForm::kUtf16be}, [&](TextForm form) {
        inject::Place const place{.form = form};
        return text_of(document->bytes).contains(inject::in_form(script, place));
      });
}

std::expected<std::vector<Rule>, std::string> rules_of(const fs::path& file,
                                                       std::span<const std::string> by_url) {
  std::vector<Rule> rules;
  if (!file.empty()) {
    auto const wrong = [&file](const std::string& what) {
      return std::unexpected("--rules_file " + file.string() + ": " + what);
    };
    auto const text = read_text_file(file, kFileBytesMax);
    if (!text) return wrong(text.error().message());
    auto parsed = parse_rules(*text, file.parent_path());
    if (!parsed) return wrong(parsed.error());
    rules = std::move(*parsed);
  }
  for (const std::string& each : by_url) {
    auto rule = parse_script_by_url(each);
    if (!rule) return std::unexpected("--inject_script_by_url " + rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

std::expected<ReadRules, std::string> read_rules(const fs::path& file,
                                                 std::span<const std::string> by_url) {
  auto const rules = rules_of(file, by_url);
  if (!rules) return std::unexpected(rules.error());
  ReadRules read;
  for (const Rule& rule : *rules) {
    read.has_pushes = read.has_pushes || rule.pushes;
    auto& change = read.changes.emplace_back();
    change.selects = [rule](const Exchange& exchange) {
      return rule.selects(url_of(exchange.request));
    };
    change.extra_headers = rule.extra_headers;
    if (rule.script.empty()) continue;
    auto script = read_script(rule.script, [](std::string source) { return source; });
    if (!script) return std::unexpected(script.error());
    change.script = std::move(*script);
  }
  return read;
}

class ChangedCopy final : public ArchiveCopy {
 public:
  ChangedCopy(const ArchiveReader& from, ArchiveWriter& to, std::span<const Change> changes)
      : ArchiveCopy(from, to), changes_(changes) {}

  std::size_t changed() const { return changed_; }

 private:
  Result<void> carry(std::uint32_t, Exchange& exchange) override {
    if (waiting_signal()) return fail(std::make_error_code(std::errc::operation_canceled));
    std::optional<std::vector<std::byte>> body;
    bool changes = false;
    for (const Change& change : changes_) {
      if (exchange.response.status == 0 || !change.selects(exchange)) continue;
      changes = true;
      add_fields(exchange, change.extra_headers);
      if (change.script) inject(exchange, *change.script, body);
    }
    if (changes) ++changed_;
    if (!body) return carry_bodies(exchange);
    auto request_body = copy_body(from(), exchange.request.body, to());
    if (!request_body) return fail(request_body.error());
    exchange.request.body = std::move(*request_body);
    BodyWriter writer(to());
    if (auto const added = writer.append(*body); !added) return fail(added.error());
    auto stored = writer.finish();
    if (!stored) return fail(stored.error());
    exchange.response.body = std::move(*stored);
    exchange.response.chunk_times.clear();
    exchange.response.timed_bytes.reset();
    return {};
  }

  static void add_fields(Exchange& exchange, const Headers& extra) {
    auto const old = exchange.response.headers.list();
    std::vector<HeaderView> fields(old.begin(), old.end());
    fields.insert(fields.end(), extra.list().begin(), extra.list().end());
    exchange.response.headers = Headers(HeaderList(fields));
  }

  /// Into a whole document without the script; others stay as they are.
  void inject(Exchange& exchange, const Script& script,
              std::optional<std::vector<std::byte>>& body) {
    if (exchange.outcome != Outcome::kComplete) return;
    auto& headers = exchange.response.headers;
    auto const document = body ? Result<std::vector<std::byte>>(*body)
                               : from().read_body(exchange.response.body, kDocumentBytesMax);
    if (!document) return;
    auto rewritten =
        inject::rewrite(script.injected, exchange.response.status, headers.list(), *document, {});
    if (rewritten.report.verdict != inject::Verdict::kRewritten) return;
    if (contains(headers.list(), *document, script.text)) return;
    headers = std::move(rewritten.headers);
    body = std::move(rewritten.body);
  }

  std::span<const Change> changes_;
  std::size_t changed_ = 0;
};

/// The number of responses that the changes selected. The error is a sentence.
std::expected<std::size_t, std::string> write_copy(const ArchiveReader& archive, const fs::path& to,
                                                   std::span<const Change> changes) {
  auto writer = ArchiveWriter::create(to, {});
  auto copied = writer ? Result<void>() : fail(writer.error());
  std::size_t changed = 0;
  if (copied) {
    ChangedCopy copy(archive, **writer, changes);
    copied = copy.run();
    changed = copy.changed();
  }
  if (copied) copied = (*writer)->close();
  if (!copied) return std::unexpected(copied.error().message());
  return changed;
}

int apply_rules(std::span<const Change> changes, const fs::path& from, const fs::path& to) {
  auto const archive = open_with_remarks(from);
  if (!archive) return kExitArchive;
  auto const changed = write_copy(*archive->reader, to, changes);
  if (!changed) {
    if (auto const number = waiting_signal()) return 128 + *number;
    say_error("the rules cannot be applied to " + from.string() + ": " + changed.error());
    return kExitArchive;
  }
  std::fprintf(stderr, "rules: %s changed\n", counted(*changed, "response").c_str());
  return kExitDone;
}

}  // namespace

std::expected<std::function<int(const fs::path&, const fs::path&)>, std::string> ruled_copy(
    const fs::path& rules_file, std::span<const std::string> scripts_by_url) {
  auto read = read_rules(rules_file, scripts_by_url);
  if (!read) return std::unexpected(read.error());
  if (read->has_pushes) {
    std::fprintf(stderr, "reprise: pushes in %s are ignored: browsers no longer accept them\n",
                 rules_file.c_str());
  }
  return [changes = std::move(read->changes)](const fs::path& from, const fs::path& to) {
    return apply_rules(changes, from, to);
  };
}

std::string inject_script(const ArchiveReader& from, const fs::path& to, const fs::path& script,
                          std::function<bool(const Exchange&)> selects) {
  auto const time = time_seed_of(from, exporting::choose_session(from, 0));
  auto read = read_script(
      script, [time](std::string source) { return fill_in(std::move(source), time, {}); });
  if (!read) return read.error();
  std::vector<Change> changes;
  changes.push_back(
      {.selects = std::move(selects), .extra_headers = {}, .script = std::move(*read)});
  auto const changed = write_copy(from, to, changes);
  return changed ? std::string() : changed.error();
}

}  // namespace reprise::wpr
