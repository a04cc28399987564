#!/usr/bin/env bash
# test_openblas.sh BENCHCNN CC: where OpenBLAS does not know the processor, the program starts itself again with the right
# OPENBLAS_CORETYPE, once, and says so; where that does not help, each figure is marked. A small library plays OpenBLAS.
source "$(dirname "$0")/cli.sh"
cat >"$tmp/old.c" <<'EOF'
/* OpenBLAS as it is on a processor that it does not know; with OLD_ALWAYS it has no other kernels, either. */
#include <stdlib.h>
const char *openblas_get_corename(void);
const char *openblas_get_corename(void)
{
    const char *coretype = getenv("OPENBLAS_CORETYPE");
    return coretype != NULL && coretype[0] != '\0' && getenv("OLD_ALWAYS") == NULL ? coretype : "Prescott";
}
EOF
"$2" -shared -fPIC -o "$tmp/old.so" "$tmp/old.c" || exit 1
# The program under the address sanitizer minds libraries before its own.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
bench() { # FILE [VARIABLE=VALUE ...]: with the library before OpenBLAS
    local out=$tmp/$1
    tests=$((tests + 1))
    rm -f "$out"
    env "${@:2}" LD_PRELOAD="$tmp/old.so" "$benchcnn" bench --impl cpu:im2col --problem mb4ic3ih9oc5kh3 --dir FWD --peaks none \
        --min-time 0.002 --max-time 0.01 --warm-up 0 --quiet --out "$out" >"$tmp/log" 2>&1 || fail "bench $*: $(cat "$tmp/log")"
}
times() { [ "$(grep -cF "$2" "$tmp/log")" -eq "$1" ] || fail "not $1 times '$2': $(cat "$tmp/log")"; }
again='the program started itself again with OPENBLAS_CORETYPE='

bench plain
if grep -q '"isa":"base"' "$tmp/plain"; then
    echo "skipped: this processor has no AVX2, each core of OpenBLAS is good enough"
    exit 77
fi
times 1 "OpenBLAS does not know this processor and took its kernels for Prescott; $again"
times 0 warning
grep -qE '"openblas_core":"(SkylakeX|Haswell)","openblas_core_before":"Prescott"' "$tmp/plain" ||
    fail "the environment does not name both cores: $(head -c 3000 "$tmp/plain")"
grep '"kind":"conv"' "$tmp/plain" | grep warning && fail "a figure by the right kernels is marked"

bench helpless OLD_ALWAYS=1
times 1 "warning: OpenBLAS runs its kernels for Prescott on a processor with avx"
times 1 "install a newer OpenBLAS"
holds "the figure" "$tmp/helpless" '"kind":"conv".*"warnings":{"openblas_core":"OpenBLAS runs its kernels for Prescott' -E

bench users OPENBLAS_CORETYPE=Prescott # the user's word holds
times 0 "$again"
times 1 "warning: OPENBLAS_CORETYPE=Prescott is set"
times 0 "OpenBLAS runs its kernels"
finish
