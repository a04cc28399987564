#!/usr/bin/env bash
# libfuzzer.sh [SECONDS [TARGET...]]: every parser against libFuzzer for a bounded time each (default: 20 s), from the
# corpus in tests/libfuzzer/corpus. What is found stands in build/fuzz/findings, and the command that repeats it is said.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh
seconds=${1:-20}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(descriptor net idx csv npy safetensors record tuning import)

install_missing clang
install_missing "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
use_ccache
cmake --preset fuzz -G Ninja >/dev/null
cmake --build --preset fuzz --target libfuzzer

build=build/fuzz
mkdir -p $build/findings
# A header may promise more than memory holds; malloc then says so, as it does without the sanitizer.
export ASAN_OPTIONS=allocator_may_return_null=1 build seconds
one() { # TARGET
    mkdir -p "$build/corpus/$1" # grows from run to run
    "$build/fuzz_$1" -max_total_time="$seconds" -max_len=2048 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=0 \
        -artifact_prefix="$build/findings/$1"- -verbosity=0 -print_final_stats=1 \
        "$build/corpus/$1" "tests/libfuzzer/corpus/$1" >"$build/$1.log" 2>&1
    local status=$?
    echo "== libFuzzer: $1, $seconds s: $(grep -E 'number_of_executed_units|peak_rss_mb' "$build/$1.log" | paste -sd' ')"
    [ $status -eq 0 ] && return
    tail -40 "$build/$1.log"
    echo "repeat with: $build/fuzz_$1 FILE, a file of $build/findings"
    return 1
}
export -f one
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}'
