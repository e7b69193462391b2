# The interface target uvea_build_id_header gives #include "uvea_build_id.h", which defines
# UVEA_BUILD_ID: the commit, with -dirty when tracked files differ from it, or "unknown" outside a
# git checkout. The command prints it; nothing that enters a run's hash may use it.
#
# The commit is asked for at every build, but the header is rewritten only when it changed, so only
# the files that include it are compiled again.
set(UVEA_BUILD_ID_DIR ${CMAKE_BINARY_DIR}/generated)
add_custom_target(uvea_build_id
    BYPRODUCTS ${UVEA_BUILD_ID_DIR}/uvea_build_id.h
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR}
            -DHEADER=${UVEA_BUILD_ID_DIR}/uvea_build_id.h
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteBuildId.cmake
    COMMENT "Asking git for the build id" VERBATIM)
add_library(uvea_build_id_header INTERFACE)
target_include_directories(uvea_build_id_header INTERFACE ${UVEA_BUILD_ID_DIR})
add_dependencies(uvea_build_id_header uvea_build_id)
