#pragma once

// A load as an HTTP archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), as it was
// measured: bodies, headers and cookies are not in it, since a result has none.

#include <boost/json/object.hpp>

#include "pageload/results/load_result.h"

namespace reprise {

/// Pure.
boost::json::object har_of(const PageLoad& load, const LoadResult::Browser& browser);

}  // namespace reprise
