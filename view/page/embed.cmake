# Makes one C++ source of the parts of all pages: cmake -DESBUILD=... -DNODE_MODULES=...
# -DFOLDER=... -DOUTPUT=... -P embed.cmake. Of each page one script, with what it uses of the
# charts' library and of the other page in it, and one style, minified.
function(bundle name file)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${NODE_MODULES}
                          ${ESBUILD} --bundle --minify --charset=ascii --target=es2020
                          --format=iife --log-level=warning ${FOLDER}/${file}
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${text}" text)
  if("${text}" MATCHES "<!--|</|\\)view\"")
    message(FATAL_ERROR "${file} would end early: ${CMAKE_MATCH_0}")
  endif()
  set(${name} "${text}" PARENT_SCOPE)
endfunction()

bundle(view_style page/style.css)
bundle(view_script page/main.js)
bundle(explain_style explain/style.css)
bundle(explain_script explain/main.js)
bundle(why_style why/style.css)
bundle(why_script why/main.js)
file(READ ${FOLDER}/page/page.html markup)
file(WRITE ${OUTPUT} "#include \"view/page_parts.h\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace reprise {

const std::string_view kPageMarkup = R\"view(${markup})view\";
const PageParts kViewParts = {.title = \"reprise view\",
                              .style = R\"view(${view_style})view\",
                              .script = R\"view(${view_script})view\"};
const PageParts kExplainParts = {.title = \"reprise explain\",
                                 .style = R\"view(${explain_style})view\",
                                 .script = R\"view(${explain_script})view\"};
const PageParts kWhyParts = {.title = \"reprise why\",
                             .style = R\"view(${why_style})view\",
                             .script = R\"view(${why_script})view\"};

}  // namespace reprise
")
