#!/usr/bin/env bash
# hyperfine.sh: whole processes, from start to exit, timed by hyperfine (Debian, Ubuntu: apt-get install hyperfine), taken over
# by `benchcnn import`, compared and drawn: what someone waits for who starts a program, beside the figures that benchcnn
# takes within a process.
#   bench/hyperfine.sh OUT.jsonl [COMMAND...]     each COMMAND in quotes; all are compared with the first
# Without a COMMAND three groups, each compared with its own first: one epoch of MNIST by each implementation, `verify` of a
# kernel, and the start to the first figure, with the program's and its libraries' files in memory, and not.
# Records are appended to OUT.jsonl, behind the environment; pictures go to OUT.svg and OUT.png where gnuplot is installed.
# Where there is a GPU (cuda_naive), a kernel of it is verified and timed, too.
# RUNS (10), BENCHCNN, BENCHCNN_DATA, EPOCH_IMPLS (of the epochs; those that are here take part) and TRAIN_OPTIONS (likewise) come
# from the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/hyperfine.sh OUT.jsonl [COMMAND...]}
shift
benchcnn=$(realpath "${BENCHCNN:-build/release/benchcnn}")
source scripts/setup.sh
command -v hyperfine >/dev/null || install_missing hyperfine
export PATH=${benchcnn%/*}:$PATH # commands name the program, and not where it lies
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# times NAME HYPERFINE_OPTIONS... -- COMMAND...: by hyperfine into OUT, compared with the first.
times() {
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    printf '\n%s\n' "$name"
    hyperfine --shell=none --runs "${RUNS:-10}" --export-json "$work/$name.json" "${options[@]}" "$@" >"$work/said" 2>&1 ||
        { cat "$work/said" >&2; exit 1; }
    benchcnn import "$work/$name.json" --here --out "$out"
    benchcnn import "$work/$name.json" --out "$work/$name.jsonl" --quiet
    [ $# -lt 2 ] || benchcnn compare "$work/$name.jsonl" --across program --baseline "$1"
}

# The environment, the GPU's, too, comes with a short proof that what is timed is right.
here=$(benchcnn list --json | sed -n 's/^{"kind":"implementation","impl":"\([^"]*\)".*"available":true.*/\1/p')
gpu=$(grep -x cuda_naive <<<"$here" || true)
benchcnn verify --impl "cpu${gpu:+,$gpu}" --op conv --problem mb2ic3ih5oc4oh5kh3ph1 --quiet --out "$out" >/dev/null
if [ $# -gt 0 ]; then
    times processes --warmup 1 -- "$@"
else
    epochs=()
    for impl in ${EPOCH_IMPLS:-cpu:fused cpu:direct cpu:im2col onednn:any cudnn:graph:find cuda_fused:v3 cuda_naive:v4 cuda_tensor}; do
        grep -qx "${impl%%:*}" <<<"$here" && epochs+=("benchcnn train --net thesis --impl $impl --batch 100 --epochs 1 --quiet${TRAIN_OPTIONS:+ $TRAIN_OPTIONS}")
    done
    times epoch --warmup 1 -- "${epochs[@]}"
    kernel='--problem mb4ic20ih12oc40kh5 --dir FWD --quiet'
    kernels=() figures=() prepared=()
    for impl in cpu:direct cpu:im2col cuda_naive:v4; do
        grep -qx "${impl%%:*}" <<<"$here" && kernels+=("benchcnn verify --impl $impl $kernel")
    done
    times verify --warmup 1 -- "${kernels[@]}"
    # dd drops what the system keeps of a file in memory, without being asked for a password.
    { ldd "$benchcnn" | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p'; echo "$benchcnn"; } | sed 's|.*|dd if=& iflag=nocache count=0 status=none|' >"$work/drop"
    for impl in cpu:direct cuda_naive:v4; do
        grep -qx "${impl%%:*}" <<<"$here" || continue
        figure="benchcnn bench --impl $impl $kernel --peaks none --warm-up 0 --min-time 0.01 --max-time 0.02"
        figures+=("$figure" "$figure")
        prepared+=(--prepare true --prepare "sh $work/drop" -n "$figure" -n "$figure, from files that are not in memory")
    done
    times first_figure "${prepared[@]}" -- "${figures[@]}"
fi
! command -v gnuplot >/dev/null || benchcnn plot bars "$out" --out "${out%.jsonl}"
printf '\nrecords: %s\n' "$out"
