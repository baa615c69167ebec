// Any result becomes a model, with its secrets and without; a model's text holds nothing that could
// end a script element, and reads as JSON.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pageload/results/result_file.h"
#include "view/inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const result = reprise::read_result({reinterpret_cast<const char*>(data), size});
  if (!result) return 0;
  reprise::Redaction redaction;
  for (auto const& load : result->loads) {
    for (auto const& request : load.page.requests) {
      if (!redaction.learn(request.url)) std::abort();
    }
  }
  for (auto* const shown : {static_cast<reprise::Redaction*>(nullptr), &redaction}) {
    reprise::ViewModel model(shown);
    reprise::add_result(*result, "a.json", model);
    auto const text = std::move(model).text();
    if (text.find_first_of("<>&") != std::string::npos) std::abort();
    boost::json::error_code error;
    auto const read = boost::json::parse(text, error);
    if (error || !read.is_object()) std::abort();
  }
  return 0;
}
