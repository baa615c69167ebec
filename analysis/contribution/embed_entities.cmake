# Makes one C++ source of third-party-web's entities: cmake -DENTITIES=FILE -DOUTPUT=FILE -P
# embed_entities.cmake. Without a file the text is empty.
set(text "")
if(ENTITIES)
  file(READ ${ENTITIES} text)
endif()
if(text MATCHES "\\)json\"")
  message(FATAL_ERROR "${ENTITIES} would end early")
endif()
file(WRITE ${OUTPUT} "#include \"analysis/contribution/entities.h\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace reprise {

const std::string_view kEntitiesText = R\"json(${text})json\";

}  // namespace reprise
")
