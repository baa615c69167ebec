# Makes one C++ source of the script's parts: cmake -DESBUILD=... -DOUTPUT=... -DPARTS=a.js;b.js
# -DBOOT=boot.js -P embed.cmake. Minified, since every document of a replay carries it.
set(body "")
foreach(part IN LISTS PARTS)
  file(READ ${part} text)
  string(APPEND body "${text}\n")
endforeach()
file(READ ${BOOT} boot)
string(REPLACE "PARTS" "function reprise(realm, config) {\n'use strict';\n${body}}" script "${boot}")
set(whole ${OUTPUT}.js)
file(WRITE ${whole} "${script}")
execute_process(COMMAND ${ESBUILD} --minify --charset=ascii --target=es2020 --log-level=warning
                        ${whole}
                OUTPUT_VARIABLE minified COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${minified}" minified)
# In parentheses a function is compiled at once; otherwise V8 parses it twice. esbuild removes them.
string(REPLACE "})(function " "})((function " minified "${minified}")
string(REPLACE ",CONFIG)" "),CONFIG)" minified "${minified}")
file(WRITE ${OUTPUT} "#include \"inject/deterministic.h\"

namespace reprise::inject {

const std::string_view kScriptTemplate = R\"js(${minified})js\";

}  // namespace reprise::inject
")
