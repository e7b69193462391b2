# The project's own rules, each ban with its replacement. POSIX awk, run from the source root:
# awk -f tests/lint/rules.awk FILE...
#
# A finding is "file:line: [rule] sentence". Bans look at code only: comments and the contents of
# strings are blanked first. The rules for text (unfinished work, machine paths) look at whole lines
# and are the only ones for files that are not C. A file that is included several times over, without
# guard and not to be compiled alone, ends in .inc.

BEGIN {
    function_lines_max = 80
    file_lines_max = 600
    left = "(^|[^A-Za-z0-9_.>])(" # before a name that is no member access
    declare_layers()
    declare_generated()
    declare_bans()
}

# ---- the dependency table: which folders' headers a folder may include

function declare_layers(    low) {
    low = " core/base core/rt "
    may["core/base"] = " core/base "
    may["core/rt"] = low
    may["core/ring"] = low "core/ring "
    may["core/field"] = low "core/field "
    may["core/iris"] = low "core/ring core/iris "
    may["core/kernel"] = low "core/ring core/field core/iris core/kernel "
    may["core/wire"] = low "core/wire "
    may["core/net"] = low "core/ring core/field core/iris core/kernel core/wire core/net "
    may["core/mpc"] = may["core/net"] "core/mpc "
    may["core/scan"] = may["core/mpc"] "core/scan "
    may["core/store"] = may["core/scan"] "core/store "
    may["core/coord"] = may["core/store"] "core/coord "
    may["core/service"] = may["core/coord"] "core/service "
    may["core/tls"] = low "core/tls "
    may["core/posix"] = low "core/tls core/posix "
    may["core/daemon"] = may["core/service"] "core/tls core/posix core/daemon "
    may["oracle"] = " core/base oracle "
}

# Headers that the build makes, who may include them, and why nobody else.
function declare_generated() {
    generated["uvea_build_id.h"] = "^sim/cmd/|^core/daemon/main\\.c$"
    why_generated["uvea_build_id.h"] = "the build id must never reach a run's hash"
    generated["uvea_field_tables.h"] = "^core/field/|^proofs/table\\.c$"
    why_generated["uvea_field_tables.h"] = "use core/field/transform.h"
}

# The folder a path belongs to, as the table names it.
function layer(path,    part) {
    split(path, part, "/")
    return part[1] == "core" ? part[1] "/" part[2] : part[1]
}

function check_include(path, target,    from, to) {
    from = layer(path)
    to = layer(target)
    if (target in generated) {
        if (path !~ generated[target]) {
            found("include", "not for this folder: " why_generated[target])
        }
    } else if (target !~ /^(core|oracle|sim|tests|fuzz|proofs)\//) {
        found("include", "write project includes from the source root, as in \"core/base/error.h\"")
    } else if (to ~ /^(tests|fuzz|proofs)$/ && from !~ /^(tests|fuzz|proofs)$/) {
        found("include", "nothing outside includes " to "/; move what is shared into a module")
    } else if (from ~ /^core/ && !(from in may)) {
        found("include", from " is not in the dependency table; add it to tests/lint/rules.awk and docs/architecture.md")
    } else if ((from in may) && index(may[from], " " to " ") == 0) {
        found("include", from " may not include " to "; it may include" may[from])
    } else if (from == "sim" && to !~ /^(core|oracle|sim)/) {
        found("include", "sim may include core, oracle and sim only")
    }
}

# ---- bans: a name, where it is banned, where it is allowed all the same, and what to use instead

function ban(names, where, except, instead) {
    ban_count++
    ban_names[ban_count] = left names ")[ \t]*\\("
    ban_where[ban_count] = where
    ban_except[ban_count] = except
    ban_instead[ban_count] = instead
}

function ban_header(names, where, except, instead) {
    ban(names, where, except, instead)
    ban_names[ban_count] = "^[ \t]*#[ \t]*include[ \t]*<(" names ")>"
}

