#!/usr/bin/env bash
# Planted faults of the service, each looked for by a sweep over a few seeds that must find it and
# end with the status wanted: 10 (wrong answer or broken invariant) or 11 (no progress). Without the
# fault the same sweeps pass.
# usage: sweep.sh UVEA_ALARM SCENARIO-DIRECTORY ring|ntt
set -u
uvea=$1
scenarios=$2
path=$3
passed=0
failed=0

check() {
    local scenario=$1 seeds=$2 plant=$3 allowed=$4 output status
    output=$("$uvea" sweep "$scenarios/$scenario.yaml" --set "scan=$path" --seeds "$seeds" \
        --plant "$plant" --jobs 1 --allow-cold all --twice-percent 0 2>&1)
    status=$?
    if [[ " $allowed " == *" $status "* ]]; then
        echo "ok: $scenario with $plant ended with status $status"
        passed=$((passed + 1))
    else
        echo "NOT AS WANTED: $scenario with $plant ended with status $status, wanted one of: $allowed"
        echo "$output"
        failed=$((failed + 1))
    fi
}

case $path in
ring)
    check alarm-service 1..2 none 0
    check alarm-service 1..1 serial-reused 10
    check alarm-service 1..1 hash-order-batch 11
    check alarm-service 1..1 skipped-answer 11
    check alarm-service 1..1 fatal-409 10
    check alarm-service 1..1 one-party-parse 11
    check alarm-service 1..1 mirror-mask-as-code 10
    check alarm-restart 1..3 none 0
    check alarm-restart 1..3 ack-before-commit "10 11"
    check alarm-restart 1..3 flag-before-data 10
    check alarm-restart 1..3 version-twice 10
    ;;
ntt)
    check alarm-service 1..1 none 0
    check alarm-service 1..1 serial-reused 10
    check alarm-service 1..1 mirror-mask-as-code 10
    check alarm-spectra 1..2 none 0
    check alarm-spectra 1..2 stale-generation 10
    ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -ge 5 ]
