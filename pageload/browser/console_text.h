#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// The text of an error in the console: console.error and failed console.assert
/// (Runtime.consoleAPICalled), uncaught exceptions (Runtime.exceptionThrown), and errors of the
/// browser, such as a failed resource (Log.entryAdded). nullopt for all other events. Pure.
std::optional<std::string> console_error_of(std::string_view method,
                                            const boost::json::object& params);

}  // namespace reprise