function declare_bans(    ours, none, command) {
    ours = "^(core|oracle|sim)/"
    none = "^$"
    command = "^(core/posix|core/daemon|sim/cmd)/"
    ban("malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free", ours,
        "^core/base/mem\\.c$", "use uvea_mem_alloc and uvea_mem_free of core/base/mem.h (json_dumpb instead of json_dumps)")
    ban("strdup|strndup|asprintf|vasprintf|getline|getdelim|open_memstream", ours, none,
        "use struct uvea_buf of core/base/buf.h or uvea_mem_alloc")
    ban("time|clock|clock_gettime|gettimeofday|times|ftime|timespec_get", ours, command,
        "use uvea_rt_now_ns of core/rt/rt.h")
    ban("sleep|usleep|nanosleep|clock_nanosleep|alarm|setitimer|poll|ppoll|select|pselect", ours,
        command, "use uvea_rt_sleep_ns or a deadline of core/rt/rt.h")
    ban("rand|srand|rand_r|random|srandom|random_r|drand48|lrand48|mrand48|arc4random", ours, none,
        "use uvea_rt_entropy in core and a named stream of the run's seed in sim")
    ban("getrandom|getentropy|RAND_bytes|RAND_priv_bytes", ours, "^core/posix/|^sim/cmd/entropy\\.c$",
        "use uvea_rt_entropy in core and a named stream of the run's seed in sim")
    ban("pthread_[a-z_]+|thrd_[a-z]+|mtx_[a-z]+|cnd_[a-z]+|fork|vfork", ours, command,
        "use uvea_rt_spawn and channels of core/rt/rt.h")
    ban("socket|socketpair|getaddrinfo|setsockopt|recvfrom|sendto|recvmsg|sendmsg", ours,
        "^core/posix/|^sim/cmd/proxy", "use the byte streams of core/rt/rt.h")
    ban_header("pthread\\.h|threads\\.h|semaphore\\.h", ours, command,
        "use tasks and channels of core/rt/rt.h")
    ban_header("time\\.h|sys/time\\.h|sys/timerfd\\.h", ours, command, "use the clock of core/rt/rt.h")
    ban_header("sys/socket\\.h|netinet/.*|arpa/inet\\.h|netdb\\.h|sys/epoll\\.h|sys/select\\.h",
        ours, "^core/posix/|^sim/cmd/proxy", "use the byte streams of core/rt/rt.h")
    ban_header("poll\\.h", ours, command, "use the byte streams of core/rt/rt.h")
    ban_header("sys/random\\.h|openssl/rand\\.h", ours, "^core/posix/|^sim/(cmd|tls)/entropy\\.c$", "use uvea_rt_entropy")
    ban_header("assert\\.h", ours, none, "use UVEA_CHECK of core/base/check.h, which stays in release builds")
    ban("assert", ours, none, "use UVEA_CHECK of core/base/check.h, which stays in release builds")
    ban("abort|exit|_exit|_Exit|quick_exit", "^core/", "^core/(base/check\\.c$|posix/|daemon/)",
        "return an enum uvea_error; UVEA_CHECK for programmer errors")
    ban("printf|puts|putchar|perror|fprintf|vfprintf|fputs", "^core/",
        "^core/(base/check\\.c$|posix/|daemon/|[a-z]+/generate\\.c$)",
        "put the sentence into struct uvea_error_context")
    ban("strcpy|strcat|sprintf|vsprintf|gets|stpcpy", ours, none, "use snprintf or struct uvea_buf")
    ban("atoi|atol|atoll|atof|strtok", ours, none, "use strtoull or strtoll and check the end and errno")
    ban("setjmp|longjmp|sigsetjmp|siglongjmp", ours, none, "return an enum uvea_error")
    ban("alloca", ours, none, "use a bounded array or uvea_mem_alloc")
}

