# Run as a script: -DSOURCE_DIR=... -DHEADER=...
set(id "unknown")
find_program(GIT git)
if(GIT)
    # A copy of the sources inside somebody else's checkout must not take that checkout's commit.
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-prefix
        OUTPUT_VARIABLE prefix RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0 AND prefix STREQUAL "")
        execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
            OUTPUT_VARIABLE described RESULT_VARIABLE status ERROR_QUIET
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(status EQUAL 0)
            set(id ${described})
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define UVEA_BUILD_ID \"${id}\"\n" @ONLY)
