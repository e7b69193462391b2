#!/usr/bin/env bash
# `uvea gate` as a user meets it: names, usage errors, reports, and one seed giving one output.
# usage: command.sh UVEA
set -u
uvea=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

fail() {
    echo "FAILED: $*"
    failed=$((failed + 1))
}

# want STATUS ARGUMENT...: runs the command, output in out and err.
want() {
    local status=$1
    shift
    "$uvea" gate "$@" >out 2>err
    local got=$?
    [ $got -eq "$status" ] || fail "uvea gate $*: status $got, wanted $status: $(cat err)"
}

# ---- names

want 0 --list
names=$(cut -d' ' -f1 out | tr '\n' ' ')
expected="field pairs transform conversion rotations mirror tails decisions traffic "
[ "$names" = "$expected" ] || fail "--list names: $names"
[ ! -s err ] || fail "--list wrote to standard error"

want 2 nothing-of-that-name
grep -q "no check 'nothing-of-that-name'" err || fail "an unknown check is not named: $(cat err)"
[ ! -s out ] || fail "an unknown check printed something"
want 2 traffic nothing-of-that-name
[ ! -s out ] || fail "checks ran in spite of an unknown one"
want 2 traffic traffic
grep -q "'traffic' is named twice" err || fail "a check named twice: $(cat err)"
want 2 --list traffic
want 2 traffic --seed x
want 2 traffic --json --junit -
want 2 traffic --junit
want 1 traffic --junit no/such/directory/report.xml
[ ! -s out ] || fail "checks ran before the report's path was found wrong"

# ---- one seed, one output

want 0 traffic transform --seed 7 --junit report.xml
cp out first
want 0 traffic transform --seed 7
cmp -s out first || fail "two runs with one seed differ: $(diff out first)"
[ "$(grep -c '^gate: ' out)" -eq 1 ] || fail "not one last line"
tail -n 1 out | grep -qE '^gate: pass checks=2 failed=0 cases=[1-9][0-9]* wrong=0 skipped=[0-9]+ seed=7$' ||
    fail "last line: $(tail -n 1 out)"
grep -qE '^traffic: pass cases=[1-9][0-9]*$' out || fail "no line about traffic"
want 0 traffic --seed 8
grep '^traffic' out >eight
grep '^traffic' first >seven
cmp -s eight seven || fail "the number of cases depends on the seed"

# ---- reports

awk -f "$here/well-formed.awk" report.xml || fail "report.xml is not well-formed"
grep -qE '^  <testsuite name="uvea gate, seed 7" tests="[0-9]+" failures="0" errors="0" skipped="[0-9]+" time="[0-9]+\.[0-9]{3}">$' \
    report.xml || fail "no testsuite in report.xml"
for check in traffic transform; do
    [ "$(grep -cE "^    <testcase classname=\"gate\" name=\"$check\" time=\"[0-9]+\.[0-9]{3}\">$" report.xml)" -eq 1 ] ||
        fail "not one testcase for $check"
done
tests=$(sed -n 's/.* tests="\([0-9]*\)".*/\1/p' report.xml)
skipped=$(sed -n 's/.* skipped="\([0-9]*\)".*/\1/p' report.xml)
[ "$(grep -c '<testcase ' report.xml)" -eq "$tests" ] || fail "tests=\"$tests\" is not their number"
[ "$(grep -c '<skipped ' report.xml)" -eq "$skipped" ] || fail "skipped=\"$skipped\" is not so"
# The kernels of the other kind of processor can never run.
[ "$skipped" -ge 2 ] || fail "no kernel was skipped"
[ "$(grep -c '^  skipped: ' first)" -eq "$skipped" ] || fail "text and report skip differently"

want 0 traffic --seed 18446744073709551615 --json
[ "$(wc -l <out)" -eq 1 ] || fail "--json is not one line"
grep -qE '^\{"verdict":"pass","build":"[^"]+","seed":"18446744073709551615","cases":[1-9][0-9]*,"wrong":0,"skipped":0,"checks":\[\{"name":"traffic","status":"pass",.*\}\]\}$' out ||
    fail "--json printed: $(cat out)"

want 0 traffic --junit -
awk -f "$here/well-formed.awk" out || fail "--junit - is not well-formed"

[ "$failed" -eq 0 ] && echo "all as wanted"
[ "$failed" -eq 0 ]