function check_bans(path, code,    i) {
    for (i = 1; i <= ban_count; i++) {
        if (path ~ ban_where[i] && path !~ ban_except[i] && code ~ ban_names[i]) {
            found("ban", ban_instead[i])
        }
    }
}

# ---- names and text

function check_names(code) {
    if (code ~ /^[ \t]*typedef[ \t]+[^( \t][^(]*[ \t*][A-Za-z0-9_]+_t[ \t]*(;|\[|\()/ ||
        code ~ /^[ \t]*typedef[ \t][^(]*\([ \t*]*[A-Za-z0-9_]+_t[ \t]*\)/ ||
        code ~ /^\}[ \t]*[A-Za-z0-9_]+_t[ \t]*;/) {
        found("name", "no typedef of ours ends in _t (POSIX reserves it); use a plain struct uvea_x")
    }
    if (code ~ /(struct|enum|union)[ \t]+[A-Za-z0-9_]+_t([^A-Za-z0-9_]|$)/) {
        found("name", "no type of ours ends in _t; use a plain struct uvea_x")
    }
    if (code ~ /(^|[^A-Za-z0-9_])uv_/) {
        found("name", "the prefix uv_ is libuv's; ours is uvea_")
    }
}

function check_text(line) {
    if (line ~ /(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)/) {
        found("text", "finish it, or file an issue; the tree holds no notes to self")
    }
    if (line ~ /(^|[^A-Za-z0-9_.}\/-])\/(home|root|work|mnt|opt|srv|Users)\//) {
        found("text", "no path of one machine; take it from an argument or CMAKE_SOURCE_DIR")
    }
}

# ---- the lines

function found(rule, sentence) {
    printf "%s:%d: [%s] %s\n", FILENAME, FNR, rule, sentence
    findings++
}

# The line with string contents and comments blanked; in_comment carries over lines.
function strip(line,    out, c, two, i, n, quote) {
    out = ""
    n = length(line)
    for (i = 1; i <= n; i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") { i++ } else if (c == quote) { quote = ""; out = out c }
        } else if (two == "/*") {
            in_comment = 1
            i++
        } else if (two == "//") {
            break
        } else {
            if (c == "\"" || c == "'") { quote = c }
            out = out c
        }
    }
    return out
}

# clang-format puts a function's braces, and only those, alone in column one.
function measure_function(line) {
    if (line == "{") { function_start = FNR }
    if (line == "}" && function_start) {
        if (FNR - function_start - 1 > function_lines_max) {
            found("length", "function body of " (FNR - function_start - 1) " lines; split it (most are 10 to 20, at most " function_lines_max ")")
        }
        function_start = 0
    }
}

function expected_guard(path) {
    path = toupper(path)
    gsub(/[^A-Z0-9]/, "_", path)
    return "UVEA_" path
}

FNR == 1 {
    check_file_end()
    last_file = ""
    in_comment = 0
    function_start = 0
    guard = ""
    file = FILENAME
    sub(/^\.\//, "", file)
}

{
    check_text($0)
    if (file !~ /\.([ch]|inc)$/) { next }
    code = strip($0)
    last_file = file
    last_name = FILENAME
    last_line = FNR
    if (guard == "" && code ~ /^#ifndef /) { guard = $2 }
    if ($0 ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
        target = $0
        sub(/^[^"]*"/, "", target)
        sub(/".*/, "", target)
        check_include(file, target)
    }
    check_bans(file, code)
    check_names(code)
    measure_function($0)
}

function check_file_end() {
    if (last_file == "") { return }
    if (last_line > file_lines_max) {
        printf "%s:%d: [length] file of %d lines; split it (at most %d)\n", last_name, last_line, last_line, file_lines_max
        findings++
    }
    if (last_file ~ /\.h$/ && guard != expected_guard(last_file)) {
        printf "%s:1: [name] the include guard must be %s\n", last_name, expected_guard(last_file)
        findings++
    }
}

END {
    check_file_end()
    exit findings > 0
}
