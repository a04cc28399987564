#!/usr/bin/env bash
# libfuzzer.sh [SECONDS [TARGET...]]: every parser against libFuzzer for a bounded time each (default: 20 s), from the
# corpus in tests/libfuzzer/corpus. What is found stands in build/fuzz/findings, and the command that repeats it is said.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh
seconds=${1:-20}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(descriptor net idx npy record tuning)

install_missing clang
install_missing "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
cmake --preset fuzz -G Ninja >/dev/null
cmake --build --preset fuzz --target libfuzzer

build=build/fuzz
mkdir -p $build/findings
# A header may promise more than memory holds; malloc then says so, as it does without the sanitizer.
export ASAN_OPTIONS=allocator_may_return_null=1
failed=0
for target in "${targets[@]}"; do
    mkdir -p "$build/corpus/$target" # grows from run to run
    echo "== libFuzzer: $target, $seconds s"
    if ! $build/fuzz_"$target" -max_total_time="$seconds" -max_len=2048 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=0 \
        -artifact_prefix=$build/findings/"$target"- -verbosity=0 -print_final_stats=1 \
        "$build/corpus/$target" "tests/libfuzzer/corpus/$target" >"$build/$target.log" 2>&1; then
        tail -40 "$build/$target.log"
        echo "repeat with: $build/fuzz_$target FILE, a file of $build/findings"
        failed=1
    fi
    grep -E 'number_of_executed_units|peak_rss_mb' "$build/$target.log" || true
done
exit $failed
