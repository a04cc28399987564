#!/usr/bin/env bash
# test_sweep.sh BENCHCNN: sweeps of single operations: the product of the axes is complete, each point is verified, timed
# and repeatable, what cannot run is recorded with its reason, the table says what the records do, and nothing that is
# recorded is run again.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
first() { grep '"kind":"sweep",.*"round":1,.*}$' "$1"; }
points() { first "$1" | wc -l; }
count() { first "$1" | grep -c -- "$2"; }
common=(--impl cpu:direct,cpu:im2col --problem mb4ic3ih9oc5kh3 --dir FWD --min-time 0.002 --max-time 0.01 --warm-up 0 --quiet)
sweep() { "$benchcnn" sweep "$@" "${common[@]}" --peaks none; }

# 3 instruction sets x 2 thread counts, x 2 block sizes of im2col and once direct, to which that knob says nothing.
all=(threads,algorithm cpu.isa cpu.im2col.block_kib=64,256 --threads 2 --out "$tmp/all.jsonl")
sweep "${all[@]}" >"$tmp/log" 2>&1 || fail "the sweep: $(cat "$tmp/log")"
[ "$(points "$tmp/all.jsonl")" -eq 18 ] || fail "$(points "$tmp/all.jsonl") points, not 18"
[ "$(count "$tmp/all.jsonl" '"verified":true')" -eq 18 ] || fail "not every point is verified"
[ "$(first "$tmp/all.jsonl" | grep -o '"repro":"[^"]*"' | sort -u | wc -l)" -eq 18 ] || fail "points are repeated"
[ "$(count "$tmp/all.jsonl" '"default":true')" -eq 1 ] || fail "there is not one default"
grep -q '^ *[0-9]* .* 1.000 x .*  default\( .*\)\?$' "$tmp/log" || fail "the default is not shown: $(cat "$tmp/log")"
grep -q '^  \(keep the default: \|use .*times as fast as the default$\)' "$tmp/log" || fail "no verdict: $(cat "$tmp/log")"
"$benchcnn" sweep cpu.ISA=1,1 --impl cpu:direct --problem mb2ic4ih8oc4kh3 --dir FWD --peaks none --min-time 0.05 --max-time 0.05 --quiet >"$tmp/short" 2>&1
grep -q '^2 points run' "$tmp/short" || fail "a value that is given twice is a point twice: $(cat "$tmp/short")"

# Slow ones are dropped; the last round is one set, of those that may be the best and the default. The best and the regret are of it.
value() { grep -o "\"$1\":[^,}]*" | cut -d: -f2; }
last=$(grep '"kind":"sweep_best"' "$tmp/all.jsonl" | value round)
finals() { grep "\"kind\":\"sweep\",.*\"round\":$last," "$1"; }
[ "$last" -ge 2 ] || fail "18 points in $last round"
[ "$(finals "$tmp/all.jsonl" | wc -l)" -ge 2 ] && [ "$(finals "$tmp/all.jsonl" | wc -l)" -le 9 ] || fail "$(finals "$tmp/all.jsonl" | wc -l) in the last round"
[ "$(finals "$tmp/all.jsonl" | value set | sort -u | wc -l)" -eq 1 ] || fail "the last round is not one set"
[ "$(finals "$tmp/all.jsonl" | grep -c '"default":true')" -eq 1 ] || fail "the default is not in the last round"
for set in $(grep '"kind":"sweep",' "$tmp/all.jsonl" | value set | sort -u); do
    [ "$(grep "\"kind\":\"sweep\",.*\"set\":$set," "$tmp/all.jsonl" | value baseline_s | sort -u | wc -l)" -eq 1 ] || fail "set $set has not one default"
done
best=$(finals "$tmp/all.jsonl" | value median_s | sort -g | head -1)
usual=$(finals "$tmp/all.jsonl" | grep '"default":true' | value median_s)
said=$(grep '"kind":"sweep_best"' "$tmp/all.jsonl" | value median_s)
regret=$(grep '"kind":"sweep_best"' "$tmp/all.jsonl" | value regret)
[ "$best" = "$said" ] || fail "the best is said to take $said s, but a point took $best s"
awk "BEGIN { d = $regret - $usual / $best; exit !(d < 1e-6 && d > -1e-6) }" || fail "a regret of $regret, but $usual / $best"

# What a record says repeats it.
repro=$(first "$tmp/all.jsonl" | grep '"isa":1' | tail -1 | sed 's/.*"repro":"benchcnn \([^"]*\)".*/\1/')
"$benchcnn" $repro --min-time 0 --warm-up 0 --peaks none --quiet --out "$tmp/again.jsonl" >/dev/null || fail "cannot repeat: $repro"
grep -q '"kind":"conv".*"knobs":{.*"isa":1' "$tmp/again.jsonl" || fail "another point is repeated by $repro"

cp "$tmp/all.jsonl" "$tmp/once.jsonl"
# Again: nothing runs; without some of its records and with half of one: only those.
sweep "${all[@]}" >"$tmp/log" 2>&1
grep -q '^0 points run in .*18 already in' "$tmp/log" || fail "a finished sweep ran again: $(cat "$tmp/log")"
[ "$(grep -c '"kind":"sweep' "$tmp/all.jsonl")" -eq "$(grep -c '"kind":"sweep' "$tmp/once.jsonl")" ] ||
    fail "who won is recorded twice"
# A last round that was cut short is run anew, whole.
grep '"kind":"sweep",' "$tmp/all.jsonl" | sed '$d' >"$tmp/lost.jsonl"
sets=$(value set <"$tmp/all.jsonl" | sort -n | tail -1)
sweep "${all[@]}" --out "$tmp/lost.jsonl" >"$tmp/log" 2>&1
[ "$(grep '"kind":"sweep_best"' "$tmp/lost.jsonl" | value set)" -gt "$sets" ] || fail "half a last round was taken for a whole one"
{ first "$tmp/all.jsonl" | head -15; printf '{"kind":"sweep","half a rec'; } >"$tmp/part.jsonl"
sweep "${all[@]}" --out "$tmp/part.jsonl" >"$tmp/log" 2>&1
grep -q '^3 points run in .*15 already in' "$tmp/log" || fail "not just the missing points ran: $(cat "$tmp/log")"
[ "$(points "$tmp/part.jsonl")" -eq 18 ] || fail "after resuming there are $(points "$tmp/part.jsonl") points, not 18"

# What another build measured, or this one with other libraries, is measured again, and said to be; an older record does not say.
for other in 's/"build":"[^"]*"/"build":"0badc0de"/' 's/"libraries":"[^"]*"/"libraries":"0badc0de"/' 's/"build":"[^"]*",//'; do
    sed "/\"kind\":\"sweep/{/\"threads\":2/$other;}" "$tmp/all.jsonl" >"$tmp/built.jsonl"
    sweep "${all[@]}" --out "$tmp/built.jsonl" >"$tmp/log" 2>&1
    others=$(count "$tmp/all.jsonl" '"threads":2')
    grep -q "^$others points run in .*$((18 - others)) already in .*; $others of them again, for another build" "$tmp/log" || fail "not just another build's points ran: $(cat "$tmp/log")"
    [ "$(grep -c 'another build of benchcnn measured.*measured again$' "$tmp/log")" -eq 1 ] || fail "what is measured again is not said once"
    sweep "${all[@]}" --out "$tmp/built.jsonl" >"$tmp/log" 2>&1
    grep -q '^0 points run in .*18 already in' "$tmp/log" || fail "what was measured again is not kept: $(cat "$tmp/log")"
    grep -q 'another build' "$tmp/log" && fail "nothing is measured again, but said to be"
done

batch=("$benchcnn" sweep batch --impl cpu:direct,cpu:im2col --net thesis --batch 20 --data synthetic --images 40,20
    --quiet --out "$tmp/batch.jsonl")
"${batch[@]}" >"$tmp/log" 2>&1 || fail "sweep batch: $(cat "$tmp/log")"
sed -i '/"kind":"epoch","impl":"cpu","algorithm":"direct"/s/"build":"[^"]*"/"build":"0badc0de"/' "$tmp/batch.jsonl"
"${batch[@]}" >"$tmp/log" 2>&1
[ "$(grep -c '"kind":"epoch"' "$tmp/batch.jsonl")" -eq 3 ] || fail "not just another build's epoch was trained again: $(cat "$tmp/log")"
[ "$(grep -c 'another build of benchcnn measured.*measured again$' "$tmp/log")" -eq 1 ] || fail "what is trained again is not said once: $(cat "$tmp/log")"
"${batch[@]}" >"$tmp/log" 2>&1
[ "$(grep -c 'already in' "$tmp/log")" -eq 2 ] || fail "what was trained again is not kept: $(cat "$tmp/log")"

# Types, of each algorithm that --impl names; without a bias it is another point.
sweep layout,dtype --dtype f32,f64 --out "$tmp/types.jsonl" >"$tmp/log" 2>&1 || fail "types: $(cat "$tmp/log")"
[ "$(points "$tmp/types.jsonl")" -eq 8 ] || fail "$(points "$tmp/types.jsonl") points, not 8"
sweep layout,dtype --dtype f32,f64 --no-bias --out "$tmp/types.jsonl" >"$tmp/log" 2>&1
[ "$(points "$tmp/types.jsonl")" -eq 16 ] || fail "points without a bias were taken for those with"

# Unless they are named, all types there are: those of algorithms that do not take them with the reason.
sweep dtype --out "$tmp/every.jsonl" >"$tmp/log" 2>&1 || fail "every type: $(cat "$tmp/log")"
for type in f32 f64 f16 bf16 u8:s8:s32 s8:s8:s32 f16:f16:f32 bf16:bf16:f32 u8:s8:u8 u8:s8:s8 s8:s8:s8 s8:s8:u8; do
    [ "$(count "$tmp/every.jsonl" "\"algorithm\":\"direct\".*\"dtype\":\"$type\".*\"verified\":true")" -eq 1 ] || fail "$type is not swept: $(cat "$tmp/log")"
done
[ "$(count "$tmp/every.jsonl" '"dtype":"u8:s8:s32".*"state":"UNSUPPORTED","reason":"im2col in u8:s8:s32')" -eq 1 ] || fail "im2col takes integers"

# What cannot run: the reason in the record, and the others run.
"$benchcnn" sweep algorithm cpu.isa=0,1 --impl cpu --problem mb2ic4ih8oc6kh3sh2 --dir FWD --min-time 0 --peaks none --warm-up 0 \
    --math tf32 --quiet --out "$tmp/unsupported.jsonl" >"$tmp/log" 2>&1
refused=$(count "$tmp/unsupported.jsonl" '"state":"UNSUPPORTED","reason":"[^"]')
[ "$refused" -ge 1 ] || fail "nothing unsupported is recorded: $(cat "$tmp/log")"
[ "$((refused + $(count "$tmp/unsupported.jsonl" '"verified":true')))" -eq "$(points "$tmp/unsupported.jsonl")" ] || fail "neither timed nor refused"

# An interrupt keeps the finished sets; the same command does the rest.
slow=(cpu.im2col.block_kib --threads 1 --peaks none --min-time 0.1 --max-time 0.1 --out "$tmp/int.jsonl")
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

# Who is dropped, by figures that are given: of 13 points two may be the best, in units of the default's time in their own sets; one is
# clearly slower by little, the others by much.
first "$tmp/int.jsonl" | awk '{
    slow = 3; if (/"default":true/) slow = 2; else if (/block_kib":16}/) slow = 1; else if (/block_kib":32}/) slow = 1.04; else if (/block_kib":64}/) slow = 1.2
    unit = /block_kib":32}/ ? 1.02e-6 : 1e-6 # this one ran while the machine was slower: so did its default
    sub(/"median_s":[^,]*/, "\"median_s\":" slow * unit); sub(/"low_s":[^,]*/, "\"low_s\":" 0.97 * slow * unit); sub(/"high_s":[^,]*/, "\"high_s\":" 1.03 * slow * unit)
    sub(/"baseline_s":[^,}]*/, "\"baseline_s\":" 2 * unit); sub(/"resolution":[^,]*/, "\"resolution\":0"); print }' >"$tmp/given.jsonl"
[ "$(wc -l <"$tmp/given.jsonl")" -eq 13 ] || fail "not 13 points to give figures to"
"${slow[@]}" --out "$tmp/given.jsonl" >"$tmp/log" 2>&1 || fail "a sweep of given figures: $(cat "$tmp/log")"
ran=$(grep '"kind":"sweep",.*"round":2,' "$tmp/given.jsonl" | grep -o 'block_kib":[0-9]*' | cut -d: -f2 | sort -n | paste -sd,)
[ "$ran" = 16,32 ] || fail "in the second round are $ran, not 16 and 32: $(cat "$tmp/log")"
[ "$(grep -c '"kind":"sweep",.*"default":true.*"round":2,' "$tmp/given.jsonl")" -eq 1 ] || fail "the default is not in the second round"
grep -q '"round":3' "$tmp/given.jsonl" && fail "three rounds for two points and the default"

# Slips, each in words.
refused() {
    "$benchcnn" sweep "${@:2}" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && grep -qF -- "$1" "$tmp/log" || fail "sweep ${*:2}: not refused with '$1': $(cat "$tmp/log")"
}
refused "'thread' cannot be swept" thread
refused "'batch' cannot be swept" threads,batch
refused "'batch' cannot be swept" batch,threads
refused "'knob' cannot be swept" knob
refused "did you mean 'isa'" cpu.iso
refused "must be from 0 to 2" cpu.isa=1,7
refused "is swept already" cpu.isa=1 cpu.isa=2
refused "did you mean 'cpu'" cpx.isa
refused "not of the form" threads cpu,isa=1.5
refused "cpu:im2col alone reads it, and is not among what is swept: sweep algorithm, too, or give --impl cpu:im2col" \
    cpu.im2col.block_kib=64,256 threads --impl cpu
refused "cpu:im2col alone reads it" cpu.im2col.block_kib=64,256 --impl cpu:direct,cpu:naive
refused "dtype must be among what is swept" threads --dtype f32,f64 --impl cpu
# What one kind of sweep understands is no option of the other.
for option in '--op conv' '--dir FWD' '--problem ic3ih8oc4kh3' '--problems f' '--cache cold' '--no-bias' '--min-time 1'; do
    # shellcheck disable=SC2086  # several words on purpose
    refused "sweep batch\` takes no ${option%% *};" batch $option --impl cpu
done
for option in '--epochs 1' '--optimizer adam' '--data synthetic' '--images 9' '--data-on host' --no-graph; do
    # shellcheck disable=SC2086
    refused "sweep\` takes no ${option%% *};" threads,algorithm $option --impl cpu --problem ic3ih8oc4kh3
done
refused "name it, --net" algorithm --batch 10 --impl cpu
echo "sweeps: all held"
