#!/usr/bin/env bash
# test_cuda_toolkit.sh SOURCES CMAKE CC: a CUDA toolkit that is too old is none: the rest is built, and why is said; where CUDA
# is a must, configuring fails, in words.
set -u
sources=$1 cmake=$2 failed=0
export CC=$3
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/nvcc" <<'END'
#!/bin/sh
echo "Cuda compilation tools, release 11.8, V11.8.89"
END
chmod +x "$tmp/nvcc"

# configured MODE: configures with that nvcc; what is said goes to $tmp/MODE, its line breaks made spaces.
configured() {
    CUDACXX=$tmp/nvcc "$cmake" -S "$sources" -B "$tmp/build_$1" -DBENCHCNN_CUDA="$1" >"$tmp/said" 2>&1
    local status=$?
    tr -s ' \n' ' ' <"$tmp/said" >"$tmp/$1"
    return $status
}
says() {
    grep -qF -- "$2" "$tmp/$1" && return
    echo "BENCHCNN_CUDA=$1 does not say '$2': $(tail -c 1500 "$tmp/$1")"
    failed=1
}

configured AUTO || { echo "AUTO fails: $(tail -c 1500 "$tmp/AUTO")"; failed=1; }
says AUTO "✗ cuda_naive: the CUDA toolkit of $tmp/nvcc is 11.8, but 12.0 or a later one is needed"
says AUTO "✓ cpu"
configured ON && { echo "ON takes a toolkit that is too old"; failed=1; }
says ON "BENCHCNN_CUDA=ON, but:"
says ON "is 11.8, but 12.0 or a later one is needed"
exit $failed
