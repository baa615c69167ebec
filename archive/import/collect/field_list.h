#pragma once

#include <string_view>
#include <utility>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// For users, about the limits of a head.
inline constexpr std::string_view kLongHeadRemark =
    "some heads have more than 65,536 fields or 1 MiB: some of their fields are skipped";

/// For users, about other texts that are too long.
inline constexpr std::string_view kLongTextRemark =
    "some texts are longer than 1 MiB and are skipped";

/// The fields of one head that a recording lists one by one: at most kFieldsMax, with kBytesMax of
/// text. Skips the others, with a remark.
class FieldList {
 public:
  static constexpr std::size_t kBytesMax = 1 << 20;

  explicit FieldList(ImportReport& report) : report_(report) {}

  /// `is_cut`: a part of its text is missing, so it is skipped.
  void add(Field field, bool is_cut);
  Fields take() { return std::move(fields_); }

 private:
  ImportReport& report_;
  Fields fields_;
  std::size_t bytes_ = 0;
};

}  // namespace reprise::importing
