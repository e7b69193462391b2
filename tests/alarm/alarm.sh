#!/usr/bin/env bash
# Switches each planted fault on in turn and wants it reported with status 10 (wrong answer or broken
# invariant) or 12 (crash); without a fault the same run must pass.
# usage: alarm.sh UVEA_ALARM SCENARIO [OPTION...]
set -u
uvea=$1
scenario=$2
shift 2
options=("$@")
plants=$("$uvea" run --plants) || exit 1
passed=0
failed=0

check() {
    local plant=$1 allowed=$2 status
    "$uvea" run "$scenario" "${options[@]}" --plant "$plant" >/dev/null 2>&1
    status=$?
    if [[ " $allowed " == *" $status "* ]]; then
        echo "ok: $plant ended with status $status"
        passed=$((passed + 1))
    else
        echo "NOT CAUGHT: $plant ended with status $status, wanted one of: $allowed"
        failed=$((failed + 1))
    fi
}

for plant in $plants; do
    if [ "$plant" = none ]; then
        check none 0
    else
        check "$plant" "10 12"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -ge 9 ]
