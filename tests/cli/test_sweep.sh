#!/usr/bin/env bash
# test_sweep.sh BENCHCNN: sweeps of single operations: the product of the axes is complete, each point is verified, timed
# and repeatable, what cannot run is recorded with its reason, the table says what the records do, and nothing that is
# recorded is run again.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
points() { grep -c '"kind":"sweep",.*}$' "$1"; }
count() { grep '"kind":"sweep",' "$1" | grep -c -- "$2"; }
common=(--impl cpu:direct,cpu:im2col --problem mb4ic3ih9oc5kh3 --dir FWD --min-time 0.002 --max-time 0.01 --warm-up 0 --quiet)
sweep() { "$benchcnn" sweep "$@" "${common[@]}" --peaks none; }

# 3 instruction sets x 2 block sizes, x 2 algorithms x 2 thread counts; the default (256 KiB, every core) is one of them.
all=(knob,threads,algorithm --knob cpu.isa --knob cpu.im2col.block_kib=64,256 --threads 2 --out "$tmp/all.jsonl")
sweep "${all[@]}" >"$tmp/log" 2>&1 || fail "the sweep: $(cat "$tmp/log")"
[ "$(points "$tmp/all.jsonl")" -eq 24 ] || fail "$(points "$tmp/all.jsonl") points, not 24"
[ "$(count "$tmp/all.jsonl" '"verified":true')" -eq 24 ] || fail "not every point is verified"
[ "$(grep '"kind":"sweep",' "$tmp/all.jsonl" | grep -o '"repro":"[^"]*"' | sort -u | wc -l)" -eq 24 ] || fail "points are repeated"
[ "$(count "$tmp/all.jsonl" '"default":true')" -eq 1 ] || fail "there is not one default"
grep -q 'default: rank [0-9]* of 24, regret [1-9][0-9.]*$' "$tmp/log" || fail "no rank and regret: $(cat "$tmp/log")"
grep -q '24 points run in .* % of it in timed runs' "$tmp/log" || fail "no summary: $(cat "$tmp/log")"

# Shares of the time are shares: of a sweep whose control counts for much, too.
"$benchcnn" sweep knob --knob cpu.ISA=1,1 --impl cpu:direct --problem mb2ic4ih8oc4kh3 --dir FWD --peaks none --min-time 0.05 --max-time 0.05 --quiet >"$tmp/short" 2>&1
for said in log short; do
    sed -n 's/.* s: \([0-9]*\) % of it in timed runs, \([0-9]*\) % in their.*/\1 \2/p' "$tmp/$said" | awk '{ exit !($1 + $2 <= 100) }' ||
        fail "shares above 100 %: $(tail -1 "$tmp/$said")"
done
grep -q '^2 points run' "$tmp/short" || fail "a value that is given twice is a point twice: $(cat "$tmp/short")"

# The best and the regret are those of the final heat, in which the leaders and the default ran side by side.
finals() { grep '"kind":"sweep_final",' "$1"; }
value() { grep -o "\"$1\":[^,}]*" | cut -d: -f2; }
[ "$(finals "$tmp/all.jsonl" | wc -l)" -ge 2 ] && [ "$(finals "$tmp/all.jsonl" | wc -l)" -le 9 ] || fail "$(finals "$tmp/all.jsonl" | wc -l) in the final heat"
[ "$(finals "$tmp/all.jsonl" | value final_heat | sort -u)" = 1 ] || fail "not one final heat"
[ "$(finals "$tmp/all.jsonl" | grep -c '"default":true')" -eq 1 ] || fail "the default is not in the final heat"
best=$(finals "$tmp/all.jsonl" | value median_s | sort -g | head -1)
usual=$(finals "$tmp/all.jsonl" | grep '"default":true' | value median_s)
said=$(grep '"kind":"sweep_best"' "$tmp/all.jsonl" | value median_s)
regret=$(grep '"kind":"sweep_best"' "$tmp/all.jsonl" | value regret)
[ "$best" = "$said" ] || fail "the best is said to take $said s, but a point took $best s"
awk "BEGIN { d = $regret - $usual / $best; exit !(d < 1e-6 && d > -1e-6) }" || fail "a regret of $regret, but $usual / $best"

# What a record says repeats it.
repro=$(grep '"kind":"sweep",' "$tmp/all.jsonl" | grep '"isa":1' | tail -1 | sed 's/.*"repro":"benchcnn \([^"]*\)".*/\1/')
"$benchcnn" $repro --min-time 0 --warm-up 0 --peaks none --quiet --out "$tmp/again.jsonl" >/dev/null || fail "cannot repeat: $repro"
grep -q '"kind":"conv".*"knobs":{.*"isa":1' "$tmp/again.jsonl" || fail "another point is repeated by $repro"

# Again: nothing runs; without some of its records and with half of one: only those.
sweep "${all[@]}" >"$tmp/log" 2>&1
grep -q '^0 points run in .*24 already in' "$tmp/log" || fail "a finished sweep ran again: $(cat "$tmp/log")"
[ "$(grep -c '"kind":"sweep_\(final\|best\)"' "$tmp/all.jsonl")" -eq $(($(finals "$tmp/all.jsonl" | wc -l) + 1)) ] || fail "who won is recorded twice"
# A final heat that was cut short is run anew, whole.
grep '"kind":"sweep\(_final\)\?",' "$tmp/all.jsonl" | sed '$d' >"$tmp/lost.jsonl"
sweep "${all[@]}" --out "$tmp/lost.jsonl" >"$tmp/log" 2>&1
[ "$(grep '"kind":"sweep_best"' "$tmp/lost.jsonl" | value final_heat)" = 2 ] || fail "half a final heat was taken for a whole one"
{ grep '"kind":"sweep",' "$tmp/all.jsonl" | head -15; printf '{"kind":"sweep","half a rec'; } >"$tmp/part.jsonl"
sweep "${all[@]}" --out "$tmp/part.jsonl" >"$tmp/log" 2>&1
grep -q '^9 points run in .*15 already in' "$tmp/log" || fail "not just the missing points ran: $(cat "$tmp/log")"
[ "$(points "$tmp/part.jsonl")" -eq 24 ] || fail "after resuming there are $(points "$tmp/part.jsonl") points, not 24"

# What another build measured, or this one with other libraries, is measured again, and said to be; an older record does not say.
for other in 's/"build":"[^"]*"/"build":"0badc0de"/' 's/"libraries":"[^"]*"/"libraries":"0badc0de"/' 's/"build":"[^"]*",//'; do
    sed "/\"kind\":\"sweep/{/\"threads\":2/$other;}" "$tmp/all.jsonl" >"$tmp/built.jsonl"
    sweep "${all[@]}" --out "$tmp/built.jsonl" >"$tmp/log" 2>&1
    others=$(count "$tmp/all.jsonl" '"threads":2')
    grep -q "^$others points run in .*$((24 - others)) already in .*; $others of them again, for another build" "$tmp/log" || fail "not just another build's points ran: $(cat "$tmp/log")"
    [ "$(grep -c 'another build of benchcnn measured.*measured again$' "$tmp/log")" -eq 1 ] || fail "what is measured again is not said once"
    sweep "${all[@]}" --out "$tmp/built.jsonl" >"$tmp/log" 2>&1
    grep -q '^0 points run in .*24 already in' "$tmp/log" || fail "what was measured again is not kept: $(cat "$tmp/log")"
    grep -q 'another build' "$tmp/log" && fail "nothing is measured again, but said to be"
done

batch=("$benchcnn" sweep batch --impl cpu:direct,cpu:im2col --net thesis --batch 20 --data synthetic --train-images 40 --test-images 20
    --quiet --out "$tmp/batch.jsonl")
"${batch[@]}" >"$tmp/log" 2>&1 || fail "sweep batch: $(cat "$tmp/log")"
sed -i '/"kind":"epoch","impl":"cpu","algorithm":"direct"/s/"build":"[^"]*"/"build":"0badc0de"/' "$tmp/batch.jsonl"
"${batch[@]}" >"$tmp/log" 2>&1
[ "$(grep -c '"kind":"epoch"' "$tmp/batch.jsonl")" -eq 3 ] || fail "not just another build's epoch was trained again: $(cat "$tmp/log")"
[ "$(grep -c 'another build of benchcnn measured.*measured again$' "$tmp/log")" -eq 1 ] || fail "what is trained again is not said once: $(cat "$tmp/log")"
"${batch[@]}" >"$tmp/log" 2>&1
[ "$(grep -c 'already in' "$tmp/log")" -eq 2 ] || fail "what was trained again is not kept: $(cat "$tmp/log")"

# Types; the other seed, or without a bias, is another point.
sweep layout,dtype --out "$tmp/types.jsonl" >"$tmp/log" 2>&1 || fail "types: $(cat "$tmp/log")"
[ "$(points "$tmp/types.jsonl")" -eq 4 ] || fail "$(points "$tmp/types.jsonl") types, not 4"
sweep layout,dtype --no-bias --out "$tmp/types.jsonl" >"$tmp/log" 2>&1
[ "$(points "$tmp/types.jsonl")" -eq 8 ] || fail "points without a bias were taken for those with"

# What cannot run: the reason in the record, and the others run.
"$benchcnn" sweep algorithm,knob --impl cpu --knob cpu.isa=0,1 --problem mb2ic4ih8oc6kh3sh2 --dir FWD --min-time 0 --peaks none --warm-up 0 \
    --math tf32 --quiet --out "$tmp/unsupported.jsonl" >"$tmp/log" 2>&1
refused=$(count "$tmp/unsupported.jsonl" '"state":"UNSUPPORTED","reason":"[^"]')
[ "$refused" -ge 1 ] || fail "nothing unsupported is recorded: $(cat "$tmp/log")"
[ "$((refused + $(count "$tmp/unsupported.jsonl" '"verified":true')))" -eq "$(points "$tmp/unsupported.jsonl")" ] || fail "neither timed nor refused"

# An interrupt keeps the finished heats; the same command does the rest.
slow=(knob --knob cpu.im2col.block_kib --threads 1 --min-time 0.1 --max-time 0.1 --out "$tmp/int.jsonl")
expected=13 # 16, 32 ... 65536
slow=("$benchcnn" sweep "${common[@]}" "${slow[@]}" --impl cpu:im2col)
"${slow[@]}" >"$tmp/log" 2>&1 &
pid=$!
for _ in $(seq 600); do
    [ -f "$tmp/int.jsonl" ] && [ "$(points "$tmp/int.jsonl")" -ge 1 ] && break
    sleep 0.05
done
kill -s INT $pid 2>/dev/null
wait $pid
status=$?
kept=$(points "$tmp/int.jsonl")
[ "$kept" -ge 1 ] && [ "$kept" -lt $expected ] || fail "$kept of $expected points after an interrupt"
[ $status -eq 130 ] || fail "an interrupt ended with $status, not 130"
"${slow[@]}" >"$tmp/log" 2>&1 || fail "the sweep did not go on: $(cat "$tmp/log")"
[ "$(points "$tmp/int.jsonl")" -eq $expected ] || fail "after resuming there are $(points "$tmp/int.jsonl") points, not $expected"

# Slips, each in words.
refused() {
    "$benchcnn" sweep "${@:2}" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && grep -qF -- "$1" "$tmp/log" || fail "sweep ${*:2}: not refused with '$1': $(cat "$tmp/log")"
}
refused "'thread' cannot be swept" thread
refused "goes with no other axis" batch,threads
refused "which one? --knob" knob
refused "knob is not among what is swept" threads --knob cpu.isa
refused "did you mean 'isa'" knob --knob cpu.iso
refused "must be from 0 to 2" knob --knob cpu.isa=1,7
refused "is swept already" knob --knob cpu.isa=1 --knob cpu.isa=2
refused "not of the form" knob --knob isa
refused "dtype must be among what is swept" threads --dtype f32,f64 --impl cpu
# What one kind of sweep understands is no option of the other.
for option in '--op conv' '--dir FWD' '--problem ic3ih8oc4kh3' '--problems f' '--knob cpu.isa' '--cache cold' '--samples' '--no-bias' '--min-time 1'; do
    # shellcheck disable=SC2086  # several words on purpose
    refused "takes no ${option%% *}, which goes with the other sweeps" batch $option --impl cpu
done
for option in '--epochs 1' '--optimizer adam' '--lr 0.1' '--data synthetic' '--train-images 0' '--test-images 9' '--data-on host' --no-graph; do
    # shellcheck disable=SC2086
    refused "takes no ${option%% *}, which goes with sweep batch" threads,algorithm $option --impl cpu --problem ic3ih8oc4kh3
done
refused "name it, --net" algorithm --batch 10 --impl cpu
echo "sweeps: all held"
