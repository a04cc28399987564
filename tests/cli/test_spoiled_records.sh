#!/usr/bin/env bash
# test_spoiled_records.sh BENCHCNN CC: records cannot be spoiled: not by a plug-in that changes how numbers are written or
# rounded, not by a second command on the same file, not by a kill at any moment, of a recipe or of a training run.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
cc=$2
count() { grep -c "^{\"kind\":\"$2\",.*}\$" "$1" 2>/dev/null; }
# What tells records apart, without what differs from run to run; sorted, so that one made twice or lost shows.
keys() {
    grep -E '^\{"kind":"(verify|case|conv|epoch|losses|compare)"' "$1" |
        grep -oE '"(kind|impl|algorithm|problem|dir|check|epoch|number|figure)":("([^"\\]|\\.)*"|[0-9]+)' | paste -sd' ' | sed 's/ *"kind"/\n&/g' | sort
}
ends() { # PID WHAT: the process ends within ten seconds
    for _ in $(seq 1000); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.01
    done
    fail "$2 goes on"
}
wait_for() { # COMMAND...: until it holds, for up to ten seconds
    local left=1000
    until "$@" 2>/dev/null || [ $((left--)) -eq 0 ]; do sleep 0.01; done
}

# ---- Plug-ins that change how numbers are written, and how they are rounded.
plugin() { # NAME INCLUDES CHANGE: impl_template with the change, as $tmp/NAME.so
    { echo "$2"; sed -E "$3" impl_template/mine.c; } >"$tmp/$1.c"
    "$cc" -D_GNU_SOURCE -O1 -shared -fPIC -Iharness -o "$tmp/$1.so" "$tmp/$1.c" -lm || fail "$1 cannot be compiled"
}
# A locale with a comma for a decimal point, in glibc's format: magic number, six fields, where they begin, the fields.
mkdir -p "$tmp/locale/xx"
{ printf '\x14\x11\x03\x20\x06\0\0\0\x20\0\0\0\x22\0\0\0\x23\0\0\0\x24\0\0\0\x28\0\0\0\x2c\0\0\0'; printf ',\0\0\x7f,\0\0\0\0\0\0\0ANSI_X3.4-1968\0'; } >"$tmp/locale/xx/LC_NUMERIC"
export LOCPATH=$tmp/locale
opens='s/^( *)\(\*context\)->threads = .*/&\n'
plugin comma '#include <locale.h>' "$opens\1if (setlocale(LC_NUMERIC, \"xx\") == NULL) return CNN_FAIL(err, CNN_UNAVAILABLE, \"no such locale\");/"
plugin own_comma '#include <locale.h>' "$opens\1uselocale(newlocale(LC_NUMERIC_MASK, \"xx\", (locale_t)0));/"
for so in comma own_comma; do
    mine=(--plugin "$tmp/$so.so" --impl mine,cpu:direct --dir FWD --quiet --problem mb2ic3ih8oc5kh3 --out "$tmp/$so.jsonl")
    "$benchcnn" verify "${mine[@]}" --set cpu.isa=0 >"$tmp/log" 2>&1 || { grep -q 'no such locale' "$tmp/log" && continue; fail "verify, $so: $(tail -3 "$tmp/log")"; }
    "$benchcnn" bench "${mine[@]}" --min-time 0.01 --max-time 0.02 --peaks none >"$tmp/log" 2>&1 || fail "bench, $so: $(tail -3 "$tmp/log")"
    grep -q 'µs.*[0-9],[0-9]' "$tmp/log" && fail "$so: figures with a comma"
    "$benchcnn" train --plugin "$tmp/$so.so" --impl cpu:direct --net tests/cheats/small.net --data synthetic --images 100,50 --batch 50 \
        --optimizer adam,lr=0.002 --quiet --out "$tmp/$so.jsonl" >"$tmp/log" 2>&1 || fail "train, $so: $(tail -3 "$tmp/log")"
    "$benchcnn" table "$tmp/$so.jsonl" --kind timings --format csv >"$tmp/log" 2>&1 || fail "$so: the records cannot be read"
    grep -q 'no record' "$tmp/log" && fail "$so: a line is no record"
    [ "$(count "$tmp/$so.jsonl" conv)" -eq 2 ] || fail "$so: not two figures"
    grep '"median_s":' "$tmp/$so.jsonl" | grep -qvE '"median_s":[0-9.e+-]+,"' && fail "$so: a number with a comma"
    grep -q '"median_s":[0-9]*\.[0-9]' "$tmp/$so.jsonl" || fail "$so: no number with a point"
    tests=$((tests + 1))
done
[ $tests -gt 0 ] || echo "no locale with a comma can be made here: not tested"
unset LOCPATH
plugin upward '#include <fenv.h>' 's/^( *)const float \*b = args->b;/\1fesetround(FE_UPWARD);\n&/'
"$benchcnn" bench --plugin "$tmp/upward.so" --impl mine,cpu:naive --dir FWD --problem mb2ic3ih8oc5kh3 --min-time 0.01 --max-time 0.02 --peaks none \
    --quiet --out "$tmp/upward.jsonl" >"$tmp/log" 2>&1
