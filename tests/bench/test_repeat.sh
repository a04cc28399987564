#!/usr/bin/env bash
# test_repeat.sh: bench/repeat.sh with a benchcnn that gives the medians and verdicts it is told: the script counts and
# judges them right.
set -u
command -v jq >/dev/null || { echo "SKIPPED: jq is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*: $(cat "$tmp/said")"; exit 1; }
cat >"$tmp/benchcnn" <<'FAKE'
#!/usr/bin/env bash
here=$(dirname "$0")
out=${*: -1}
next() { head -1 "$here/$1"; sed -i 1d "$here/$1"; }
case $1 in
    bench) read -r median marks <<<"$(next medians)"
        printf '{"kind":"conv","impl":"cpu","algorithm":"direct","op":"conv","dir":"FWD","problem":"x","dtype":"f32","layout":"nchw","threads":1,"verified":true,"median_s":%s,"marks":"%s"}\n' "${median:-1}" "$marks" >>"$out" ;;
    compare) printf '{"kind":"env"}\n{"kind":"compare","verdict":"%s"}\n' "$(next verdicts)" >>"$out" ;;
esac
FAKE
chmod +x "$tmp/benchcnn"
run() { # STATUS MEDIANS VERDICTS: a median is SECONDS[:MARKS]
    tr ' :' '\n ' <<<"$2" >"$tmp/medians"
    tr ' ' '\n' <<<"$3" | tr _ ' ' >"$tmp/verdicts"
    BENCHCNN=$tmp/benchcnn RUNS=$(wc -w <<<"$2") PAIRS=$(wc -w <<<"$3") RUNS_OF_ONE=1 bench/repeat.sh "$tmp/out" --impl x >"$tmp/said" 2>&1
    local got=$?
    [ $got -eq "$1" ] || fail "status $got, not $1"
}
says() { grep -qF -- "$1" "$tmp/said" || fail "nothing says '$1'"; }
same='SAME SAME SAME SAME SAME SAME SAME SAME SAME CANNOT_TELL'
run 0 '1 1.01 0.99 1.02 0.98 1 1 1 1 1.5' "$same" # 9 of 10
says 'within 3 % of the middle: 9 of 10; noisy: 0, marked at all: 0'
says 'largest by smallest +53.06 %'
says 'held: 9 of 10 within 3 %'
says 'CANNOT TELL 1, SAME 9'
says 'false alarms: 0 of 10 pairs'
run 1 '1 1.01 0.99 1.02 0.98 1 1 1 0.5 1.5:disturbed' "$same" # 8, one of the two unmarked
says 'within 3 % of the middle: 8 of 10; noisy: 0, marked at all: 1'
says 'NOT HELD: fewer than 9 of 10 within 3 %, and 1 of the others bear no mark'
run 0 '1:noisy 1.01 0.99 1.02 0.98 1 1 1 0.5:noisy 1.5:disturbed' "$same" # 8, both marked
says 'noisy: 2, marked at all: 3'
says 'each of the others is marked'
run 0 1 'FASTER SAME SAME SAME SAME SAME SAME SAME SAME SAME' # 1 - 0.95^10
says 'false alarms: 1 of 10 pairs; at the stated 5 % so many or more come about with probability 0.401'
run 1 1 'FASTER SLOWER SLOWER SAME SAME SAME SAME SAME SAME SAME' # 1 - the first three terms of the binomial
says 'false alarms: 3 of 10 pairs; at the stated 5 % so many or more come about with probability 0.012'
says 'NOT HELD: more than the stated rate explains'
echo "repeat: all held"
