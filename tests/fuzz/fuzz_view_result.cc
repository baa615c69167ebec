// Any JSON becomes a model or a reason why not; a model's text holds nothing that could end a
// script element, and reads as JSON.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "view/inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = boost::json;
  std::error_code error;
  auto const result =
      json::parse(std::string_view(reinterpret_cast<const char*>(data), size), error);
  if (error) return 0;
  reprise::ViewModel model;
  if (!reprise::add_result(result, "a.json", model)) return 0;
  auto const text = std::move(model).text();
  if (text.find_first_of("<>&") != std::string::npos) std::abort();
  auto const read = json::parse(text, error);
  if (error || !read.is_object()) std::abort();
  return 0;
}