[ $? -eq 1 ] || fail "a rounding mode that is left changed does not end with status 1"
holds "a rounding mode that is left changed" "$tmp/log" 'mine: ops->conv_fwd left the rounding mode changed|1 timed and verified, 0 wrong, 1 failed'
holds "who is timed beside it" "$tmp/upward.jsonl" '"impl":"cpu".*"state":"PASSED"' -E

# ---- One command at a time. The first one's runs are long: a measurement ends after 200,000 samples, too.
"$benchcnn" bench --impl cpu:naive --problem ic16ih40oc32kh3 --dir FWD --min-time 60 --max-time 60 --peaks none --quiet --out "$tmp/one.jsonl" >/dev/null 2>&1 &
first=$!
wait_for grep -q '"kind":"env"' "$tmp/one.jsonl"
cp "$tmp/one.jsonl" "$tmp/one.before"
quick='verify --impl cpu:naive --dir FWD --problem ic3ih8oc4kh3 --quiet --out'
echo "$quick \"\$OUT\"" >"$tmp/any.recipe"
refused() { # COMMAND...: it waits for its turn a while, and is told whose it is
    local log failures=0
    log=$(mktemp -p "$tmp")
    "$benchcnn" "$@" --out "$tmp/one.jsonl" >"$log" 2>&1
    [ $? -eq 2 ] || fail "a second command on a file does not end with status 2: $*"
    holds "a second command" "$log" "one.jsonl is being written by"
    [ ! -r /proc/locks ] || holds "a second command" "$log" "process $first:"
    exit $failures
}
# shellcheck disable=SC2086  # several words on purpose
{
    refused ${quick/--out/} &
    waiting=($!)
    refused ${quick/--out/} --isolate &
    waiting+=($!)
    refused run "$tmp/any.recipe" &
    waiting+=($!)
}
for pid in "${waiting[@]}"; do wait "$pid" || failures=$((failures + 1)); done
cmp -s "$tmp/one.jsonl" "$tmp/one.before" || fail "a refused command wrote to the file"
kill -KILL $first
# shellcheck disable=SC2086
"$benchcnn" $quick "$tmp/one.jsonl" >"$tmp/log" 2>&1 || fail "what a killed command held is not given back: $(tail -1 "$tmp/log")"
wait $first 2>/dev/null

# ---- A recipe, stopped behind each of its records.
cat >"$tmp/short.recipe" <<'EOF'
verify --impl cpu:naive --op conv --dir FWD --check exact,bound --problem ic3ih8oc4kh3 --quiet --out "$OUT"
bench --impl cpu:direct,cpu:naive --problem ic3ih8oc4kh3 --dir FWD --peaks none --isolate --min-time 0.01 --max-time 0.01 --warm-up 0 --quiet --out "$OUT"
bench --impl cpu:direct,cpu:naive --problem ic3ih8oc4kh3 --dir FWD --peaks none --isolate --min-time 0.01 --max-time 0.01 --warm-up 0 --quiet --out "$OUT"
train --net tests/cheats/small.net --impl cpu:direct --data synthetic --images 100,50 --batch 50 --epochs 2 --samples --quiet --out "$OUT"
compare $OTHERS $OTHERS --out "$OUT"
EOF
export OTHERS=$tmp/upward.jsonl
out=$tmp/out.jsonl
recipe() { "$benchcnn" run "$tmp/short.recipe" --out "$out" >"$tmp/log" 2>&1; }
recipe || fail "the recipe: $(tail -3 "$tmp/log")"
cp "$out" "$tmp/whole.jsonl"
[ "$(count "$tmp/whole.jsonl" conv)" -eq 4 ] || fail "lines that are alike are not both run"
for lines in $(seq 1 $(($(wc -l <"$tmp/whole.jsonl") - 1))); do
    head -n "$lines" "$tmp/whole.jsonl" >"$out"
    recipe || fail "behind line $lines the recipe does not go on: $(tail -3 "$tmp/log")"
    [ "$(keys "$out")" = "$(keys "$tmp/whole.jsonl")" ] || fail "behind line $lines: $(diff <(keys "$tmp/whole.jsonl") <(keys "$out") | grep '^[<>]' | head -3)"
    tests=$((tests + 1))
done
cp "$out" "$tmp/before.jsonl"
recipe && cmp -s "$out" "$tmp/before.jsonl" || fail "a finished recipe runs again"

