#!/usr/bin/env bash
# test_runs.sh BENCHCNN: `bench --runs N` runs what is chosen, and does nothing else: no reference, no figure, no record.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
runs() { # STATUS, then options
    local want=$1 got=0
    shift
    "$benchcnn" bench "$@" >"$tmp/out" 2>"$tmp/err" || got=$?
    [ $got -eq "$want" ] || fail "$*: status $got, not $want: $(cat "$tmp/out" "$tmp/err")"
}
small=mb2ic3ih5oc4kh3ph1
runs 0 --runs 7 --impl cpu:direct,cpu:naive --problem $small
[ "$(grep -c '^RAN ' "$tmp/out")" -eq 6 ] || fail "two algorithms in three directions: $(cat "$tmp/out")"
grep -q "^RAN  *cpu:naive conv BWD_W mb2ic3ih5oc4oh5kh3ph1 f32 nchw$" "$tmp/out" || fail "no BWD_W: $(cat "$tmp/out")"
grep -q '^6 ran 7 times, 0 failed, 0 not supported; nothing was verified or timed$' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q 'ceilings' "$tmp/err" && fail "ceilings are measured: $(cat "$tmp/err")"
runs 0 --runs 1 --impl cpu --op pool,act,loss,dropout,add,concat,batchnorm,optimizer,fc
runs 2 --runs 1 --impl cpu --problem $small --out "$tmp/records"
grep -q 'nothing for --out' "$tmp/err" || fail "$(cat "$tmp/err")"
runs 0 --runs 1 --impl cpu:direct --problem $small --dtype f64 --isolate

# It is for large problems, too: the reference for this one alone would take a minute of a core.
start=$SECONDS
runs 0 --runs 1 --impl cpu:direct --dir FWD --problem mb16ic256ih28oc256kh3ph1
[ $((SECONDS - start)) -lt 60 ] || fail "it takes $((SECONDS - start)) s"
echo "all held"
