#include "tools/wpr/ruled_archive.h"

#include <cstdio>
#include <map>

#include "archive/copy.h"
#include "base/bytes.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "inject/rewrite.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"
#include "tools/wpr/rules.h"
#include "tools/wpr/script_text.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 16 << 20;
constexpr std::uint64_t kDocumentBytesMax = 64 << 20;

struct ReadRules {
  std::vector<Rule> rules;
  std::vector<std::optional<inject::InjectedScript>> scripts;  ///< by rule
};

std::expected<ReadRules, std::string> read_rules(const fs::path& file) {
  auto const text = read_text_file(file, kFileBytesMax);
  if (!text)
    return std::unexpected("--rules_file " + file.string() + ": " + text.error().message());
  auto rules = parse_rules(*text, file.parent_path());
  if (!rules) return std::unexpected("--rules_file " + file.string() + ": " + rules.error());
  ReadRules read{.rules = std::move(*rules)};
  for (const Rule& rule : read.rules) {
    auto& script = read.scripts.emplace_back();
    if (rule.script.empty()) continue;
    auto const source = read_text_file(rule.script, kFileBytesMax);
    if (!source) return std::unexpected(rule.script.string() + ": " + source.error().message());
    auto made =
        inject::InjectedScript::create({.document = {fit_for_documents(*source)}, .worker = {}});
    if (!made) return std::unexpected(rule.script.string() + ": " + made.error().message());
    script = std::move(*made);
  }
  return read;
}

class RuledCopy final : public ArchiveCopy {
 public:
  RuledCopy(const ArchiveReader& from, ArchiveWriter& to, const ReadRules& read)
      : ArchiveCopy(from, to), read_(read) {}

  std::size_t changed() const { return changed_; }

 private:
  Result<void> carry(std::uint32_t, Exchange& exchange) override {
    auto const url = url_of(exchange.request);
    std::optional<std::vector<std::byte>> body;
    bool changes = false;
    for (std::size_t i = 0; i < read_.rules.size(); ++i) {
      if (exchange.response.status == 0 || !read_.rules[i].selects(url)) continue;
      changes = true;
      add_fields(exchange, read_.rules[i].extra_headers);
      if (read_.scripts[i]) inject(exchange, *read_.scripts[i], body);
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
    return {};
  }

  static void add_fields(Exchange& exchange, const Headers& extra) {
    auto const old = exchange.response.headers.list();
    std::vector<HeaderView> fields(old.begin(), old.end());
    fields.insert(fields.end(), extra.list().begin(), extra.list().end());
    exchange.response.headers = Headers(HeaderList(fields));
  }

  /// Into a whole document; others stay as they are.
  void inject(Exchange& exchange, const inject::InjectedScript& script,
              std::optional<std::vector<std::byte>>& body) {
    if (exchange.outcome != Outcome::kComplete) return;
    if (!body) {
      auto read = from().read_body(exchange.response.body, kDocumentBytesMax);
      if (!read) return;
      body = std::move(*read);
    }
    auto rewritten = inject::rewrite(script, exchange.response.status,
                                     exchange.response.headers.list(), *body, {});
    if (rewritten.report.verdict != inject::Verdict::kRewritten) return;
    exchange.response.headers = std::move(rewritten.headers);
    body->assign(rewritten.body.begin(), rewritten.body.end());
  }

  const ReadRules& read_;
  std::size_t changed_ = 0;
};

int write_copy(const ReadRules& read, const fs::path& from, const fs::path& to) {
  auto const archive = ArchiveReader::open(from, {});
  if (!archive) {
    say_error(archive_error_text(from, archive.error()));
    return kExitArchive;
  }
  auto writer = ArchiveWriter::create(to, {});
  auto copied = writer ? Result<void>() : fail(writer.error());
  std::size_t changed = 0;
  if (copied) {
    RuledCopy copy(**archive, **writer, read);
    copied = copy.run();
    changed = copy.changed();
  }
  if (copied) copied = (*writer)->close();
  if (!copied) {
    say_error("the rules cannot be applied to " + from.string() + ": " + copied.error().message());
    return kExitArchive;
  }
  std::fprintf(stderr, "rules: %s changed\n", counted(changed, "response").c_str());
  return kExitDone;
}

}  // namespace

std::expected<std::function<int(const fs::path&, const fs::path&)>, std::string> ruled_copy(
    const fs::path& rules_file) {
  auto read = read_rules(rules_file);
  if (!read) return std::unexpected(read.error());
  for (const Rule& rule : read->rules) {
    if (!rule.pushes) continue;
    std::fprintf(stderr, "reprise: pushes in %s are ignored: browsers no longer accept them\n",
                 rules_file.c_str());
    break;
  }
  return [read = std::move(*read)](const fs::path& from, const fs::path& to) {
    return write_copy(read, from, to);
  };
}

}  // namespace reprise::wpr
