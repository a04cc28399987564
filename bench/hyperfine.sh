#!/usr/bin/env bash
# hyperfine.sh: whole-process timings (start, data, set-up, epoch, exit) by hyperfine, beside the figures that benchcnn takes
# within the process. Records of kind "process" go to OUT, behind an environment record; `benchcnn compare` reads them.
#   bench/hyperfine.sh OUT.jsonl [COMMAND...]     each COMMAND in quotes; without one: MNIST epochs of the CPU algorithms
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/hyperfine.sh OUT.jsonl [COMMAND...]}
shift
benchcnn=${BENCHCNN:-build/release/benchcnn}
source scripts/setup.sh
install_missing hyperfine jq

if [ $# = 0 ]; then
    for algorithm in direct im2col; do
        set -- "$@" "$benchcnn train --net thesis --impl cpu:$algorithm --batch 100 --epochs 1 --quiet"
    done
fi
# The environment record comes with a short proof that what is timed is right.
"$benchcnn" verify --impl cpu --op conv --problem mb2ic3ih8oc4oh8kh3ph1 --quiet --out "$out" >/dev/null
export_file=$(mktemp)
trap 'rm -f "$export_file"' EXIT
hyperfine --shell=none --warmup 1 --runs "${RUNS:-5}" --export-json "$export_file" "$@"
jq -c '.results[] | {kind: "process", program: .command, median_s: .median, mean_s: .mean, stddev_s: .stddev, min_s: .min,
    max_s: .max, user_s: .user, system_s: .system, samples: (.times | length), samples_s: .times, by: "hyperfine"}' \
    "$export_file" >>"$out"
echo "records: $out"
