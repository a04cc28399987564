#!/usr/bin/env bash
# test_sweep_device.sh BENCHCNN_MOCK: a point that fails on its device, or does not fit, is recorded with the reason, and
# the others are timed: the default, too. The mock device stands in for a real one.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
sweep() { # NAME, then options
    "$benchcnn" sweep --impl mock:direct --problem mb4ic3ih9oc5kh3 --dir FWD --min-time 0.002 --max-time 0.01 --warm-up 0 \
        --quiet --out "$tmp/$1.jsonl" "${@:2}" >"$tmp/log" 2>&1
}
holds() { [ "$(grep '"kind":"sweep",' "$tmp/$1.jsonl" | grep -c -- "$2")" -eq "$3" ] || fail "$1: not $3 times $2: $(cat "$tmp/log" "$tmp/$1.jsonl")"; }

sweep memory mock.memory=100,1000,100000000 || fail "too little memory ended the sweep: $(cat "$tmp/log")"
holds memory '"state":"OUT_OF_MEMORY","reason":"[0-9]* bytes' 2
holds memory '"state":"PASSED"' 2

sweep failing mock.fail_at=20,60,0 || fail "a failing point ended the sweep: $(cat "$tmp/log")"
holds failing '"knobs":{"fail_at":20}.*"state":"FAILED","reason":"mock: operation 20 failed"' 1
holds failing '"state":"FAILED"' 2
holds failing '"baseline_s":[0-9].*"default":true\|"default":true.*"baseline_s":[0-9]' 1
grep -q '^ *1 .* 1.000 x .*default' "$tmp/log" || fail "the default is not ranked: $(cat "$tmp/log")"

# A knob of an implementation that --impl leaves out is nobody's.
"$benchcnn" sweep mock.fail_at=20,60 --impl cpu --problem mb4ic3ih9oc5kh3 >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q 'sweep mock.fail_at: --impl cpu does not choose mock' "$tmp/log" || fail "a knob that nobody reads: $(cat "$tmp/log")"

# The default itself fails: the others are ranked all the same.
sweep default --set mock.fail_at=20 mock.fail_at=0 || fail "a default that fails ended the sweep: $(cat "$tmp/log")"
holds default '"state":"FAILED".*"default":true' 1
holds default '"state":"PASSED".*"default":false' 1
grep -q 'the default could not run; use ' "$tmp/log" || fail "the default is not said to have failed: $(cat "$tmp/log")"
before=$(wc -l <"$tmp/failing.jsonl")
sweep failing mock.fail_at=20,60,0
[ "$(grep -c '"kind":"sweep",' "$tmp/failing.jsonl")" -eq 3 ] || fail "failed points ran again (from line $before)"

# Kept and used on a device: the knobs, in a session of their own; threads mean nothing there.
sweep tuned mock.early_uploads=0,1 --threads 2 --tune "$tmp/tuned" || fail "no tuning on a device: $(cat "$tmp/log")"
sed -i 's/"early_uploads":[01]/"early_uploads":1/' "$tmp/tuned"
use() { "$benchcnn" bench --impl mock:tuned --tune "$tmp/tuned" --problem mb4ic3ih9oc5kh3 --dir FWD --peaks none --min-time 0 --warm-up 0 \
    --quiet --out "$tmp/used.jsonl" "$@" >"$tmp/log" 2>&1; }
use --threads 3 || fail "a tuned choice on a device: $(cat "$tmp/log")"
grep -q '"algorithm":"tuned","threads":3,"knobs":{"early_uploads":1},"tuning":"kept".*"verified":true' "$tmp/used.jsonl" || fail "not used: $(cat "$tmp/used.jsonl")"
grep -q 'direct early_uploads=1' "$tmp/log" || fail "the choice is not shown: $(cat "$tmp/log")"
# A network whose layers were tuned on hosts of different sizes.
"$benchcnn" sweep mock.early_uploads=0,1 --impl mock:direct --net thesis --batch 20 --op conv --threads 2 --min-time 0 --max-time 0.05 --warm-up 0 --quiet \
    --out "$tmp/net.jsonl" --tune "$tmp/net" >"$tmp/log" 2>&1 || fail "no tuning of a network: $(cat "$tmp/log")"
sed -i 's/"early_uploads":[01]/"early_uploads":1/; 1s/threads":2/threads":16/g' "$tmp/net"
grep -q '"threads":16.*"use_threads":16' "$tmp/net" || fail "not of two hosts: $(cat "$tmp/net")"
"$benchcnn" train --net thesis --batch 20 --data synthetic --images 40,20 --epochs 1 --quiet --impl mock:tuned --tune "$tmp/net" --out "$tmp/epoch.jsonl" \
    >"$tmp/log" 2>&1 || fail "a tuned network on a device: $(cat "$tmp/log")"
grep -q '"early_uploads":1.*"choice":"conv1 FWD direct' "$tmp/epoch.jsonl" || fail "the network is not tuned: $(cat "$tmp/epoch.jsonl")"
grep -q 'threads=' "$tmp/log" && fail "a device's threads disagree: $(cat "$tmp/log")"
# Knobs that do not open: the choice's own failure, told as such.
sed -i 's/"knobs":{[^}]*}/"knobs":{"memory":100}/' "$tmp/tuned"
use
grep -q '"algorithm":"tuned".*"state":"OUT_OF_MEMORY","reason":"[0-9]* bytes' "$tmp/used.jsonl" || fail "too little memory is not the choice's own trouble: $(cat "$tmp/log")"

echo "sweeps on a device: all held"
