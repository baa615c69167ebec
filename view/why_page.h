#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace reprise {

/// A whole HTML document that shows `report`, as `reprise why --json` prints it (docs/why.md). It
/// needs no network, and its policy permits only its own script and style. Texts may be any bytes:
/// those that are not UTF-8 become U+FFFD. Pure.
std::string why_page(const boost::json::object& report);

}  // namespace reprise
