#!/usr/bin/env bash
# test_ranks.sh BENCHCNN CC MPI MPIRUN: training over ranks, two and four of them on whatever cores there are: the same
# curve as one process, the same bits for as many ranks, records, checkpoints. MPI: whether the program is built with it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/ranks.sh"
if [ "$mpi" != ON ]; then # a launcher's ranks must not each train for itself
    OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "$benchcnn" "${common[@]}" --impl cpu:direct >"$tmp/out" 2>"$tmp/err"
    [ $? -eq 3 ] || fail "ranks without MPI: not status 3"
    holds "ranks without MPI" "$tmp/err" 'as rank 1 of 2, but this benchcnn is built without MPI|libopenmpi-dev'
    OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 "$benchcnn" "${common[@]}" --impl cpu:direct >"$tmp/out" 2>&1 || fail "one rank without MPI"
    finish
    exit
fi

# ---- The same curve, whatever the number of ranks: with dropout, a last batch that is smaller, images that are moved.
# Twelve steps: rounding is 1e-7 (f32) and 1e-16 (f64; a record holds 9 digits) of a step, and each step adds to it.
curve() { # NAME NUMBER OPTION...: number 0: no launcher
    local name=$1 number=$2
    shift 2
    if [ "$number" -eq 0 ]; then
        "$benchcnn" "${common[@]}" --samples --save "$tmp/$name.st" --out "$tmp/$name.jsonl" "$@" >"$tmp/out" 2>"$tmp/err"
    else
        ranks "$number" "${common[@]}" --samples --save "$tmp/$name.st" --out "$tmp/$name.jsonl" "$@"
    fi || fail "$name: $(tail -3 "$tmp/err")"
    { losses "$tmp/$name.jsonl"; tested "$tmp/$name.jsonl"; } >"$tmp/$name.losses"
}
for type in f32 f64; do
    share=1e-5
    [ $type = f64 ] && share=3e-9
    numbers='1 2 4'
    [ $type = f64 ] && numbers=2
    for number in 0 $numbers; do curve "$type$number" "$number" --impl cpu:direct --dtype $type --shift 1; done
    [ "$(wc -l <"$tmp/${type}0.losses")" -eq 16 ] || fail "not the losses of 14 steps and 2 tests"
    for number in ${numbers#1 }; do close_to "$type, $number ranks" "$tmp/${type}0.losses" "$tmp/$type$number.losses" $share; done
done
cmp -s "$tmp/f320.st" "$tmp/f321.st" || fail "one rank has other weights than no launcher"
cmp -s "$tmp/f320.st" "$tmp/f322.st" && fail "two ranks sum in the order of one"
curve again 2 --impl cpu:direct --shift 1
cmp -s "$tmp/f322.st" "$tmp/again.st" || fail "two ranks have other weights the second time"
curve host 2 --impl cpu:direct --shift 1 --data-on host
cmp -s "$tmp/f322.st" "$tmp/host.st" || fail "--data-on host changes what two ranks come to"

# ---- Buckets, beside the backward pass. A sum of two is the same in either order, so two ranks have the bits of one sum.
# Among more of them MPI may choose another order for another size: the same bits the second time, and the same curve.
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\ndropout 0.2\nfc 20\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/deeper.net"
one_by_one=("${common[@]}")
common=("${common[@]/small.net/deeper.net}")
for number in 2 4; do
    curve whole$number $number --impl cpu:direct --shift 1
    for bucket in 1:3 2000:2 1000000:1; do
        name=b$number.${bucket%:*} sums=${bucket#*:}
        curve "$name" $number --impl cpu:direct --shift 1 --bucket "${bucket%:*}"
        close_to "$number ranks, --bucket ${bucket%:*}" "$tmp/whole$number.losses" "$tmp/$name.losses" 1e-5
        grep '"kind":"epoch"' "$tmp/$name.jsonl" >"$tmp/epochs"
        holds "a record of buckets" "$tmp/epochs" "\"bucket\":${bucket%:*},|\"verified\":true|\"comm_sums\":$sums,|\"comm_step_s\":[0-9]|\"comm_flight_s\":[0-9]|\"comm_alone_s\":[0-9]" -E
        [ $number -eq 4 ] || cmp -s "$tmp/whole2.st" "$tmp/$name.st" || fail "two ranks, --bucket ${bucket%:*}: other weights than with one sum"
    done
    curve again$number $number --impl cpu:direct --shift 1 --bucket 1
    cmp -s "$tmp/b$number.1.st" "$tmp/again$number.st" || fail "$number ranks, --bucket 1: other weights the second time"
done
grep '"kind":"epoch"' "$tmp/whole2.jsonl" >"$tmp/epochs"
grep -q '"bucket"' "$tmp/epochs" && fail "one sum has a bucket: $(cat "$tmp/epochs")"
holds "a record of one sum" "$tmp/epochs" '"comm_sums":1,'
curve host 2 --impl cpu:direct --shift 1 --data-on host --bucket 1
cmp -s "$tmp/whole2.st" "$tmp/host.st" || fail "--data-on host changes what buckets come to"
for i in "${!common[@]}"; do [ "${common[i]}" = --threads ] && common[i + 1]=3; done
curve threads 2 --impl cpu:direct --shift 1 --bucket 1
cmp -s "$tmp/whole2.st" "$tmp/threads.st" || fail "buckets: two ranks have other weights with three threads each"
curve f64 2 --impl cpu:direct --dtype f64 --shift 1
curve f64b 2 --impl cpu:direct --dtype f64 --shift 1 --bucket 1
cmp -s "$tmp/f64.st" "$tmp/f64b.st" || fail "buckets: other weights in f64"
ranks 2 "${common[@]}" --impl cpu:direct --bucket 1 --out "$tmp/kept.jsonl" || fail "the first time"
holds "the head" "$tmp/out" '2 ranks of 3 threads, buckets of 1 bytes'
ranks 2 "${common[@]}" --impl cpu:direct --bucket 2000 --out "$tmp/kept.jsonl"
grep -q 'already in' "$tmp/out" && fail "one bucket is taken for another"
ranks 2 "${common[@]}" --impl cpu:direct --bucket 1 --out "$tmp/kept.jsonl"
grep -q 'already in' "$tmp/out" || fail "what --out holds of a bucket is trained again"
common=("${one_by_one[@]}")
rm "$tmp/kept.jsonl"

# A device without NCCL: by way of host memory, and no step is captured.
if "$benchcnn" list 2>/dev/null | grep -q 'cuda_naive.*emulated'; then
    curve device 2 --impl cuda_naive:v2 --shift 1 --device 0 --images 240,60
    curve alone 0 --impl cuda_naive:v2 --shift 1 --images 240,60
    close_to "an emulated device, 2 ranks" "$tmp/alone.losses" "$tmp/device.losses" 1e-5
    grep '"kind":"epoch"' "$tmp/device.jsonl" >"$tmp/epochs"
    holds "a record of emulated devices" "$tmp/epochs" '"comm_way":"MPI, by way of host memory"|"graph":false|"comm_step_s":null'
fi

# ---- What the records say; rank 0 alone writes and speaks.
[ "$(grep -c '"kind":"epoch"' "$tmp/f324.jsonl")" -eq 2 ] || fail "four ranks do not write each epoch once"
grep '"kind":"epoch"' "$tmp/f324.jsonl" >"$tmp/epochs"
holds "a record of four ranks" "$tmp/epochs" \
    '"batch":60,|"ranks":4,|"threads":1,|"verified":true|"rank_devices":{"0":"[^"]*","1":"[^"]*","2":"[^"]*","3":"|"rank_library":"[^"]|"comm_way":"MPI"|"comm_bytes":[0-9]|"comm_step_s":[0-9]|"comm_alone_s":[0-9]' -E
grep '"kind":"epoch"' "$tmp/f320.jsonl" >"$tmp/epochs"
grep -q rank "$tmp/epochs" && fail "a word of ranks where there are none: $(cat "$tmp/epochs")"
"$benchcnn" table "$tmp/f320.jsonl" "$tmp/f324.jsonl" >"$tmp/table"
grep -q ' ranks ' "$tmp/table" || fail "the table has no ranks: $(cat "$tmp/table")"
ranks 2 "${common[@]}" --impl cpu:direct --out "$tmp/kept.jsonl"
[ "$(grep -c '2 ranks of 1 thread' "$tmp/out")" -eq 1 ] || fail "the head is not printed once: $(cat "$tmp/out")"
grep -q 'repeat: mpirun -n 2 ' "$tmp/out" || fail "no command to repeat it"
ranks 2 "${common[@]}" --impl cpu:direct --out "$tmp/kept.jsonl"
grep -q 'already in' "$tmp/out" || fail "what --out holds is trained again: $(cat "$tmp/out")"
ranks 4 "${common[@]}" --impl cpu:direct --out "$tmp/kept.jsonl"
grep -q 'already in' "$tmp/out" && fail "four ranks are taken for two"

# ---- A checkpoint goes on with another number of ranks, or with none.
ranks 2 "${common[@]}" --impl cpu:direct --shift 1 --epochs 1 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" || fail "the first epoch"
cp "$tmp/c" "$tmp/c0"
ranks 4 "${common[@]}" --impl cpu:direct --shift 1 --epochs 2 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" || fail "the second epoch"
tested "$tmp/parts.jsonl" >"$tmp/parts"
tested "$tmp/f320.jsonl" >"$tmp/whole"
close_to "a checkpoint of two ranks on four" "$tmp/whole" "$tmp/parts" 1e-5
"$benchcnn" "${common[@]}" --impl cpu:direct --shift 1 --epochs 2 --checkpoint "$tmp/c0" >"$tmp/out" 2>&1 || fail "a checkpoint of ranks, alone"

# ---- A trainer of an implementation's own, whose steps add up over ranks themselves.
one_by_one=("${common[@]}")
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\ndropout 0.25\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/chain.net"
common=("${common[@]/small.net/chain.net}")
for number in 0 1 2 4; do curve fused$number $number --impl cpu:fused --shift 1; done
for number in 2 4; do close_to "cpu:fused, $number ranks" "$tmp/fused0.losses" "$tmp/fused$number.losses" 1e-5; done
curve single 2 --impl cpu:direct --shift 1
close_to "cpu:fused and cpu:direct, 2 ranks" "$tmp/single.losses" "$tmp/fused2.losses" 1e-5
cmp -s "$tmp/fused0.st" "$tmp/fused1.st" || fail "cpu:fused: one rank has other weights than no launcher"
cmp -s "$tmp/fused0.st" "$tmp/fused2.st" && fail "cpu:fused: two ranks sum in the order of one"
for i in "${!common[@]}"; do [ "${common[i]}" = --threads ] && common[i + 1]=3; done
curve threads 2 --impl cpu:fused --shift 1
cmp -s "$tmp/fused2.st" "$tmp/threads.st" || fail "cpu:fused: two ranks have other weights with three threads each"
grep '"kind":"epoch"' "$tmp/threads.jsonl" >"$tmp/epochs"
holds "a record of cpu:fused over ranks" "$tmp/epochs" '"algorithm":"fused"|"verified":true|"ranks":2,|"threads":3,|"comm_way":"MPI"|"comm_bytes":[0-9]|"comm_step_s":[0-9]|"comm_alone_s":[0-9]' -E
common=("${one_by_one[@]}")

# ---- What sums take: ten sizes and a line, for as many ranks; rank 0 alone tells.
ranks 2 peaks --impl cpu --min-time 0 --quiet --out "$tmp/peaks.jsonl" || fail "peaks over ranks: $(cat "$tmp/err")"
[ "$(grep -c '"kind":"all_reduce",.*"ranks":2,.*"comm_way":"MPI","bytes":[0-9]*,"best_s":[0-9]' "$tmp/peaks.jsonl")" -eq 10 ] || fail "not ten sums: $(cat "$tmp/peaks.jsonl")"
[ "$(grep -c '"kind":"all_reduce_line",.*"alpha_s":[0-9].*"beta_bytes_per_s":[0-9]' "$tmp/peaks.jsonl")" -eq 1 ] || fail "not one line"
grep -q '"kind":"peak"' "$tmp/peaks.jsonl" && fail "ranks measure ceilings in each other's way"
[ "$(grep -c ' bytes .*GB/s' "$tmp/out")" -eq 11 ] || fail "not ten sizes and a line: $(cat "$tmp/out")"
finish
