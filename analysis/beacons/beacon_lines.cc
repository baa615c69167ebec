#include "analysis/beacons/beacon_lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

}  // namespace

BeaconLines::BeaconLines(Use use)
    : use_(std::move(use)), block_(kBlockBytes + BeaconReader::kPaddingBytes) {}

std::span<char> BeaconLines::space() {
  auto const capacity = block_.size() - BeaconReader::kPaddingBytes;
  if (begin_ > 0 && end_ > capacity / 2) {
    std::copy(block_.begin() + static_cast<std::ptrdiff_t>(begin_),
              block_.begin() + static_cast<std::ptrdiff_t>(end_), block_.begin());
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ == capacity) block_.resize(2 * capacity + BeaconReader::kPaddingBytes);
  return std::span(block_).subspan(end_, block_.size() - BeaconReader::kPaddingBytes - end_);
}

void BeaconLines::written(std::size_t size) {
  auto searched = end_;
  end_ += size;
  while (true) {
    auto const* const newline =
        static_cast<const char*>(std::memchr(block_.data() + searched, '\n', end_ - searched));
    if (newline == nullptr) break;
    auto const at = static_cast<std::size_t>(newline - block_.data());
    read_line({block_.data() + begin_, at - begin_});
    begin_ = searched = at + 1;
  }
  if (end_ - begin_ > BeaconReader::kLineBytesMax) is_too_long_ = true;
  if (is_too_long_ || begin_ == end_) begin_ = end_ = 0;
}

void BeaconLines::finish() {
  if (begin_ < end_ || is_too_long_) read_line({block_.data() + begin_, end_ - begin_});
  begin_ = end_ = 0;
}

void BeaconLines::read_line(std::string_view line) {
  ++number_;
  if (std::exchange(is_too_long_, false)) {
    ++counts_.lines;
    return count_bad("the line is longer than 16 MiB");
  }
  if (trim(line).empty()) return;
  ++counts_.lines;
  auto const view = reader_.read_padded(line);
  if (view) {
    ++counts_.views;
    use_(**view, number_);
  } else if (view.error().is_other_beacon) {
    ++counts_.other_beacons;
  } else {
    count_bad(view.error().why);
  }
}

void BeaconLines::count_bad(std::string why) {
  if (++counts_.bad_lines > 1) return;
  counts_.first_bad_line = number_;
  counts_.first_bad_why = std::move(why);
}

}  // namespace reprise
