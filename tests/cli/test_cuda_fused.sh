#!/usr/bin/env bash
# test_cuda_fused.sh BENCHCNN [SANITIZERS]: trainers that do a pass in one launch: verified, trained beside the composition with
# the same curve, taken up from a checkpoint, refused in words. On a GPU, or emulated; without either it is skipped.
set -u
benchcnn=$1 sanitized=${2:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
of_kind() { grep "\"kind\":\"$2\"" "$1"; }
"$benchcnn" list 2>/dev/null | grep -qE '^ *✓ *cuda_fused' || { echo "skipped: no device for cuda_fused"; exit 77; }

verified() {
    "$benchcnn" verify --net small --impl cuda_fused >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
    for version in v1 v2 v3; do
        grep -q "PASSED *cuda_fused:$version .*gradient steps.*12 steps with 5 optimizers, compared with single operations of cpu" "$tmp/log" ||
            fail "$version is not verified: $(cat "$tmp/log")"
    done

    # Fully connected layers alone, with the quadratic loss.
    "$benchcnn" verify --net mlp_64 --impl cuda_fused >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
    for version in v1 v2 v3; do grep -q "PASSED *cuda_fused:$version " "$tmp/log" || fail "an MLP by $version: $(cat "$tmp/log")"; done

    # Blocks that share an image, in two clusters: which update by themselves, or not.
    for alone in 0 16000; do
        EMULATED_CUDA_FAULT=multiprocessors=4 "$benchcnn" verify --net small --impl cuda_fused:v3 --set cuda_fused.v3.cluster=2 --set cuda_fused.v3.alone=$alone \
            >"$tmp/log" 2>&1 || fail "clusters of two, alone $alone: $(cat "$tmp/log")"
        grep -q "PASSED *cuda_fused:v3 " "$tmp/log" || fail "no cluster was verified: $(cat "$tmp/log")"
    done

    # Rows that meet padding, channels that lanes do not share evenly, stage 0 by pieces: two blocks an image; one is among the
    # mutants' controls.
    EMULATED_CUDA_FAULT=multiprocessors=16 "$benchcnn" verify --net thesis --impl cuda_fused:v3 --set cuda_fused.v3.cluster=2 >"$tmp/log" 2>&1 ||
        fail "thesis, clusters of two: $(cat "$tmp/log")"
    grep -q "PASSED *cuda_fused:v3 " "$tmp/log" || fail "thesis is not verified by clusters of two: $(cat "$tmp/log")"
}

# What a sanitizer can see of the same kernels: steps and tests, without the reference in float64, which takes twenty minutes there.
watched() {
    local run
    for run in thesis:2 small:2 mlp_64:1; do # a network, and how many blocks share an image
        EMULATED_CUDA_FAULT=multiprocessors=16 "$benchcnn" train --net "${run%:*}" --impl cuda_fused:v3 --set cuda_fused.v3.cluster="${run#*:}" \
            --data synthetic --images 5,3 --batch 2 --epochs 1 --threads 2 --quiet >"$tmp/log" 2>&1 || fail "$run: $(cat "$tmp/log")"
    done
}
if [ -z "$sanitized" ]; then verified; else watched; fi

# Batches that are not full, images that are moved, more images than blocks: the curves of all are one.
data=(--data synthetic --images 80,30 --shift 1 --threads 2 --quiet --net small --batch 25 --epochs 2)
"$benchcnn" train "${data[@]}" --impl cuda_fused:v1,cuda_fused:v2,cuda_fused:v3,cpu:direct --out "$tmp/t.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
[ "$(of_kind "$tmp/t.jsonl" epoch | wc -l)" -eq 8 ] || fail "not eight epochs: $(cat "$tmp/log")"
of_kind "$tmp/t.jsonl" epoch | sed -n 's/.*"epoch":\([0-9]*\),.*"train_loss":\([0-9.]*\),"test_loss":\([0-9.]*\),.*/\1 \2 \3/p' |
    awk '{ if (!($1 in a)) { a[$1] = $2; b[$1] = $3 }
           d = $2 / a[$1] - 1; e = $3 / b[$1] - 1
           if (d * d > 1e-8 || e * e > 1e-8) { print "epoch " $1 ": losses " $2 " and " $3 ", not " a[$1] " and " b[$1]; bad = 1 } n++ }
         END { exit bad || n != 8 }' >"$tmp/curves" || fail "$(cat "$tmp/curves") $(of_kind "$tmp/t.jsonl" epoch)"

