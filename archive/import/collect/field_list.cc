#include "archive/import/collect/field_list.h"

namespace reprise::importing {

void FieldList::add(Field field, bool is_cut) {
  auto const bytes = field.name.size() + field.value.size();
  if (is_cut || fields_.size() == kFieldsMax || bytes > kBytesMax - bytes_) {
    return report_.remark(std::string(kLongHeadRemark));
  }
  bytes_ += bytes;
  fields_.push_back(std::move(field));
}

}  // namespace reprise::importing
