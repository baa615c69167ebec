# Makes one C++ source of the page's parts: cmake -DESBUILD=... -DNODE_MODULES=... -DFOLDER=...
# -DOUTPUT=... -P embed.cmake. One script with the charts' library in it, minified.
execute_process(COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${NODE_MODULES}
                        ${ESBUILD} --bundle --minify --charset=ascii --target=es2020 --format=iife
                        --log-level=warning ${FOLDER}/main.js
                OUTPUT_VARIABLE script COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${ESBUILD} --minify --charset=ascii --log-level=warning ${FOLDER}/style.css
                OUTPUT_VARIABLE style COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FOLDER}/page.html markup)
string(STRIP "${script}" script)
string(STRIP "${style}" style)
foreach(part script style)
  if(${part} MATCHES "<!--|</|\\)view\"")
    message(FATAL_ERROR "The page's ${part} would end early: ${CMAKE_MATCH_0}")
  endif()
endforeach()
file(WRITE ${OUTPUT} "#include \"view/page.h\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace reprise {

const std::string_view kViewMarkup = R\"view(${markup})view\";
const std::string_view kViewStyle = R\"view(${style})view\";
const std::string_view kViewScript = R\"view(${script})view\";

}  // namespace reprise
")
