#pragma once

// A load as an HTTP archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), as
// measured: without bodies, headers and cookies, which a result does not have.

#include <boost/json/object.hpp>

#include "pageload/results/load_result.h"

namespace reprise {

/// Pure.
boost::json::object har_of(const PageLoad& load, const LoadResult::Browser& browser);

}  // namespace reprise
