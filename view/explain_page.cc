#include "view/explain_page.h"

#include <boost/json/serialize.hpp>

#include "base/text/printable.h"
#include "view/model.h"
#include "view/page_parts.h"

namespace reprise {

std::string explain_page(const boost::json::object& explanation) {
  return page_of(kExplainParts, script_safe(as_utf8(boost::json::serialize(explanation))));
}

}  // namespace reprise
