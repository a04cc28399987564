#!/usr/bin/env bash
# test_energy.sh BENCHCNN_MOCK FAKE_NVML: what --energy puts into the records of epochs, by a library that plays NVML: it
# takes 100 W, and 400 W more while the program computes. The training is the same as without the option, and where
# there is no such library, so is all else. The mock device stands in for a GPU.
source "$(dirname "$0")/cli.sh"
mkdir "$tmp/nvml" "$tmp/none"
cp "$2" "$tmp/nvml/libnvidia-ml.so.1"
echo "no library" >"$tmp/none/libnvidia-ml.so.1" # found before the system's
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\ndropout 0.2\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(--net "$tmp/small.net" --data synthetic --images 200,50 --batch 8 --threads 1 --epochs 3 --shift 1 --schedule step,every=1 --quiet --check-seed 7)
train() { # FOLDER NAME OPTION...
    tests=$((tests + 1))
    LD_LIBRARY_PATH=$tmp/$1 "$benchcnn" train "${common[@]}" --out "$tmp/$2.jsonl" "${@:3}" >"$tmp/$2.log" 2>"$tmp/$2.err" ||
        fail "$2: $(cat "$tmp/$2.log" "$tmp/$2.err")"
}
epochs() { grep '"kind":"epoch"' "$tmp/$1.jsonl"; }
results() { epochs "$1" | grep -o '"\(train\|test\)_\(loss\|accuracy\)":[^,]*\|"lr":[^,}]*\|"checked":"[^"]*"'; }
energy='joules_per_epoch|joules_per_image|watts|idle_watts|energy_s|energy_epochs|energy_by|gpu_utilisation|memory_used_bytes'

train nvml plain --impl mock:direct
train nvml energy --impl mock:direct --energy
train none none --impl mock:direct --energy
for name in plain none; do
    epochs $name | grep -E "\"($energy)\"" && fail "$name: energy where it cannot be measured"
    [ "$(results $name)" = "$(results energy)" ] || fail "$name and energy are not the same training: $(results $name) $(results energy)"
    grep "^energy:" "$tmp/$name.log" && fail "$name: a line of energy"
done
[ "$(results energy | wc -l)" -eq 18 ] || fail "not three epochs: $(results energy)"
holds "no library" "$tmp/none.err" "no energy of mock:direct is measured: no NVML: |libnvidia-ml.so.1"
[ -s "$tmp/plain.err" ] && grep energy "$tmp/plain.err" && fail "energy is spoken of without the option"

# Every epoch has the figures, they agree with each other, and with the power that the library makes.
[ "$(epochs energy | grep -o "\"\($(sed 's/|/\\|/g' <<<"$energy")\)\":" | sort | uniq -c | grep -c '^ *3 ')" -eq 9 ] || fail "a field is missing: $(epochs energy | head -1)"
value() { epochs energy | tail -1 | grep -o "\"$1\":[^,]*" | cut -d: -f2; }
awk -v j="$(value joules_per_epoch)" -v i="$(value joules_per_image)" -v w="$(value watts)" -v idle="$(value idle_watts)" \
    -v s="$(value energy_s)" -v n="$(value energy_epochs)" 'function near(a, b, by) { return a > b * (1 - by) && a < b * (1 + by) }
    BEGIN { exit !(s >= 5 && n >= 1 && near(j * n, w * s, 1e-6) && near(i * 200, j, 1e-6) && idle > 90 && idle < 250 && w > idle + 20 && w < 600) }' ||
    fail "the figures do not agree: $(epochs energy | tail -1)"
holds "the record" "$tmp/energy.jsonl" '"energy_by":"NVML"|"gpu_utilisation":0.75,|"memory_used_bytes":3221225472'
holds "the end" "$tmp/energy.log" 'energy: [0-9.e-]* J an epoch, [0-9.e-]* mJ a training image: [0-9]* W over [0-9]* epochs? in [0-9.]* s, [0-9]* W idle before; the GPU was busy 75 % of the time, 3.22 GB of its memory were in use .NVML.' -E
LD_LIBRARY_PATH=$tmp/nvml "$benchcnn" check "$tmp/energy.jsonl" >"$tmp/out" 2>&1
holds "check" "$tmp/out" "0 faults, 0 fields of another version"
LD_LIBRARY_PATH=$tmp/nvml "$benchcnn" table "$tmp/energy.jsonl" >"$tmp/out" 2>&1
holds "the table" "$tmp/out" 'J an epoch'

# A file that tells the energy holds the point; one that does not is no reason to leave it out.
train nvml energy --impl mock:direct --energy
holds "the same again" "$tmp/energy.log" 'already in'
train none plain --impl mock:direct --energy
[ "$(epochs plain | wc -l)" -eq 6 ] || fail "a point whose energy is not known was left out"

# The processors' counters, where there are any that may be read; else the reason.
train none cpu --impl cpu:direct --energy
epochs cpu | grep -q '"energy_by":"RAPL"' || grep -q 'no energy of cpu:direct is measured: .*\(RAPL\|energy_uj\|did not move\)' "$tmp/cpu.err" ||
    fail "neither energy nor why not: $(cat "$tmp/cpu.err")"
refused '--energy|--plan' train --net thesis --impl cpu --plan --energy
refused '--energy|--profile' train --net thesis --impl cpu --profile --energy
finish
