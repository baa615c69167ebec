#include "tools/partials/engine_lines.h"

#include <cstdio>
#include <fstream>
#include <string>

#include "base/system/last_error.h"
#include "tools/commands.h"
#include "tools/partials/line_input.h"

namespace reprise {

void count_for_engine(const char* name, std::uint64_t number) {
  std::fprintf(stderr, "reporter:counter:reprise,%s,%llu\n", name,
               static_cast<unsigned long long>(number));
}

PartialSink LineOutput::sink() {
  return [this](std::string_view line) {
    good_ = good_ && std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  };
}

bool LineOutput::finish(const char* command) {
  good_ = std::fflush(stdout) == 0 && good_;
  if (!good_) say_of(command, "cannot write: " + last_system_error().message());
  return good_;
}

std::string first_key_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string start(ShortLines::kBytesMax, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  PartialLine line;
  bool const is_one = read_partial_line(std::string_view(start).substr(0, start.find('\n')), line);
  return is_one ? std::string(line.key) : std::string();
}

int merge_partials(const char* command, const std::vector<std::filesystem::path>& inputs) {
  LineOutput output;
  PartialMerge merge(output.sink());
  std::string fault;
  // After a fault the rest is read and dropped, so that whatever writes it does not fail.
  bool const read = read_lines(command, inputs, [&](std::string_view line) {
    if (fault.empty()) fault = merge.add(line);
  });
  if (!read) return kExitTryAgain;
  count_for_engine("lines", merge.lines());
  count_for_engine("bad_lines", merge.bad_lines());
  if (merge.bad_lines() > 0) {
    say_of(command,
           "line " + std::to_string(merge.first_bad_line()) + " skipped: not a partial result");
  }
  if (!fault.empty()) {
    say_of(command, fault);
    return kExitHopelessData;
  }
  merge.finish();
  if (!output.finish(command)) return kExitTryAgain;
  return merge.bad_lines() > 0 && merge.bad_lines() == merge.lines() ? kExitHopelessData
                                                                     : kExitDone;
}

}  // namespace reprise
