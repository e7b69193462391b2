# Run as a script: -DHEADER=... -DTABLE=... -DOUT=... -DFILES=a;b;c
# Writes a C file that defines TABLE, declared in HEADER: one {name, text, bytes} per file, its name
# without directory and ending.
cmake_minimum_required(VERSION 3.25)
set(arrays "")
set(rows "")
foreach(file ${FILES})
    get_filename_component(name ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} array)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const uint8_t ${array}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${name}\", ${array}, sizeof(${array})},\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\n${arrays}\nconst struct ${TABLE}[] = {\n${rows}    {0},\n};\n")
