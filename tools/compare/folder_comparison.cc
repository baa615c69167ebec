#include "tools/compare/folder_comparison.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/measurements.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/compare/comparison_text.h"
#include "tools/compare/result_set_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// Whether it is another file of `reprise`, such as the corpus.json of `record`: these begin with
/// their schema.
bool is_other_file(const fs::path& path) {
  constexpr std::string_view kAny = R"({"schema":"reprise-)";
  constexpr std::string_view kResult = R"({"schema":"reprise-load/)";
  std::ifstream file(path, std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  std::erase_if(head, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return head.starts_with(kAny) && !head.starts_with(kResult);
}

std::vector<std::string> results_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() != ".json" || !it->is_regular_file(error)) continue;
    if (!is_other_file(path)) {
      names.push_back(path.filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Whether `reprise campaign collect` wrote the folder, with a folder in it for each side.
bool is_result_set(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "set.json", error) && fs::exists(folder / "cells.tsv", error);
}

/// ". In B alone: home.json", the first one; empty if A and B have the same names.
std::string only_in_one(const std::vector<std::string>& of_a,
                        const std::vector<std::string>& of_b) {
  std::vector<std::string> only;
  std::ranges::set_symmetric_difference(of_a, of_b, std::back_inserter(only));
  if (only.empty()) return {};
  bool const in_a = std::ranges::binary_search(of_a, only.front());
  return std::string(". In ") + (in_a ? "A" : "B") + " alone: " + printable(only.front());
}

/// Reasons, by page; a page without a known reason has none.
using Reasons = std::map<std::string, std::set<std::string>>;

/// Adds the pages of the result set that has `folder` as a side, if there is such a set, except
/// those with a file among `names`.
void add_pages_without_file(const fs::path& folder, const std::vector<std::string>& names,
                            Reasons& reasons) {
  std::error_code error;
  auto const side = fs::canonical(folder, error);
  if (error) return;
  ResultSetFile set(side.parent_path() / "set.json");
  if (!set.sides().contains(side.filename().string())) return;
  while (auto page = set.next_page()) {
    if (std::ranges::binary_search(names, page->name + ".json")) continue;
    auto& of_page = reasons[page->name];
    if (!page->failure.empty()) of_page.insert(std::move(page->failure));
  }
}

class FolderComparison {
 public:
  FolderComparison(fs::path a, fs::path b, CompareOptions options, const CompareFlags& flags)
      : a_(std::move(a)),
        b_(std::move(b)),
        alpha_(options.alpha),
        options_(std::move(options)),
        flags_(flags) {}

  int run() {
    for (const fs::path& folder : {a_, b_}) {
      if (!is_result_set(folder)) continue;
      std::fprintf(stderr,
                   "reprise: compare: %s is a whole result set. Name the folder of one side in it, "
                   "such as %s\n",
                   folder.c_str(), (folder / "A").c_str());
      return kExitFailed;
    }
    auto const of_a = results_in(a_);
    auto const of_b = results_in(b_);
    if (of_a == of_b) {
      add_pages_without_file(a_, of_a, not_compared_);
      add_pages_without_file(b_, of_b, not_compared_);
    }
    if (of_a != of_b || (of_a.empty() && not_compared_.empty())) {
      std::fprintf(stderr,
                   "reprise: compare: %s has %s, and %s has %s: they must have results (*.json) by "
                   "the same names%s\n",
                   a_.c_str(), counted(of_a.size(), "result").c_str(), b_.c_str(),
                   counted(of_b.size(), "result").c_str(), only_in_one(of_a, of_b).c_str());
      return kExitFailed;
    }
    if (!of_a.empty()) options_.alpha /= static_cast<double>(of_a.size());
    for (const std::string& name : of_a) {
      if (!compare_page(name)) return kExitFailed;
    }
    return finish();
  }

 private:
  bool compare_page(const std::string& name) {
    Measurements sides[2];
    for (auto const& [folder, side] : {std::pair{&a_, &sides[0]}, {&b_, &sides[1]}}) {
      auto read = read_measurements(*folder / name);
      if (!read) {
        std::fprintf(stderr, "reprise: %s is not a result of `reprise load -o`: %s\n",
                     (*folder / name).c_str(), read.error().c_str());
        return false;
      }
      *side = std::move(*read);
    }
    auto comparison = compare(sides[0], sides[1], options_);
    std::ranges::copy(setting_remarks(sides[0], sides[1]), std::back_inserter(comparison.remarks));
    auto const code = exit_code_of(comparison);
    ++counts_[code];
    codes_asked_for_.insert(exit_code_of(comparison, flags_));
    auto const page = name.substr(0, name.size() - 5);
    if (flags_.json) {
      pages_.push_back(
          {{"page", as_utf8(page)}, {"comparison", comparison_json(comparison, options_)}});
    } else {
      std::printf("%s", line_of(page, comparison, code).c_str());
    }
    return true;
  }

  std::string line_of(const std::string& page, const Comparison& comparison, int code) const {
    std::string text = align_left(
        code == kExitFailed ? "refused" : std::string(to_string(comparison.verdict)), 10);
    text += printable(page);
    if (!comparison.refusals.empty()) {
      return text + ": " + printable(refusal_text(comparison.refusals[0], options_)) + "\n";
    }
    for (const ComparedPage& cell : comparison.pages) {
      if (cell.failures_differ) text += "; " + failures_text(cell);
      for (const ComparedMetric& each : cell.metrics) {
        if (each.finding.verdict == Verdict::kDifferent) text += "; " + metric_summary(each);
      }
    }
    if (comparison.verdict == Verdict::kUndecided) {
      for (const std::string& each : undecided_reasons(comparison)) text += "; " + each;
    }
    for (const std::string& each : comparison.remarks) text += "; note: " + printable(each);
    return text + "\n";
  }

  static std::string why_not_compared(const std::set<std::string>& reasons) {
    std::string text = "neither A nor B has a result of this page";
    for (const std::string& each : reasons) text += "; " + each;
    return text;
  }

  void tell_not_compared() const {
    for (auto const& [page, reasons] : not_compared_) {
      Refusal const refusal{.difference = Mismatch::kPages, .text = why_not_compared(reasons)};
      std::printf("not compared: %s: %s\n", printable(page).c_str(),
                  printable(refusal_text(refusal, options_)).c_str());
    }
  }

  json::array not_compared_json() const {
    json::array out;
    for (auto const& [page, reasons] : not_compared_) {
      out.push_back({{"page", as_utf8(page)}, {"why", as_utf8(why_not_compared(reasons))}});
    }
    return out;
  }

  int finish() {
    std::size_t pages = 0;
    for (auto const& [code, count] : counts_) pages += count;
    bool const may_miss_pages = options_.allowed.contains(Mismatch::kPages) && pages > 0;
    if (!not_compared_.empty() && !may_miss_pages) codes_asked_for_.insert(kExitFailed);
    int code = kExitDone;
    for (int const each : {kExitUndecided, kExitFailed, kExitGate}) {
      if (codes_asked_for_.contains(each)) code = each;
    }
    if (flags_.json) {
      json::object const out{
          {"schema", "reprise-compare-set/1"},    {"alpha", alpha_},
          {"same", counts_[kExitDone]},           {"different", counts_[kExitGate]},
          {"undecided", counts_[kExitUndecided]}, {"refused", counts_[kExitFailed]},
          {"pages", std::move(pages_)},           {"not_compared", not_compared_json()}};
      std::printf("%s\n", json::serialize(out).c_str());
    } else {
      tell_not_compared();
      std::printf("%s: %zu same, %zu different, %zu undecided, %zu refused",
                  counted(pages, "page").c_str(), counts_[kExitDone], counts_[kExitGate],
                  counts_[kExitUndecided], counts_[kExitFailed]);
      if (!not_compared_.empty()) {
        std::printf("; %s not compared", counted(not_compared_.size(), "page").c_str());
      }
      std::printf("\n");
    }
    return code;
  }

  fs::path a_, b_;
  double alpha_;  ///< of all pages together
  CompareOptions options_;
  const CompareFlags& flags_;
  std::map<int, std::size_t> counts_;  ///< pages by exit code
  std::set<int> codes_asked_for_;      ///< of the pages, as --fail-on says
  json::array pages_;
  Reasons not_compared_;
};

}  // namespace

int compare_folders(const fs::path& a, const fs::path& b, CompareOptions options,
                    const CompareFlags& flags) {
  return FolderComparison(a, b, std::move(options), flags).run();
}

}  // namespace reprise
