#!/usr/bin/env bash
# test_find.sh BENCHCNN: bench --find: a table of all algorithms, the fastest first, with workspace, verdict and reasons.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
quick=(--find --dir FWD --peaks none --min-time 0.001 --max-time 0.02 --warm-up 0 --quiet)
p=mb2ic16ih12oc16oh12kh3ph1
rows() { grep -E '^ +[0-9]+  |UNSUPPORTED|FAILED' "$tmp/said"; }

refused '--json' bench "${quick[@]}" --problem $p --impl cpu --json
refused 'takes no figures' bench "${quick[@]}" --problem $p --impl cpu --runs 2

tests=$((tests + 1))
"$benchcnn" bench "${quick[@]}" --problem $p --impl 'cpu:*' --out "$tmp/out.jsonl" >"$tmp/said" 2>&1 || fail "--find ended with $?: $(cat "$tmp/said")"
holds "--find" "$tmp/said" "conv FWD $p|algorithm|workspace|cpu:direct|cpu:im2col|cpu:winograd|cpu:naive|4 timed and verified"
holds "--find" "$tmp/said" '^   1  cpu:[a-z0-9]+ +[0-9.]+ .s +1\.00 +[0-9.]+ [KM]?i?B  PASSED|cpu:naive .* 0 B  PASSED|cpu:im2col .* [0-9.]+ [KM]iB  PASSED' -E
tests=$((tests + 1)) # each is by no less slower than the one above
rows | awk '{ for (i = 1; i < NF; i++) if ($i ~ /^[0-9]+\.[0-9][0-9]$/ && $(i - 1) ~ /s$/) { if ($i < last) exit 1; last = $i; n++ } } END { exit n != 4 }' ||
    fail "the table is not in the order of times: $(rows)"
tests=$((tests + 1))
grep -q 'times as fast as' "$tmp/said" && fail "the ratios stand there twice"
# What is shown is what the records hold.
bytes=$(grep '"algorithm":"im2col"' "$tmp/out.jsonl" | sed -E 's/.*"workspace_bytes":([0-9]+).*/\1/')
shown=$(awk -v b="$bytes" 'BEGIN { split("B KiB MiB", u); while (b >= 1023.5 && i < 2) { b /= 1024; i++ } printf (i > 0 && b < 9.95 ? "%.1f %s" : "%.0f %s"), b, u[i + 1] }')
holds "the workspace of im2col ($bytes)" "$tmp/said" " $shown  PASSED"

# Who cannot, and why, stands below.
tests=$((tests + 1))
"$benchcnn" bench "${quick[@]}" --problem $p --impl 'cpu:*' --set cpu.workspace_limit=0 >"$tmp/said" 2>&1 || fail "--find with a limit: $(cat "$tmp/said")"
rows | tail -6 >"$tmp/last"
holds "the last rows" "$tmp/last" 'cpu:im2col|cpu:winograd|cpu:depthwise|cpu:matrix|cpu:shallow|cpu:bf16|UNSUPPORTED|workspace_limit allows 0|takes groups of one|takes 1x1 kernels|takes at most 8 channels|takes bf16'
[ "$(grep -c UNSUPPORTED "$tmp/last")" -eq 6 ] || fail "not six rows at the end are UNSUPPORTED: $(rows)"

finish
