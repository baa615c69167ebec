#pragma once

// What `reprise view` reads becomes the model of its page: the results of page loads, and archives.

#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <string_view>

#include "archive/reader.h"
#include "view/model.h"

namespace reprise {

/// Adds a result (pageload/results/RESULTS.md), called `name` in the page. What is missing in it,
/// or of another type than it should be, is not known. Error: a sentence that says why this is no
/// result. Pure.
std::expected<void, std::string> add_result(const boost::json::value& result, std::string_view name,
                                            ViewModel& model);

/// Adds an archive, called `name` in the page: each session is a load, by the recorded times.
/// Damaged exchanges are not shown, but mentioned in the remarks.
void add_archive(const ArchiveReader& archive, std::string_view name, ViewModel& model);

}  // namespace reprise
