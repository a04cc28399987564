#!/usr/bin/env bash
# test_interrupts.sh BENCHCNN: a sweep that is killed or interrupted, or whose disk is full, keeps every finished record;
# the same command goes on where it stopped.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sweep=("$benchcnn" sweep batch --impl cpu:im2col --net thesis --batch 4,8,16,2 --data synthetic --images "${INTERRUPT_IMAGES:-1600,160}"
    --quiet)
fail() { echo "FAILED: $*"; exit 1; }
epochs() {
    grep -c '"kind":"epoch".*}$' "$1" 2>/dev/null
    [ -f "$1" ] || echo 0
}

# Every line but a torn last one is a whole record.
whole() { head -n -1 "$1" | grep -qv '^{.*}$' && fail "$1 holds a broken record"; }

for signal in KILL INT; do
    out=$tmp/$signal.jsonl
    "${sweep[@]}" --out "$out" >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 6000); do
        [ "$(epochs "$out")" -ge 1 ] && break
        sleep 0.05
    done
    kill -s $signal $pid 2>/dev/null
    wait $pid
    status=$?
    kept=$(epochs "$out")
    [ "$kept" -ge 1 ] || fail "SIG$signal left no finished record"
    [ "$kept" -lt 4 ] || fail "SIG$signal came too late to test anything"
    [ $signal = KILL ] || [ $status -eq 130 ] || fail "an interrupt ended with $status, not 130"
    whole "$out"
    printf '{"kind":"epoch","half a rec' >>"$out" # as a kill in mid-write leaves it
    "${sweep[@]}" --out "$out" >"$tmp/log" 2>&1 || fail "the sweep did not go on after SIG$signal: $(tail -3 "$tmp/log")"
    grep -q 'half a record.*cut off, 27 bytes' "$tmp/log" || fail "that half a record is cut off is not said: $(cat "$tmp/log")"
    grep -qv '^{.*}$' "$out" && fail "a broken line stays in $out"
    [ "$(epochs "$out")" -eq 4 ] || fail "after SIG$signal and resuming there are not 4 epochs"
done

# A measurement that is cut short, in the only case too, is no record.
out=$tmp/bench.jsonl
"$benchcnn" bench --impl cpu:direct --problem ic3ih8oc4kh3 --dir FWD --min-time 60 --max-time 60 --peaks none --quiet \
    --out "$out" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 6000); do
    [ -s "$out" ] && break # its environment: it runs
    sleep 0.05
done
sleep 0.3
kill -s INT $pid 2>/dev/null
wait $pid
status=$?
[ $status -eq 130 ] || fail "an interrupted bench ended with $status, not 130"
grep -q '"kind":"conv"' "$out" && fail "an interrupted measurement was recorded"

"${sweep[@]}" --out /dev/full >/dev/null 2>"$tmp/err"
[ $? -eq 2 ] || fail "a full disk does not end with status 2"
grep -q '/dev/full' "$tmp/err" || fail "a full disk is not named: $(cat "$tmp/err")"
echo "interrupts: all held"
