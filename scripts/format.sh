#!/usr/bin/env bash
# format.sh: formats every C, C++ and CUDA source; with --check only says which ones are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.c' '*.h' '*.cu' '*.cpp')
if [ "${1:-}" = --check ]; then
    clang-format --dry-run -Werror "${files[@]}"
    echo "format: ${#files[@]} files are as clang-format leaves them"
else
    clang-format -i "${files[@]}"
fi
