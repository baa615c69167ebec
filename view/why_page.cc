#include "view/why_page.h"

#include <boost/json/serialize.hpp>

#include "base/text/printable.h"
#include "view/model.h"
#include "view/page_parts.h"

namespace reprise {

std::string why_page(const boost::json::object& report) {
  return page_of(kWhyParts, script_safe(as_utf8(boost::json::serialize(report))));
}

}  // namespace reprise
