#!/usr/bin/env bash
# Each planted fault that a quick check can see must be reported by it with status 10, also in the
# JUnit report; without a fault the same check passes.
# usage: alarm.sh UVEA_ALARM
set -u
uvea=$1
here=$(dirname "$(readlink -f "$0")")
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "FAILED: $*"
    failed=$((failed + 1))
}

# check PLANT CHECK STATUS
check() {
    local plant=$1 name=$2 wanted=$3 status failures=1
    [ "$wanted" -ne 0 ] || failures=0
    "$uvea" gate "$name" --plant "$plant" --junit "$dir/report.xml" >"$dir/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "$name with $plant: status $status, wanted $wanted"
    awk -f "$here/well-formed.awk" "$dir/report.xml" || fail "$name with $plant: report.xml"
    [ "$(grep -c '<failure message="[^"]' "$dir/report.xml")" -eq $failures ] ||
        fail "$name with $plant: not $failures failures in report.xml"
    [ $failures -eq 0 ] || grep -qE '^  first: .' "$dir/out" || fail "$name with $plant: no sentence"
    echo "$name with $plant: status $status"
}

check none traffic 0
check flip-opened-bit traffic 10
check drop-tail-lane traffic 10
check skip-prf-word traffic 10
check none rotations 0
check rotate-wrong-way rotations 10
check none mirror 0
check mirror-mask-as-code mirror 10
[ "$failed" -eq 0 ]
