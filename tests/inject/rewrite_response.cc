// Rewrites one response, for browser_test.py: header lines, an empty line and the body from stdin,
// the same to stdout, with the script that the argument is. Nothing comes out, and the exit status
// is 3, when the response stays as it is.

#include <iostream>
#include <iterator>
#include <string>

#include "inject/rewrite.h"
#include "tests/inject/find_place.h"

using namespace reprise;
using namespace reprise::inject;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto const script = InjectedScript::create({.document = {argv[1]}, .worker = argv[1]});
  if (!script) return 2;
  std::string const input((std::istreambuf_iterator<char>(std::cin)),
                          std::istreambuf_iterator<char>());
  std::string_view rest = input;
  std::vector<HeaderView> headers;
  while (!rest.empty() && !rest.starts_with('\n')) {
    auto const end = std::min(rest.find('\n'), rest.size());
    auto const line = rest.substr(0, end);
    auto const colon = std::min(line.find(": "), line.size());
    headers.push_back(
        {.name = line.substr(0, colon), .value = line.substr(std::min(colon + 2, line.size()))});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  auto const done = rewrite(*script, 200, headers, bytes_of(rest), {});
  if (done.report.verdict != Verdict::kRewritten) return 3;
  for (const HeaderView& field : done.headers.list()) {
    std::cout << field.name << ": " << field.value << '\n';
  }
  std::cout << '\n'
            << std::string_view(reinterpret_cast<const char*>(done.body.data()), done.body.size());
}
