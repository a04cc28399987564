#!/usr/bin/env bash
# test_joined.sh BENCHCNN CC: --impl A+B: what the plug-in does not take, cpu does.
set -u
benchcnn=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out"
    failed=1
}
# expect STATUS PATTERN WHAT OPTION...: what the program says, with the plug-in.
expect() {
    local status=$1 pattern=$2 what=$3
    shift 3
    "$benchcnn" "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    [ $got -eq "$status" ] || fail "$what: status $got, not $status"
    grep -qE -- "$pattern" "$work/out" || fail "$what: nothing like '$pattern'"
}
"$cc" -O2 -fPIC -shared -Iharness impl_template/mine.c -o "$work/mine.so" 2>"$work/out" || fail "compile"
mine=(--plugin "$work/mine.so")
small=(--images 600,200 --batch 50)

# Forward convolutions are the plug-in's, all else cpu's: a network is verified, trained, profiled.
expect 0 '1 cases: 0 FAILED 1 PASSED' "verify a network" verify "${mine[@]}" --impl mine+cpu --net every_layer
expect 0 ' 0 FAILED ' "verify what it lacks" verify "${mine[@]}" --impl mine+cpu --op pool,fc,deconv --quiet
expect 0 ' 0 FAILED 1 PASSED' "an epilogue, which cpu alone takes" verify "${mine[@]}" --impl mine+cpu --problem add+relu:mb2ic3ih5oc4kh3
expect 2 'layers have none' "an epilogue of layers" bench --impl cpu --net thesis --epilogue relu
expect 2 'unknown activation' "describe with no epilogue" describe --epilogue foo ic3ih5oc4kh3
expect 0 'mine\+cpu:loops' "train" train "${mine[@]}" --impl mine+cpu --net thesis "${small[@]}" --profile --out "$work/r.jsonl"
for what in 'conv2 +FWD +mine:loops' 'conv2 +BWD_D +cpu:direct' 'fc1 +FWD +cpu:gemm'; do
    grep -qE "$what" "$work/out" || fail "the profile does not say '$what'"
done
grep -q '"choice":"mine:loops"' "$work/r.jsonl" || fail "no record names the kernel"
expect 2 'mine has no algorithm for act, fc, loss, optimizer, which network thesis' "train alone" train "${mine[@]}" --impl mine --net thesis "${small[@]}"
expect 0 '"impl":"cpu\+cpu"' "the same results" train --impl cpu,cpu+cpu --net thesis "${small[@]}" --json
[ "$(grep -o '"train_loss":[^,]*' "$work/out" | sort -u | wc -l)" -eq 1 ] || fail "cpu+cpu trains otherwise than cpu"

# Knobs are those of both: by the owner's name, or by the pair's.
expect 0 '"cpu.isa":0' "cpu.isa" verify "${mine[@]}" --impl mine+cpu --problem ic3ih5oc4kh3 --dir BWD_D --set cpu.isa=0 --json
expect 0 '"cpu.isa":0' "mine+cpu.cpu.isa" verify "${mine[@]}" --impl mine+cpu --problem ic3ih5oc4kh3 --dir BWD_D --set mine+cpu.cpu.isa=0 --json
expect 2 'must be from 0 to' "a value out of range" verify "${mine[@]}" --impl mine+cpu --set cpu.isa=99
expect 2 'knob' "no such knob" verify "${mine[@]}" --impl mine+cpu --set mine+cpu.nothing=1

# A tuned choice is one of the build that it was found with.
tune=("${mine[@]}" --impl mine --dir FWD --problem ic3ih9oc4kh3 --tune "$work/tuning.jsonl")
verify=(verify "${mine[@]}" --impl mine:tuned --dir FWD --problem ic3ih9oc4kh3 --tune "$work/tuning.jsonl")
expect 0 'kept in' "a sweep" sweep threads "${tune[@]}" --max-time 0.02 --peaks none --quiet
expect 0 'loops threads=' "what it kept" "${verify[@]}"
"$cc" -O1 -fPIC -shared -Iharness impl_template/mine.c -o "$work/mine.so" 2>"$work/out" || fail "compile again"
expect 0 "stale: plugin was '[0-9a-f]+' and is '[0-9a-f]+'" "another build" "${verify[@]}"

# What is no pair.
expect 2 "unknown implementation 'nobody'" "unknown" verify "${mine[@]}" --impl mine+nobody
for text in mine+ +cpu mine+cpu+cpu; do expect 2 'is not of the form A\+B' "$text" verify "${mine[@]}" --impl "$text"; done
expect 2 "cpu" "a pattern" verify --impl 'cpu+c*'
if "$benchcnn" list --impl cuda_naive 2>/dev/null | grep -qE '^ *✓ *cuda_naive'; then # built, and there is a device
    expect 2 'both must be for one kind of device' "two devices" verify --impl cuda_naive+cpu
    expect 0 '1 cases: 0 FAILED 1 PASSED' "on a device" verify --impl cuda_im2col+cuda_naive:gather --net every_layer
fi

# One that ends its process is reported by the pair's name; with it lost, nothing is run.
sed -E 's/^static const cnn_impl impl = /__attribute__((constructor)) static void early(void) { __builtin_trap(); }\n&/' impl_template/mine.c >"$work/dies.c"
"$cc" -O2 -fPIC -shared -Iharness "$work/dies.c" -o "$work/dies.so" 2>"$work/out" || fail "compile dies"
expect 1 'dies.so' "one that dies" verify --plugin "$work/dies.so" --impl mine+cpu --isolate
exit $failed
