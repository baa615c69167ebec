#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// What a person would read in the console's red lines: console.error and failed console.assert
/// (Runtime.consoleAPICalled), uncaught exceptions (Runtime.exceptionThrown), and the browser's own
/// errors such as a resource that failed (Log.entryAdded). nullopt for every other event. Pure.
std::optional<std::string> console_error_of(std::string_view method,
                                            const boost::json::object& params);

}  // namespace reprise
