# Prints the option table of a page from the table in a header: docs/scenario.md from
# sim/scenario/option.h, docs/uvead.md from core/daemon/key.h.
/^#define UVEA_(OPTIONS|KEYS)\(/ { inside = 1; text = ""; next }
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
    count = split(text, entry, /(NUMBER|CHOICE|TEXT)\(/)
    for (i = 2; i <= count; i++) {
        row(entry[i])
    }
    exit count < 2
}

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# What a text is, by its kind.
function kind_text(kind) {
    if (kind == "NAME") { return "a name" }
    if (kind == "ADDRESS") { return "host:port" }
    if (kind == "ADDRESSES") { return "[host:port, host:port, host:port]" }
    if (kind == "FILE") { return "a file" }
    if (kind == "FILES") { return "[file, file, file]" }
    if (kind == "CPUS") { return "processors" }
    return "a text"
}

# section, name, then: default, low and high; default and choices; or kind and default; then the
# meaning. A default of NULL is none, "" is nothing.
function row(s,    part, meaning, allowed, key, value) {
    match(s, /"[^"]*"\)[ \t]*$/)
    meaning = substr(s, RSTART + 1, RLENGTH)
    sub(/"\).*/, "", meaning)
    split(s, part, ",")
    key = trim(part[1]) == "root" ? trim(part[2]) : trim(part[1]) "." trim(part[2])
    value = trim(part[3])
    allowed = trim(part[4])
    if (value ~ /^[A-Z]+$/ && value != "NULL") {
        value = allowed
        allowed = kind_text(trim(part[3]))
    } else if (value ~ /^"/ || value == "NULL") {
        gsub(/"/, "", allowed)
        if (allowed in constants) { allowed = constants[allowed] }
        gsub(/ /, ", ", allowed)
    } else {
        allowed = allowed ".." (trim(part[5]) == "UINT64_MAX" ? "2^64-1" : trim(part[5]))
    }
    if (value == "NULL") { value = "must be given" }
    gsub(/"/, "", value)
    printf "| `%s` | %s | %s | %s |\n", key, value, allowed, meaning
}
