#!/usr/bin/env bash
# Switches each planted fault on in turn and wants it reported with status 10 (wrong answer or broken
# invariant) or 12 (crash), or 15 where a run is unlike the one before; without a fault the same run
# must pass. The faults of the service need deaths, batches and refusals to show: sweep.sh has those.
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
    shift 2
    "$uvea" run "$scenario" "${options[@]}" "$@" --plant "$plant" >/dev/null 2>&1
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
    case $plant in
    none) check none 0 ;;
    crash) check crash 12 ;;
    unsteady) check unsteady 15 --twice ;;
    ack-before-commit | serial-reused | flag-before-data | hash-order-batch | skipped-answer) ;;
    stale-generation | fatal-409 | version-twice | one-party-parse) ;;
    *) check "$plant" "10 12" ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -ge 11 ]
