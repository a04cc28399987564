#!/usr/bin/env bash
# demo.sh: installs what is missing, builds, proves every implementation that can run here right, times MNIST epochs over
# the thesis's batch sizes on each, and draws the plot. Everything it makes lies in out/.   ./demo.sh
set -euo pipefail
cd "$(dirname "$0")"
source scripts/setup.sh
benchcnn=build/release/benchcnn
out=out generator=()

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. Build"
install_missing
[ -f build/release/CMakeCache.txt ] || generator=(-G Ninja) # a folder that is there keeps its own
cmake --preset release "${generator[@]}" >/dev/null
cmake --build --preset release --target benchcnn | tail -1
mkdir -p $out

say "2. What there is"
$benchcnn list
gpu=$($benchcnn list --json | sed -n 's/^{"kind":"implementation","impl":"\([^"]*\)".*"available":true.*/\1/p' | grep -v '^cpu$' | paste -sd, || true)

say "3. Are the kernels right? Every operation against a float64 reference"
$benchcnn verify --impl '*' --op all --out $out/verify.jsonl | tail -1

say "4. How fast is one convolution? The thesis's three layers, 100 images"
$benchcnn bench --impl '*' --problems bench/problems/thesis.txt --min-time 0.1 --max-time 1 --quiet --out $out/bench.jsonl

say "5. Whole epochs over batch sizes (60,000 images trained, 10,000 tested)"
$benchcnn data
$benchcnn sweep batch --impl 'cpu:direct,cpu:im2col' --out $out/sweep.jsonl
say "   The defining loops take a minute for one epoch: one batch size, for comparison"
$benchcnn sweep batch --impl cpu:naive --batch 100 --out $out/sweep.jsonl
[ -z "$gpu" ] || $benchcnn sweep batch --impl "$gpu" --out $out/sweep.jsonl

say "6. The plots: seconds per epoch; speedups, of a GPU over the CPU, or else of the CPU's kernels over the defining loops"
$benchcnn plot $out/sweep.jsonl --out $out/epoch_over_batch
$benchcnn plot speedup ${gpu:+$out/sweep.jsonl} $out/bench.jsonl --out $out/speedup
say "What to look at: $out/epoch_over_batch.svg and $out/speedup.svg (.png beside them); the records are in $out/*.jsonl"
echo "What to try next:"
echo "  $benchcnn verify --plugin YOUR.so --impl YOURS     your own kernel (docs/plugins.md, impl_template/)"
echo "  $benchcnn compare BEFORE.jsonl AFTER.jsonl         two versions of it (docs/bench.md)"
