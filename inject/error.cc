#include "inject/error.h"

#include <string>

namespace reprise::inject {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "inject"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::unfit_script:
        return "the script cannot be embedded in every document: it must be ASCII without carriage "
               "returns, \"</script\", \"<!--\" and \"]]>\"";
    }
    return "unknown injection error";
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

}  // namespace reprise::inject
