// Reads a report of `reprise why` as JSON from standard input and writes its page to standard
// output.

#include <boost/json/parse.hpp>
#include <iostream>
#include <iterator>
#include <string>

#include "view/why_page.h"

int main() {
  std::string const text(std::istreambuf_iterator<char>(std::cin), {});
  std::cout << reprise::why_page(boost::json::parse(text).as_object());
}
