# Reads CMake's compile_commands.json and writes it with one entry per source file, the first one
# that is not an alarm twin's.
/^\{/ { entry = ""; alarm = 0; file = "" }
/^\{/, /^\}/ {
    entry = entry $0 "\n"
    if (/-DUVEA_ALARM=1/) { alarm = 1 }
    if (/^ *"file":/) { file = $0 }
}
/^\}/ {
    if (!alarm && !(file in seen)) {
        seen[file] = 1
        sub(/,?\n$/, "", entry)
        out = out (out == "" ? "" : ",\n") entry
    }
}
END { printf "[\n%s\n]\n", out }
