# Checks a small XML document strictly: one declaration, elements that close in order, quoted
# attributes without raw markup, entities that exist, one root, nothing but space outside it.
{ text = text $0 "\n" }

function bad(what) {
    print "not well-formed: " what
    failed = 1
    exit 1
}

# Character data or an attribute's value.
function check_plain(plain) {
    if (plain ~ /[<>]/) { bad("raw markup in: " plain) }
    gsub(/&(amp|lt|gt|quot|apos);/, "", plain)
    if (plain ~ /&/) { bad("a raw ampersand in: " plain) }
    if (plain ~ /[\001-\010\013\014\016-\037]/) { bad("a control character") }
}

function check_attributes(attributes,    name, value, seen) {
    while (match(attributes, /^[ \t\n]+[A-Za-z][A-Za-z0-9_-]*="[^"]*"/)) {
        name = substr(attributes, 1, RLENGTH)
        attributes = substr(attributes, RLENGTH + 1)
        value = name
        sub(/^[^"]*"/, "", value)
        sub(/"$/, "", value)
        sub(/=.*/, "", name)
        gsub(/[ \t\n]/, "", name)
        if (index(seen, "," name ",")) { bad("attribute " name " twice") }
        seen = seen "," name ","
        check_plain(value)
    }
    if (attributes !~ /^[ \t\n]*$/) { bad("attributes: " attributes) }
}

function tag(inside,    name, empty) {
    if (inside ~ /^\//) {
        name = substr(inside, 2)
        if (depth == 0 || stack[depth] != name) { bad("</" name "> closes nothing") }
        depth--
        return
    }
    empty = inside ~ /\/$/
    sub(/\/$/, "", inside)
    if (!match(inside, /^[A-Za-z][A-Za-z0-9_-]*/)) { bad("<" inside ">") }
    name = substr(inside, 1, RLENGTH)
    check_attributes(substr(inside, RLENGTH + 1))
    if (depth == 0 && roots++ > 0) { bad("a second root") }
    if (!empty) { stack[++depth] = name }
}

END {
    if (failed) { exit 1 }
    if (!sub(/^<\?xml version="1\.0" encoding="UTF-8"\?>/, "", text)) { bad("no declaration") }
    while ((open = index(text, "<")) > 0) {
        before = substr(text, 1, open - 1)
        check_plain(before)
        if (depth == 0 && before !~ /^[ \t\n]*$/) { bad("text outside the root") }
        text = substr(text, open + 1)
        close_at = index(text, ">")
        if (close_at == 0) { bad("a tag without end") }
        tag(substr(text, 1, close_at - 1))
        text = substr(text, close_at + 1)
    }
    if (text !~ /^[ \t\n]*$/) { bad("text behind the root") }
    if (depth != 0) { bad(stack[depth] " is not closed") }
    if (roots != 1) { bad("no root") }
}
