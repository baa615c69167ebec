#include "base/coding/error.h"

#include <string>

namespace reprise::coding {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "coding"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::unknown_coding:
        return "unknown Content-Encoding";
      case errc::not_that_coding:
        return "the body does not match its Content-Encoding";
      case errc::truncated:
        return "the coded body ends early";
      case errc::too_large:
        return "the body decodes to more than the limit";
      case errc::bomb:
        return "the body decodes to far more than its size: a decompression bomb";
    }
    return "unknown coding error";
  }
};

}  // namespace

const std::error_category& category() {
  static const Category instance;
  return instance;
}

std::error_code make_error_code(errc error) {
  return {static_cast<int>(error), category()};
}

}  // namespace reprise::coding
