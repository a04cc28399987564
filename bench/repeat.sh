#!/usr/bin/env bash
# repeat.sh: can figures be trusted on this machine? Two questions, each answered by runs of benchcnn as anyone starts it:
#   medians    one problem, RUNS processes: do their medians lie within 3 % of each other's middle, 9 of 10, and are those
#              that do not marked?
#   verdicts   PAIRS times two files of RUNS_OF_ONE runs each, taken by turns by the same program: how often does `compare`
#              call one faster or slower? It states 5 % for all figures of two files together.
#   bench/repeat.sh OUT_FOLDER [BENCH OPTIONS...]     default: --impl cpu:direct --problem (thesis, conv2) --dir FWD
# RUNS (10), PAIRS (20), RUNS_OF_ONE (5) and BENCHCNN come from the environment. Exit status 1 where an answer is no.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/repeat.sh OUT_FOLDER [BENCH OPTIONS...]}
shift
benchcnn=${BENCHCNN:-build/release/benchcnn}
runs=${RUNS:-10} pairs=${PAIRS:-20} of_one=${RUNS_OF_ONE:-5}
[ $# -gt 0 ] || set -- --impl cpu:direct --problem g1mb100ic20ih16oc20oh8kh4sh2ph4dh2 --dir FWD
command -v jq >/dev/null || { source scripts/setup.sh && install_missing jq; }
mkdir -p "$out"
rm -f "$out"/runs.jsonl "$out"/verdicts.jsonl "$out"/[ab]_*.jsonl
bench() { "$benchcnn" bench "${@:2}" --peaks none --quiet --out "$1" >>"$out/log" 2>&1; }
failed=0

# ---- Medians: of each figure the middle, the spread, who lies where, who is marked.
for _ in $(seq "$runs"); do bench "$out/runs.jsonl" "$@"; done
jq -rs '
    [.[] | select(.verified == true and .median_s != null)
         | {figure: "\(.impl):\(.algorithm) \(.op) \(.dir) \(.problem) \(.dtype) \(.layout) threads \(.threads)", median: .median_s, marks}]
    | group_by(.figure)[]
    | (map(.median) | sort) as $m | ($m | length) as $n
    | (if $n % 2 == 1 then $m[($n - 1) / 2] else ($m[$n / 2 - 1] + $m[$n / 2]) / 2 end) as $middle
    | [.[] | select((.median / $middle - 1) | fabs > 0.03)] as $far
    | [.[0].figure, $n, $middle, ($m[-1] / $m[0] - 1) * 100, $n - ($far | length), ([.[] | select(.marks | test("noisy"))] | length),
       ([.[] | select(.marks != "")] | length), ([$far[] | select(.marks == "")] | length), ($m | map(tostring) | join(" "))]
    | @tsv' "$out/runs.jsonl" >"$out/medians.tsv"
[ -s "$out/medians.tsv" ] || { echo "nothing was timed; see $out/log"; exit 1; }
while IFS=$'\t' read -r figure n middle spread within noisy marked unmarked all; do
    printf '%s\n  medians of %d runs, in seconds: %s\n' "$figure" "$n" "$all"
    printf '  middle %.4g s, largest by smallest +%.2f %%; within 3 %% of the middle: %d of %d; noisy: %d, marked at all: %d\n' \
        "$middle" "$spread" "$within" "$n" "$noisy" "$marked"
    if [ $((10 * within)) -ge $((9 * n)) ]; then
        echo "  held: 9 of 10 within 3 %"
    elif [ "$unmarked" -eq 0 ]; then
        echo "  fewer than 9 of 10 within 3 %, and each of the others is marked: this machine does not allow it now"
    else
        echo "  NOT HELD: fewer than 9 of 10 within 3 %, and $unmarked of the others bear no mark"
        failed=1
    fi
done <"$out/medians.tsv"

# ---- Verdicts: A and B are the same program.
for pair in $(seq "$pairs"); do
    for run in $(seq "$of_one"); do # A B B A ...
        order='a b'
        [ $((run % 2)) -eq 1 ] || order='b a'
        for side in $order; do bench "$out/${side}_$pair.jsonl" "$@"; done
    done
    "$benchcnn" compare "$out/a_$pair.jsonl" "$out/b_$pair.jsonl" --out "$out/pair.jsonl" >>"$out/log" 2>&1
    jq -c --argjson pair "$pair" 'select(.kind == "compare") + {pair: $pair}' "$out/pair.jsonl" >>"$out/verdicts.jsonl"
    rm "$out/pair.jsonl"
done
# An alarm of a pair is any figure that is called faster or slower. tail: how likely so many or more are at 5 %.
jq -rs --argjson n "$pairs" '
    def tail($k): reduce range(0; $k) as $i ({p: 1, term: pow(0.95; $n)};
        {p: (.p - .term), term: (.term * ($n - $i) / ($i + 1) * 0.05 / 0.95)}) | [.p, 0] | max;
    (map(.verdict) | group_by(.) | map("\(.[0]) \(length)") | join(", ")) as $verdicts
    | ([.[] | select(.verdict == "FASTER" or .verdict == "SLOWER") | .pair] | unique | length) as $alarms
    | [$verdicts, $alarms, tail($alarms)] | @tsv' "$out/verdicts.jsonl" >"$out/alarms.tsv"
IFS=$'\t' read -r verdicts alarms tail <"$out/alarms.tsv"
printf 'A/A, %d pairs of %d runs a side: %s\n' "$pairs" "$of_one" "$verdicts"
printf '  false alarms: %d of %d pairs; at the stated 5 %% so many or more come about with probability %.3f\n' "$alarms" "$pairs" "$tail"
if awk "BEGIN { exit !($tail < 0.05) }"; then
    echo "  NOT HELD: more than the stated rate explains"
    failed=1
else
    echo "  held: no more than the stated rate explains"
fi
exit $failed
