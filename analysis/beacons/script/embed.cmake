# Makes the script, minified, and a C++ source of it: cmake -DESBUILD=... -DSCRIPT=beacon.js
# -DMINIFIED=beacon.min.js -DOUTPUT=beacon_script.cc -P embed.cmake.
execute_process(COMMAND ${ESBUILD} --minify --charset=ascii --target=es5 --log-level=warning
                        ${SCRIPT}
                OUTPUT_VARIABLE minified COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${minified}" minified)
file(WRITE ${MINIFIED} "${minified}\n")
file(WRITE ${OUTPUT} "#include \"analysis/beacons/beacon_script.h\"

namespace reprise {

std::string_view beacon_script() {
  return R\"js(${minified}\n)js\";
}

}  // namespace reprise
")
