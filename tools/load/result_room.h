#pragma once

// Whether a result can still be read again when more is added: the limits of its reader
// (pageload/results/result_file.h). Pure.

#include <cstddef>
#include <cstdint>
#include <string>

#include "pageload/results/load_result.h"

namespace reprise {

/// Counts the bytes that the loads of one result will take in its file.
class ResultRoom {
 public:
  /// `bytes_max`: of the file.
  explicit ResultRoom(std::uintmax_t bytes_max) : bytes_max_(bytes_max) {}

  /// The last load was added, with its replay.
  void add_last(const LoadResult& result);
  /// Whether another load like the last one would make the file too large.
  bool is_used_up() const { return bytes_ + last_bytes_ > bytes_max_; }

 private:
  std::uintmax_t bytes_max_;
  std::uintmax_t bytes_ = 0;
  std::uintmax_t last_bytes_ = 0;
};

/// "512 MiB, the limit of a result".
std::string result_limit_text();

}  // namespace reprise