# From a checkpoint it goes on, bit for bit.
losses() { of_kind "$1" epoch | grep -o '"test_loss":[^,]*'; }
short=(train --data synthetic --images 20,9 --shift 1 --threads 2 --quiet --net small --batch 8)
for version in v2 v3; do
    one=("${short[@]}" --impl cuda_fused:$version)
    "$benchcnn" "${one[@]}" --epochs 2 --out "$tmp/whole_$version.jsonl" >/dev/null 2>&1 || fail "two epochs"
    for epochs in 1 2; do
        "$benchcnn" "${one[@]}" --epochs $epochs --checkpoint "$tmp/c_$version" --out "$tmp/parts_$version.jsonl" >"$tmp/log" 2>&1 ||
            fail "$(cat "$tmp/log")"
    done
    [ "$(losses "$tmp/whole_$version.jsonl")" = "$(losses "$tmp/parts_$version.jsonl")" ] ||
        fail "a checkpoint changes what follows in $version"
done

# The same bits again, also by clusters, which add up in another order than single blocks do.
for cluster in 1 2; do
    for again in a b; do
        EMULATED_CUDA_FAULT=multiprocessors=4 "$benchcnn" "${short[@]}" --epochs 1 --impl cuda_fused:v3 --set cuda_fused.v3.cluster=$cluster \
            --out "$tmp/same_$cluster$again.jsonl" >"$tmp/log" 2>&1 || fail "cluster $cluster: $(cat "$tmp/log")"
    done
    [ "$(losses "$tmp/same_${cluster}a.jsonl")" = "$(losses "$tmp/same_${cluster}b.jsonl")" ] || fail "other bits, cluster $cluster"
done

# Without a version: the latest one that can.
tiny=(train --data synthetic --images 4,2 --batch 2 --epochs 1 --impl cuda_fused --quiet)
"$benchcnn" "${tiny[@]}" --net small --out "$tmp/a.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
of_kind "$tmp/a.jsonl" epoch | grep -q '"algorithm":"v3"' || fail "small is not trained by v3: $(cat "$tmp/log")"
printf 'input 1 28 28\nfc 300\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/wide.net"
"$benchcnn" "${tiny[@]}" --net "$tmp/wide.net" --out "$tmp/b.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
of_kind "$tmp/b.jsonl" epoch | grep -q '"algorithm":"v1"' || fail "what v2 and v3 refuse is not trained by v1: $(cat "$tmp/log")"
"$benchcnn" "${tiny[@]}" --net projection >"$tmp/log" 2>&1 && fail "batch norm is trained"
grep -q 'batch_norm' "$tmp/log" || fail "no reason: $(cat "$tmp/log")"

# What it does not take, it says.
"$benchcnn" verify --net projection --impl cuda_fused >"$tmp/log" 2>&1
grep -q 'UNSUPPORTED *cuda_fused:v1.*batch_norm' "$tmp/log" || fail "$(cat "$tmp/log")"
"$benchcnn" train --net gorgonia --impl cuda_fused:v2 --data synthetic --images 100,20 --batch 10 >"$tmp/log" 2>&1 && fail "v2 takes gorgonia"
grep -q 'take v1' "$tmp/log" || fail "no way out is named: $(cat "$tmp/log")"
"$benchcnn" train --net small --impl cuda_fused:v3 --set cuda_fused.v3.cluster=5 --data synthetic --images 100,20 --batch 10 >"$tmp/log" 2>&1 &&
    fail "five blocks share four channels"
grep -qE 'equal share|no 5 multiprocessors' "$tmp/log" || fail "$(cat "$tmp/log")"
"$benchcnn" train --net thesis --impl cuda_fused:v2 --dtype f64 --data synthetic --images 100,20 --batch 10 >"$tmp/log" 2>&1 && fail "f64"
grep -q 'trains in f32' "$tmp/log" || fail "$(cat "$tmp/log")"
echo "all held"
