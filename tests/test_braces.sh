#!/usr/bin/env bash
# test_braces.sh [ROOT]: in CUDA sources no `#pragma unroll` follows an `if constexpr`, `if` or `else` without a brace. nvcc 13.0
# compiles no loop behind such a place in a loop's body where the condition is false, and says nothing; the emulation's compiler
# does as C++ has it, so that only results on a GPU would tell.
set -u
root=${1:-.}
found() {
    awk 'FNR == 1 { open = 0 }
        /^ *#pragma unroll/ && open { print FILENAME ":" FNR ": a loop after \"" last "\" needs braces"; bad = 1 }
        { line = $0; sub(/ *\/\*.*\*\/ *$/, "", line) }
        line ~ /[^ ]/ && line !~ /^ *#/ { open = line ~ /^ *(\} *)?(else +)?if .*\)$/ || line ~ /(^| )else$/; last = line; sub(/^ +/, "", last) }
        END { exit bad }' "$@"
}
if [ $# -eq 0 ]; then # a wrong one is found
    tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
    mkdir "$tmp/impl_x"
    printf '    if constexpr (P == 2)\n#pragma unroll\n        for (;;) a();\n' >"$tmp/impl_x/a.cu"
    "$0" "$tmp" >"$tmp/said" && { echo "not found: a loop without braces"; exit 1; }
fi
cd "$root" || exit 1
mapfile -t files < <(find impl_* harness/cuda -name '*.cu' -o -name '*.h' -path '*cu*' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "no CUDA sources here"; exit 1; }
found "${files[@]}" || exit 1
echo "${#files[@]} files looked at"
