#!/usr/bin/env bash
# test_axes.sh BENCHCNN: lists in descriptors and of batches: every combination once, in order, and bad ones in words.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
problems() { # WANTED, then options: the descriptors that run, in order
    local want=$1
    shift
    "$benchcnn" bench --runs 1 --impl cpu:direct --dir FWD "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/out" "$tmp/err")"
    local got
    got=$(sed -n 's/^RAN .* FWD \(.*\) f32 .*/\1/p' "$tmp/out" | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "$*: $got, not $want"
}
refused() { # WORDS, then options
    local words=$1 got=0
    shift
    "$benchcnn" "$@" >"$tmp/out" 2>&1 || got=$?
    [ $got -eq 2 ] || fail "$*: status $got: $(cat "$tmp/out")"
    grep -qF -- "$words" "$tmp/out" || fail "$*: not '$words': $(cat "$tmp/out")"
}
problems 'mb1ic2ih3oc4oh3kh1ph0 mb1ic2ih3oc5oh3kh1ph0 mb2ic2ih3oc4oh3kh1ph0 mb2ic2ih3oc5oh3kh1ph0' --problem 'mb{1,2}ic2ih3oc{4,5}kh1'
problems 'mb1ic2ih3oc4oh3kh1ph0n"a{b,c}"' --problem 'mb{1}ic2ih3oc4kh1n"a{b,c}"'
printf 'mb9ic2ih3oc4kh1\nic1ih4oc4kh1\n' >"$tmp/shapes"
problems 'mb1ic2ih3oc4oh3kh1ph0 mb1ic1ih4oc4oh4kh1ph0 mb3ic2ih3oc4oh3kh1ph0 mb3ic1ih4oc4oh4kh1ph0' --mb 1,3 --problems "$tmp/shapes"
problems 'mb1ic2ih3oc4oh3kh1ph0 mb1ic2ih3oc5oh3kh1ph0 mb4ic2ih3oc4oh3kh1ph0 mb4ic2ih3oc5oh3kh1ph0' --mb 1,4 --problem 'ic2ih3oc{4,5}kh1'
"$benchcnn" verify --impl cpu:direct --dir FWD --problem 'mb{1,2}ic2ih3oc{4,5}kh1' >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
grep -q '^4 cases: 0 FAILED 4 PASSED' "$tmp/out" || fail "$(cat "$tmp/out")"
refused "a { without its }" bench --impl cpu --problem 'mb{1,2ic2ih3oc4kh1'
refused "has more than 8 lists" bench --impl cpu --problem 'mb{1}ic{2}ih{3}iw{3}oc{4}kh{1}kw{1}ph{0}pw{0}'
refused "is more than 4096 descriptors" bench --runs 1 --impl cpu --dir FWD --problem "mb{$(seq -s, 1 70)}ic{$(seq -s, 1 70)}ih1oc1kh1"
refused "--mb 1,2: a list needs problems of your own" verify --impl cpu --mb 1,2
refused "--mb 1,2: describe takes one" describe ic1ih4oc1kh3 --mb 1,2
refused "--mb is 0" verify --mb 0
echo "all held"
