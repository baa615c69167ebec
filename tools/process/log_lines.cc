#include "tools/process/log_lines.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/text/printable.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

constexpr char kPrintableFlag = 'Q';  // unused by spdlog

class PrintableMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const tm&,
              spdlog::memory_buf_t& line) override {
    auto const text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableMessage>();
  }
};

}  // namespace

void log_to_stderr(const std::string& level) {
  auto const log = spdlog::stderr_color_mt("reprise");
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableMessage>(kPrintableFlag);
  formatter->set_pattern(std::string("reprise: %") + kPrintableFlag);
  log->set_formatter(std::move(formatter));
  log->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(log);
}

}  // namespace reprise
