# Prints the option table of docs/scenario.md from the table in sim/scenario/option.h.
/^#define UVEA_OPTIONS\(/ { inside = 1; text = ""; next }
/^#define [A-Z0-9_]+ "/ {
    constant = $0
    sub(/^[^"]*"/, "", constant)
    sub(/".*/, "", constant)
    constants[$2] = constant
}
inside {
    line = $0
    more = sub(/[ \t]*\\$/, "", line)
    text = text " " line
    if (!more) { inside = 0 }
}
END {
    print "| key | default | allowed | meaning |"
    print "|---|---|---|---|"
    count = split(text, entry, /(NUMBER|CHOICE)\(/)
    for (i = 2; i <= count; i++) {
        row(entry[i])
    }
    exit count < 2
}

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# section, name, default, then low and high or the choices, then the meaning
function row(s,    part, meaning, allowed, key, value) {
    match(s, /"[^"]*"\)[ \t]*$/)
    meaning = substr(s, RSTART + 1, RLENGTH)
    sub(/"\).*/, "", meaning)
    split(s, part, ",")
    key = trim(part[1]) == "root" ? trim(part[2]) : trim(part[1]) "." trim(part[2])
    value = trim(part[3])
    if (value ~ /^"/) {
        gsub(/"/, "", value)
        allowed = trim(part[4])
        gsub(/"/, "", allowed)
        if (allowed in constants) { allowed = constants[allowed] }
        gsub(/ /, ", ", allowed)
    } else {
        allowed = trim(part[4]) ".." (trim(part[5]) == "UINT64_MAX" ? "2^64-1" : trim(part[5]))
    }
    printf "| `%s` | %s | %s | %s |\n", key, value, allowed, meaning
}
