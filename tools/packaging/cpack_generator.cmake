# Read by cpack before each package. A .deb strips its binaries itself, to keep their debug symbols
# in a package beside it; the tarball comes without them.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_STRIP_FILES ON)
endif()
