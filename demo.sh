#!/usr/bin/env bash
# demo.sh: installs what is missing, builds, proves every implementation that can run here right, times MNIST epochs over
# six of the thesis's batch sizes on each, draws the plot, times whole processes, and makes a page of it all. Everything it
# makes lies in out/.   ./demo.sh
set -euo pipefail
cd "$(dirname "$0")"
source scripts/setup.sh
out=out generator=()

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. Build"
install_missing
use_ccache
# Where there is no GPU, nothing is compiled for one: that takes minutes, and what is emulated is not timed.
build=build/release options=()
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    echo "No GPU here: the CPU's implementations alone, in build/demo"
    build=build/demo options=(-DBENCHCNN_CUDA=OFF)
fi
benchcnn=$build/benchcnn
[ -f $build/CMakeCache.txt ] || generator=(-G Ninja) # a folder that is there keeps its own
cmake --preset release -B $build "${generator[@]}" "${options[@]}" >/dev/null
cmake --build $build -j "$(nproc)" --target benchcnn | tail -1
mkdir -p $out

here=$($benchcnn list --json | sed -n 's/^{"kind":"implementation","impl":"\([^"]*\)".*"available":true.*/\1/p')
gpu=$(grep -E '^cu(da_|dnn$)' <<<"$here" | paste -sd, || true)

say "2. Are the kernels right? One convolution, then every operation of ours, against a float64 reference"
$benchcnn verify --impl '*' --problem mb4ic20ih12oc40kh5 --dir FWD --quiet >/dev/null # says what cannot run here, once
$benchcnn verify --impl '*' --problem mb4ic20ih12oc40kh5 --dir FWD 2>/dev/null
$benchcnn verify --impl "cpu${gpu:+,$gpu}" --op all --out $out/verify.jsonl | tail -1

say "3. What there is"
$benchcnn list

say "4. How fast is one convolution? The thesis's three layers, 100 images"
$benchcnn bench --impl '*' --problems bench/problems/thesis.txt --min-time 0.1 --max-time 0.5 --quiet --out $out/bench.jsonl

say "5. Whole epochs over batch sizes (60,000 images trained, 10,000 tested)"
batches=10,50,100,500,1000,2000
$benchcnn data
$benchcnn sweep batch --impl 'cpu:fused,cpu:direct,cpu:im2col' --batch $batches --out $out/sweep.jsonl
[ -z "$gpu" ] || $benchcnn sweep batch --impl "$gpu" --batch $batches --out $out/sweep.jsonl
! grep -qx onednn <<<"$here" || $benchcnn sweep batch --impl onednn:any --batch 100 --out $out/sweep.jsonl # the library to beat, at one size
say "   The defining loops take a minute or two for an epoch: a fiftieth of one, for comparison"
$benchcnn sweep batch --impl cpu:naive --batch 100 --images 1200,200 --out $out/part.jsonl
grep '"kind":"epoch"' $out/part.jsonl | tail -1 | grep -o '"seconds":[0-9.e-]*' |
    awk -F: '{ printf "cpu:naive, extrapolated: 50 times %.2f s is about %.0f s for a whole epoch; in no plot\n", $2, 50 * $2 }'

say "6. The plots: seconds per epoch; speedups, of a GPU over the CPU, or else of the CPU's kernels over the defining loops"
$benchcnn plot $out/sweep.jsonl --out $out/epoch_over_batch
$benchcnn plot speedup ${gpu:+$out/sweep.jsonl} $out/bench.jsonl --out $out/speedup

say "7. Whole processes, by hyperfine: a fifth of an epoch, verify, the start to the first figure"
BENCHCNN=$benchcnn RUNS=3 TRAIN_OPTIONS='--images 12000,2000' bench/hyperfine.sh $out/processes.jsonl

say "8. All of it on one page"
$benchcnn report $out/verify.jsonl $out/bench.jsonl $out/sweep.jsonl $out/processes.jsonl --out $out/report.html || echo "no page: see above"
say "What to look at: $out/report.html, $out/epoch_over_batch.svg, $out/speedup.svg, $out/processes.svg (.png beside them); the records are in $out/*.jsonl"
echo "What to try next:"
echo "  $benchcnn verify --plugin YOUR.so --impl YOURS     your own kernel (docs/plugins.md, impl_template/)"
echo "  $benchcnn compare BEFORE.jsonl AFTER.jsonl         two versions of it (docs/bench.md)"
