#!/usr/bin/env bash
# false_alarms.sh: how far can `bench --processes` be trusted on this machine? TRIALS times four candidates are timed in
# PROCESSES rounds of fresh processes: a kernel, the same kernel under another name, and the same with 2 % and 5 % more work
# (PLANTED). How often does `compare` call the same kernel faster or slower, and how often the others slower? Each trial is
# compared by itself, and then two and four of them together, as if there were twice and four times as many rounds; with the
# default margin of 1 %, and with none.
#   bench/false_alarms.sh OUT_FOLDER [BENCH OPTIONS...]
#   PLANTED=tests/cli/planted.cu bench/false_alarms.sh OUT_FOLDER         on a GPU
# Without OPTIONS a round is one process (--together), and its kernels are short ones.
# From the environment:
#   TRIALS (100), PROCESSES (16), BENCHCNN, CC
#   PLANTED (tests/cli/planted.c): what is compiled; a .cu by nvcc; a .so is taken as it is. Other than a .c is for a GPU.
#   ALARM_SECONDS: no trial begins later; what is there then counts, where jq is installed. 0: nothing runs.
# Trials that OUT_FOLDER holds are not run again, and one that was stopped goes on behind its last whole round.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/false_alarms.sh OUT_FOLDER [BENCH OPTIONS...]}
shift
benchcnn=${BENCHCNN:-build/release/benchcnn}
trials=${TRIALS:-100} processes=${PROCESSES:-16} planted=${PLANTED:-tests/cli/planted.c}
if [ $# -eq 0 ]; then
    case $planted in
    *.c) set -- --problem mb4ic4ih10oc25kh3ph1 --min-time 0.02 --max-time 0.04 ;;
    *) set -- --problem mb4ic6ih18oc32oh16kh3ph0 --min-time 0.01 --max-time 0.02 ;; # 32,768 threads, for which even a small GPU has room
    esac
    set -- "$@" --threads 1 --together --warm-up 0.005
fi
# A machine that is lent for a while spends none of it on installing, and may reach nothing.
[ -n "${ALARM_SECONDS:-}" ] || command -v jq >/dev/null || { source scripts/setup.sh && install_missing jq; }
mkdir -p "$out"
if [ ! -e "$out/planted.so" ]; then # or trials that are there would be of another build
    case $planted in
    *.c) "${CC:-cc}" -O2 -shared -fPIC -Iharness -o "$out/planted.so" "$planted" ;;
    *.cu) nvcc -O3 -arch=native -Xcompiler -fPIC,-fvisibility=hidden -shared -D_GNU_SOURCE -I. -Iharness -Itests/cheats -o "$out/planted.so" "$planted" ;;
    *) cp "$planted" "$out/planted.so" ;;
    esac
fi

is_whole() { grep -qs '"kind":"end"' "$out/$1.jsonl"; }
begun=$SECONDS ran=0
for trial in $(seq "$trials"); do
    ! is_whole "$trial" || continue # of an earlier run of this script
    [ $((SECONDS - begun)) -lt "${ALARM_SECONDS:-1000000}" ] || break
    "$benchcnn" bench --plugin "$out/planted.so" --impl planted:plain,planted:same,planted:plus2,planted:plus5 --dir FWD "$@" \
        --processes "$processes" --quiet --out "$out/$trial.jsonl" >>"$out/log" 2>&1 || { tail -3 "$out/log"; exit 1; }
    ran=$((ran + 1))
done
printf '%d trials of %d rounds run, %d s, load %s\n' $ran "$processes" $((SECONDS - begun)) "$(cut -d' ' -f1-3 /proc/loadavg)"
whole=0
while [ $whole -lt "$trials" ] && is_whole $((whole + 1)); do whole=$((whole + 1)); done
[ $whole -eq "$trials" ] || printf '%d of %d trials are there: the same command goes on with them\n' $whole "$trials"
trials=$whole
[ "$trials" -gt 0 ] || exit 0
command -v jq >/dev/null || { echo "jq is not here: judge these trials where it is, by ALARM_SECONDS=0" && exit 0; }
rm -f "$out/verdicts"

# compared FIRST WIDTH MARGIN: so many trials from the first on.
compared() {
    local files=() i
    for ((i = $1; i < $1 + $2; i++)); do files+=("$out/$i.jsonl"); done
    cat "${files[@]}" >"$out/joined.jsonl"
    "$benchcnn" compare "$out/joined.jsonl" --across impl --baseline planted:plain --threshold "$3" --out "$out/compared.jsonl" >>"$out/log" 2>&1 ||
        { tail -1 "$out/log"; exit 1; } # trials of two machines or builds, say
    jq -c --argjson first "$1" --argjson rounds $(($2 * processes)) --arg asked "$3" \
        'select(.kind == "compare") + {first: $first, rounds: $rounds, asked: $asked}' "$out/compared.jsonl" >>"$out/verdicts"
    rm "$out/joined.jsonl" "$out/compared.jsonl"
}
for width in 1 2 4; do
    for ((first = 1; first + width - 1 <= trials; first += width)); do
        for margin in 1% 0%; do compared $first $width $margin; done
    done
done
jq -rs '
    def count(f): [.[] | select(f)] | length;
    def middle: sort | .[length / 2 | floor] * 10000 | round / 10000;
    map(. + {candidate: (.b_figure | capture("algorithm=(?<name>[^ ]+)").name)}) | group_by([.asked, .rounds])[]
    | "margin \(.[0].asked), \(.[0].rounds) rounds" as $what
    | (group_by(.candidate)[] | "\($what)  \(.[0].candidate): of \(length) SLOWER \(count(.verdict == "SLOWER")), FASTER \(count(.verdict == "FASTER")), SAME \(count(.verdict == "SAME")), CANNOT TELL \(count(.verdict == "CANNOT TELL")); middle of the ratios \(map(.ratio) | middle)"),
      "\($what)  A/A: of \(group_by(.first) | length) in \(group_by(.first) | map(.[0]) | count(.control_p <= 0.01)) the baseline differs from itself"' "$out/verdicts"
