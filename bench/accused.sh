#!/usr/bin/env bash
# accused.sh: does `bench` accuse honest kernels? Random convolutions, FC layers and transposed convolutions are timed and judged,
# round by round, until FIGURES have been; then every figure that is not PASSED is shown, with the command that repeats it (status 1).
#   bench/accused.sh OUT_FOLDER IMPL,... [BENCH OPTIONS...]
# FIGURES (3000), SEED (1), BENCHCNN come from the environment. Rounds that OUT_FOLDER holds are not run again.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/accused.sh OUT_FOLDER IMPL,... [BENCH OPTIONS...]} impls=${2:?which implementations}
shift 2
benchcnn=${BENCHCNN:-build/release/benchcnn}
figures=${FIGURES:-3000} seed=${SEED:-1}
[ $# -gt 0 ] || set -- --warm-up 0.002 --min-time 0.005 --max-time 0.05
mkdir -p "$out"

problems() { # OP ROUND COUNT
    awk -v op="$1" -v seed="$((seed * 100000 + $2))" -v count="$3" '
        function of(from, to) { return from + int(rand() * (to - from + 1)) }
        BEGIN {
            srand(seed)
            for (i = 0; i < count; i++) {
                mb = of(1, 8); ic = of(1, 48); oc = of(1, 48)
                if (op == "fc") { printf "mb%dic%doc%d\n", of(1, 200), of(1, 400), of(1, 200); continue }
                kh = 2 * of(0, 2) + 1
                printf "mb%dic%dih%doc%dkh%dsh%dph%d\n", mb, ic, of(kh, 20), oc, kh, of(1, 2), of(0, int(kh / 2))
            }
        }'
}
# Of each case its verdict, the command that repeats it, and the reason.
states() {
    sed -n 's/.*"state":"\([A-Z]*\)".*/\1\t&/; T; s/\t.*"reason":"\([^"]*\)".*"repro":"\([^"]*\)".*/\t\2\t\1/; t shown; s/\t.*"repro":"\([^"]*\)".*/\t\1\t/; T; : shown; p' \
        "$out"/*.jsonl 2>/dev/null
}
count() { states | grep -c "^$1" || true; }

begun=$SECONDS
for ((round = 1; $(count PASSED) < figures; round++)); do
    for op in conv fc deconv; do
        ! grep -qs '"kind":"end"' "$out/$op.$round.jsonl" || continue
        problems $op $round 3 >"$out/problems"
        status=0
        "$benchcnn" bench --impl "$impls" --op $op --problems "$out/problems" --seed $round "$@" --quiet --out "$out/$op.$round.jsonl" \
            >>"$out/log" 2>&1 || status=$?
        [ $status -le 1 ] || { tail -3 "$out/log"; exit 1; }
    done
done
states | cut -f1 | sort | uniq -c
accused=$(states | grep -vE '^(PASSED|UNSUPPORTED)' || true)
printf '%s' "${accused:+$accused$'\n'}"
printf '%d s, load %s\n' $((SECONDS - begun)) "$(cut -d' ' -f1-3 /proc/loadavg)"
[ -z "$accused" ]
