#!/usr/bin/env bash
# false_alarms.sh: how far can `bench --processes` be trusted on this machine? TRIALS times four candidates are compared over
# PROCESSES fresh processes of each: a kernel, the same kernel under another name, and the same with 2 % and 5 % more work
# (tests/cli/planted.c). How often is the same kernel called faster or slower, and how often are the others called slower?
# Each trial is compared twice, with the default margin of 1 %, and with none.
#   bench/false_alarms.sh OUT_FOLDER [BENCH OPTIONS...]
# TRIALS (100), PROCESSES (12), BENCHCNN and CC come from the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/false_alarms.sh OUT_FOLDER [BENCH OPTIONS...]}
shift
benchcnn=${BENCHCNN:-build/release/benchcnn}
trials=${TRIALS:-100} processes=${PROCESSES:-12}
[ $# -gt 0 ] || set -- --problem mb4ic8ih10oc25kh3ph1 --threads 1 --warm-up 0.01 --min-time 0.03 --max-time 0.06
command -v jq >/dev/null || { source scripts/setup.sh && install_missing jq; }
mkdir -p "$out"
"${CC:-cc}" -O2 -shared -fPIC -Iharness -o "$out/planted.so" tests/cli/planted.c
begun=$SECONDS
rm -f "$out"/*.jsonl "$out/log"
for trial in $(seq "$trials"); do
    file=$out/$trial.jsonl
    "$benchcnn" bench --plugin "$out/planted.so" --impl planted:plain,planted:same,planted:plus2,planted:plus5 --dir FWD "$@" \
        --processes "$processes" --quiet --out "$file" >>"$out/log" 2>&1 || { tail -3 "$out/log"; exit 1; }
    for margin in 1% 0%; do
        "$benchcnn" compare "$file" --across impl --baseline planted:plain --threshold $margin --out "$out/compared.jsonl" >>"$out/log" 2>&1
        jq -c --argjson trial "$trial" --arg asked $margin 'select(.kind == "compare") + {trial: $trial, asked: $asked}' \
            "$out/compared.jsonl" >>"$out/verdicts"
        rm "$out/compared.jsonl"
    done
done
printf '%d trials of %d processes a candidate, %d s, load %s\n' "$trials" "$processes" $((SECONDS - begun)) "$(cut -d' ' -f1-3 /proc/loadavg)"
jq -rs '
    def count(f): [.[] | select(f)] | length;
    def middle: sort | .[length / 2 | floor] * 10000 | round / 10000;
    map(. + {candidate: (.b_figure | capture("algorithm=(?<name>[^ ]+)").name)}) | group_by(.asked)[]
    | .[0].asked as $asked
    | (group_by(.candidate)[] | "margin \($asked)  \(.[0].candidate): of \(length) SLOWER \(count(.verdict == "SLOWER")), FASTER \(count(.verdict == "FASTER")), SAME \(count(.verdict == "SAME")), CANNOT TELL \(count(.verdict == "CANNOT TELL")); middle of the ratios \(map(.ratio) | middle)"),
      "margin \($asked)  A/A: in \(group_by(.trial) | map(.[0]) | count(.control_p <= 0.01)) trials the baseline differs from itself"' "$out/verdicts"
