#!/usr/bin/env bash
# test_problem_files.sh BENCHCNN: problem files of other programs: what runs, in which operation, direction and type.
# What each line stands for is in tests/harness/problem/test_foreign.c.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

mkdir "$tmp/pool" "$tmp/deconv" "$tmp/softmax"
printf -- '--alg=max,avg_p --dir=FWD_D --dt=f64,f16,s8\nmb2ic3ih6kh2sh2n"small"\n--batch=more\n' >"$tmp/pool/all"
printf 'mb2ic3ih6kh2sh2n"small"\nic3ih8kh3sh2ph1\n' >"$tmp/pool/more"
printf 'ic3ih5oc4kh3sh2ph1\n' >"$tmp/deconv/one"
printf '16x16\n' >"$tmp/softmax/one"

# runs STATUS WORDS ARGUMENTS...: this status, and each of WORDS (separated by '|') in the output.
runs() {
    local expected=$1 words=$2 status=0
    shift 2
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/said" 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || fail "$*: status $status: $(tail -c 300 "$tmp/said")"
    holds "$*" "$tmp/said" "$words"
}

# f64 and f16 as the file says, forward alone, each problem once: 2 windows by 2 kinds.
runs 0 'pool      FWD   max:mb2ic3ih6oh3kh2sh2ph0n"small" f64|avg_pad:mb2ic3ih8oh4kh3sh2ph1 f16|UNSUPPORTED pool --dt=s8|9 cases: 0 FAILED 8 PASSED 1 UNSUPPORTED' \
    verify --impl cpu --problems "$tmp/pool/all" --dtype f32,f64
runs 0 'deconv    BWD_W mb2ic3ih5oc4oh9kh3sh2ph1|PASSED      cpu:naive      deconv    BWD_W|cases: 0 FAILED ' \
    verify --impl cpu --problems "$tmp/deconv/one"
runs 0 '4 cases: 0 FAILED 4 PASSED' verify --impl cpu --op pool --dir BWD_D,FWD --problems "$tmp/pool/more" --match small --dtype f32,f64 # no, it says none
runs 3 "UNSUPPORTED 16x16|no operation here is benchdnn's softmax" verify --impl cpu --problems "$tmp/softmax/one"
# Nothing is read as something else.
runs 2 "deconv/one:1|is of the operation deconv, but --op is conv" verify --impl cpu --op conv --problems "$tmp/deconv/one"
runs 0 'conv FWD mb4ic3ih8oc5oh8kh3ph1|PASSED' bench --impl cpu:direct --peaks none --max-time 0.1 \
    --problem 'MIOpenDriver conv -n 4 -c 3 -H 8 -W 8 -k 5 -p 1 -q 1 -F 1'
grep -q 'BWD' "$tmp/said" && fail "-F 1 is forward alone"
runs 2 'how large its input is' verify --impl cpu --problem 'Conv2d(3, 4, kernel_size=(3, 3))'
runs 0 'pool FWD|max:mb2ic3ih6oh3kh2sh2ph0' bench --impl cpu --peaks none --max-time 0.1 --problems "$tmp/pool/all"
runs 0 '"dtype":"f64"|"layout":"nhwc"' sweep threads,layout --json --layout nchw,nhwc --impl cpu --max-time 0.1 --problems "$tmp/pool/all"
grep '"kind":"sweep"' "$tmp/said" | grep -q '"dtype":"f32"' && fail "a sweep in a type that the file does not say"
cat "$tmp/pool/all" | sed '$d' | "$benchcnn" verify --impl cpu --op pool --problems - >"$tmp/said" 2>&1 || fail "standard input: $?"
holds 'standard input' "$tmp/said" '4 PASSED'
finish
