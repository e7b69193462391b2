# One interface target carries the flags that every object of the project is built with.
add_library(uvea_flags INTERFACE)
target_include_directories(uvea_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(uvea_flags INTERFACE
    -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -fno-strict-aliasing -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(uvea_flags INTERFACE _GNU_SOURCE)
if(UVEA_SANITIZE)
    target_compile_options(uvea_flags INTERFACE -fsanitize=${UVEA_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(uvea_flags INTERFACE -fsanitize=${UVEA_SANITIZE})
endif()
if(UVEA_COVERAGE)
    target_compile_options(uvea_flags INTERFACE --coverage)
    target_link_options(uvea_flags INTERFACE --coverage)
endif()

# uvea_module(NAME SOURCES file... DEPS module... LIBS external...)
#
# Builds the static library uvea_NAME, and its twin uvea_NAME_alarm in which the planted faults of
# core/base/plant.h can be switched on. Nothing that is shipped links a twin.
function(uvea_module name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
    foreach(suffix "" "_alarm")
        set(target uvea_${name}${suffix})
        add_library(${target} STATIC ${ARG_SOURCES})
        target_link_libraries(${target} PUBLIC uvea_flags ${ARG_LIBS})
        foreach(dep ${ARG_DEPS})
            target_link_libraries(${target} PUBLIC uvea_${dep}${suffix})
        endforeach()
        if(suffix STREQUAL "_alarm")
            target_compile_definitions(${target} PUBLIC UVEA_ALARM=1)
        endif()
    endforeach()
endfunction()

# uvea_test(NAME SOURCES file... DEPS module... [TIMEOUT seconds])
#
# One cmocka program, one ctest entry. Exit status 77 is reported as skipped.
function(uvea_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
    add_executable(test_${name} ${ARG_SOURCES})
    target_link_libraries(test_${name} PRIVATE uvea_flags PkgConfig::CMOCKA)
    foreach(dep ${ARG_DEPS})
        target_link_libraries(test_${name} PRIVATE uvea_${dep})
    endforeach()
    target_compile_definitions(test_${name} PRIVATE
        UVEA_TEST_DATA="${CMAKE_SOURCE_DIR}/../shared/data" UVEA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND test_${name})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${ARG_TIMEOUT})
endfunction()