# ---- Killed at random moments, and given again at once.
RANDOM=${SEED:-$$}
echo "random kills: SEED=$RANDOM"
rm -f "$out"
signals=(KILL TERM HUP INT) kills=0 end=$((SECONDS + ${KILL_SECONDS:-10}))
while [ $SECONDS -lt $end ]; do
    "$benchcnn" run "$tmp/short.recipe" --out "$out" >"$tmp/log" 2>&1 &
    pid=$!
    sleep "0.$(printf %03d $((RANDOM % 400)))"
    kill -s "${signals[RANDOM % 4]}" $pid 2>/dev/null && kills=$((kills + 1))
    wait $pid 2>/dev/null
    status=$?
    grep -q 'is being written' "$tmp/log" && fail "the step of a killed recipe goes on"
    [ $status -ne 0 ] && continue
    [ "$(keys "$out")" = "$(keys "$tmp/whole.jsonl")" ] || { fail "after kills: $(diff <(keys "$tmp/whole.jsonl") <(keys "$out") | grep '^[<>]' | head -3)"; break; }
    rm -f "$out"
done
recipe || fail "after $kills kills the recipe does not go on: $(tail -3 "$tmp/log")"
[ "$(keys "$out")" = "$(keys "$tmp/whole.jsonl")" ] || fail "after $kills kills: $(diff <(keys "$tmp/whole.jsonl") <(keys "$out") | grep '^[<>]' | head -3)"

# A signal is passed on, and a step that goes on for long does not outlive the recipe. Its runs are long, as above: under load 200,000 short
# ones end before the signal comes.
echo 'bench --impl cpu:naive --problem ic16ih40oc32kh3 --dir FWD --min-time 60 --max-time 60 --peaks none --quiet --out "$OUT"' >"$tmp/long.recipe"
for signal in TERM INT HUP KILL; do
    rm -f "$tmp/long.jsonl"
    "$benchcnn" run "$tmp/long.recipe" --out "$tmp/long.jsonl" >"$tmp/log" 2>&1 &
    pid=$!
    wait_for grep -q '"kind":"env"' "$tmp/long.jsonl"
    step=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
    sleep 0.2
    kill -s $signal $pid
    wait $pid 2>/dev/null
    status=$?
    [ -z "$step" ] || ends "${step%% *}" "after SIG$signal the step"
    [ $signal = KILL ] || [ $signal = HUP ] || [ $status -eq 130 ] || fail "after SIG$signal the recipe ends with $status, not 130"
    [ $signal != TERM ] || holds "a recipe that was asked to stop" "$tmp/log" 'stopping after the current step|interrupted at line 1'
    [ "$(count "$tmp/long.jsonl" conv)" -eq 0 ] || fail "a measurement that was cut short is recorded"
done

# ---- An epoch, killed between its record and its checkpoint: a checkpoint is written beside, where a pipe that nobody
# reads holds it up. The number of epochs stands behind its first 2056 bytes.
command=("$benchcnn" train --net tests/cheats/small.net --impl cpu:direct --data synthetic --images 20000,50 --batch 50 --epochs 4 --samples --quiet
    --checkpoint "$tmp/c" --out "$tmp/epochs.jsonl")
kept() { od -An -j 2056 -N 8 -t d8 "$tmp/c" 2>/dev/null | tr -d ' \n'; }
begun() { [ "$(count "$tmp/epochs.jsonl" env)" = "$1" ] && [ ! -e "$tmp/c.new" ]; }
has_kept() { [ "$(kept)" = "$1" ]; }
has_losses() { [ "$(count "$tmp/epochs.jsonl" losses)" -ge "$1" ]; }
between=0
for attempt in 1 2 3 4 5; do
    rm -f "$tmp/c" "$tmp/c.new" "$tmp/epochs.jsonl"
    for epoch in 1 3; do
        "${command[@]}" >"$tmp/log" 2>&1 &
        pid=$!
        [ $epoch -gt 1 ] || wait_for begun 1
        [ $epoch -eq 1 ] || wait_for has_kept $((epoch - 1))
        mkfifo "$tmp/c.new" 2>/dev/null
        wait_for has_losses $epoch
        sleep 0.05
        kill -KILL $pid
        wait $pid 2>/dev/null
        rm -f "$tmp/c.new"
        [ "$(count "$tmp/epochs.jsonl" epoch)" = $epoch ] && [ "$(kept)" != $epoch ] && between=$((between + 1))
    done
    "${command[@]}" >"$tmp/log" 2>&1 || fail "the training does not go on: $(tail -3 "$tmp/log")"
    epochs=$(grep '"kind":"epoch"' "$tmp/epochs.jsonl" | grep -o '"epoch":[0-9]*' | paste -sd' ')
    [ "$epochs" = '"epoch":1 "epoch":2 "epoch":3 "epoch":4' ] || fail "not each epoch once: $epochs"
    [ "$(count "$tmp/epochs.jsonl" losses)" -eq 4 ] || fail "not the losses of each epoch once"
    [ $between -lt 2 ] || break
done
[ $between -ge 2 ] || fail "no kill came between a record and its checkpoint"
finish
