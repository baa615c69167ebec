#pragma once

// A load as an HTTP archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), as it was
// measured: bodies, headers and cookies are not in it, since a result has none.

#include <boost/json/object.hpp>

namespace reprise {

/// Of a load as RESULTS.md has it and an object of its `browsers`. What is missing has its default:
/// the load may be somebody else's. Pure.
boost::json::object har_of(const boost::json::object& load, const boost::json::object& browser);

}  // namespace reprise
