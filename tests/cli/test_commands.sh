#!/usr/bin/env bash
# test_commands.sh BENCHCNN: one short run of each command that `help --words` names: it ends with 0 and says what it is for.
# But for `peaks`, which takes as long as the caches are large: test_peaks and cli_roofline run it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
ran=()
runs() { # WORDS COMMAND...: the output holds each of WORDS, separated by '|'
    local words=$1 status
    shift
    ran+=("$1")
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/said" 2>&1
    status=$?
    [ $status -eq 0 ] || fail "'benchcnn $*' ended with $status: $(head -c 600 "$tmp/said")"
    holds "'benchcnn $*'" "$tmp/said" "$words"
}
on=(--impl cpu:direct --problem mb2ic3ih7oc4kh3 --dir FWD)
short=(--peaks none --min-time 0.001 --max-time 0.01 --warm-up 0)
job=(--net thesis --data synthetic --images 40,20 --batch 20)
array=tests/data/conv

runs 'cpu:direct|isa' list
runs '1 cases: 0 FAILED 1 PASSED' verify "${on[@]}"
runs PASSED compute --impl cpu:direct --problem g2mb2ic4ih7iw6oc6oh4ow4kh3kw2sh2sw1ph1pw1dh0dw2 --dir FWD --in "x=$array/x.npy" \
    --in "w=$array/w.npy" --in "b=$array/b.npy" --out "$tmp/y.npy" --expect "$array/y.npy"
runs 'oh5|FLOP' describe mb2ic3ih7oc4kh3
runs '1 timed and verified' bench "${on[@]}" "${short[@]}" --out "$tmp/bench.jsonl"
runs '2 timed and verified' sweep algorithm --impl cpu:direct,cpu:naive "${on[@]:2}" "${short[@]}"
runs 'repeat: benchcnn train' train --impl cpu:fused,cpu:direct "${job[@]}" --out "$tmp/train.jsonl"
runs 'weights: ' train --impl cpu:fused "${job[@]}" --save "$tmp/w.safetensors"
asks=(--net thesis --load "$tmp/w.safetensors" --impl cpu:direct --data synthetic)
runs '20 images: |target' eval "${asks[@]}" --images 0..19
runs 'of 2 images correct' predict "${asks[@]}" --images 0,7
runs 'above the 30 training images are left out: 9 of 12' sweep batch --impl cpu:fused --net thesis --data synthetic --images 30,10
printf 'bench %s --out "$OUT"\n' "${on[*]} ${short[*]}" >"$tmp/recipe"
runs '1 timed and verified' run "$tmp/recipe" --out "$tmp/run.jsonl"
runs 'mb2ic3ih7' compare "$tmp/bench.jsonl" "$tmp/run.jsonl"
runs '2 files, |exact duplicates dropped' merge "$tmp/bench.jsonl" "$tmp/run.jsonl" --out "$tmp/merged.jsonl"
runs '2 timings of hyperfine' import tests/data/import/hyperfine.json --out "$tmp/others.jsonl"
runs '0 faults' check "$tmp/bench.jsonl"
runs 'cpu' table "$tmp/train.jsonl"
if command -v gnuplot >/dev/null; then
    runs 'svg' plot "$tmp/train.jsonl" --out "$tmp/epochs.svg"
else
    ran+=(plot)
fi
if python3 -I -c 'import jinja2' 2>/dev/null || /usr/bin/python3 -I -c 'import jinja2' 2>/dev/null; then
    runs 'page.html' report "$tmp/bench.jsonl" "$tmp/train.jsonl" --out "$tmp/page.html"
else
    ran+=(report)
fi
ran+=(peaks)
runs 'training|written to' data make --out "$tmp/data"
runs 'usage' help bench
tests=$((tests + 1))
missed=$("$benchcnn" help --words | sed -n 's/^\([a-z]*\)|.*/\1/p' | grep -vxFf <(printf '%s\n' "${ran[@]}"))
[ -z "$missed" ] || fail "no run of: $missed"
finish
