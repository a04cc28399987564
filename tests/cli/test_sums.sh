#!/usr/bin/env bash
# test_sums.sh BENCHCNN: `verify --sums` on kernels whose source says how they add up: impl_cpu's naive ones. (What others
# do depends on the processor.)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

# tells WORDS OPTION...: status 0, and each of WORDS (separated by '|') on standard output.
tells() {
    local words=$1
    shift
    tests=$((tests + 1))
    "$benchcnn" verify --sums "$@" >"$tmp/said" 2>"$tmp/err" || fail "'verify --sums $*': $(head -c 300 "$tmp/err")"
    holds "'verify --sums $*'" "$tmp/said" "$words"
}

# conv_naive.inc: y starts with the bias and goes over c, i, j; dx is added to, pixel by pixel of dy, so that the taps of
# one dx come backwards; dw goes over n, p, q.
small=(--impl cpu:naive --problem mb2ic3ih5oc4kh3ph1)
f32='accumulator f32, 24 bits to nearest, no FMA; foretells 16 of 16 random sums bit for bit'
tells "27 products: in sequence over ic, kh, kw; bias first; old value (beta 1) last; $f32|1 PASSED" "${small[@]}" --dir FWD
tells "36 products: in sequence over oc, kh backwards, kw backwards; old value (beta 1) first; $f32" "${small[@]}" --dir BWD_D
tells "50 products: in sequence over mb, oh, ow; old value (beta 1) last; $f32" "${small[@]}" --dir BWD_W
tells "27 products: in sequence over ic, kh, kw; old value (beta 1) last; $f32" "${small[@]}" --dir FWD --no-bias
tells "kh backwards, kw backwards; bias first" "${small[@]}" --dir FWD --mode convolution
tells 'accumulator f64, 53 bits to nearest, no FMA; foretells 16 of 16' "${small[@]}" --dtype f64 --layout nhwc --dir FWD
tells 'in sequence over ic; bias first|in sequence over oc; old value|in sequence over mb; old value' \
    --impl cpu:naive --op fc --problem mb5ic7oc6
tells 'in sequence over ic, kh, kw' --impl cpu:naive --problem g2mb2ic6ih7oc4kh3sh2ph1 --dir FWD

# The built-in problems: convolutions and FC layers; beside the checks, if any are asked for.
tells 'conv      FWD|conv      BWD_W|fc        BWD_D|6 PASSED' --impl cpu:naive
tells ' exact | in sequence over' "${small[@]}" --dir FWD --check exact

# What cannot be found is no failure: the line holds the reason.
tests=$((tests + 1))
"$benchcnn" verify --sums --impl cpu:naive --problem mb1ic600ih5oc1kh3ph1 --dir FWD >"$tmp/said" 2>&1
holds "a long sum" "$tmp/said" 'SKIPPED|a sum of 5400 products; up to 4094 are looked into'
"$benchcnn" verify --sums --impl cpu --op pool --problem max:mb2ic3ih6kh2sh2 >"$tmp/said" 2>&1
holds "pooling" "$tmp/said" 'SKIPPED|sums: for convolutions and FC layers'
tells 'a sum of 2 addends has no order' --impl cpu:naive --problem mb1ic1ih3oc1kh1 --dir FWD,BWD_W

# The record holds the tree, and the command that repeats it.
tells 'PASSED' "${small[@]}" --dir FWD --out "$tmp/records.jsonl"
holds "the record" "$tmp/records.jsonl" '"check":"sums","state":"PASSED"|"element":"y[n=1,c=2,h=2,w=2]"|"products":27|"order":"in sequence over ic, kh, kw"|"bias":"first","beta":"last"|"tree":"[0 27 1 2 3 |"accumulator_bits":24|"rounding":"to nearest","product":"no FMA","factor_bits":{"x":24,"w":24},"foretold":16,"foretold_of":16| --sums"'

refused '--fuzz does not go with --sums' verify --sums --fuzz 10
refused '--net does not go with --sums' verify --sums --net thesis
finish
