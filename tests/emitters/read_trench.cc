// For tests of emitters: reads lines from stdin, each a JSON array with the Banky-Trace fields of a
// response. Writes a line for each: the trace as JSON, "url=" and its URL, or "error: " and why.

#include <boost/json.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/trench/trench_fields.h"
#include "analysis/trench/trench_json.h"

using namespace reprise;

namespace {

std::string answer(const std::string& line) {
  auto const values = boost::json::parse(line);
  std::vector<HeaderView> fields;
  for (auto const& value : values.as_array()) fields.push_back({kTrenchField, value.as_string()});
  auto const read = read_trench_fields(fields);
  if (!read) return "error: " + read.error();
  if (!read->trace) return "url=" + read->url;
  return trench_json(*read->trace);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;
}
