#!/usr/bin/env bash
# test.sh: installs what is missing, builds, runs the tests.   ./test.sh [PRESET [CTEST OPTIONS]]   (see cmake
# --list-presets)
set -euo pipefail
cd "$(dirname "$0")"
source scripts/setup.sh
preset=${1:-release}

install_missing
# BENCHCNN_CMAKE_ARGS may hold several arguments.
# shellcheck disable=SC2086
cmake --preset "$preset" -G Ninja ${BENCHCNN_CMAKE_ARGS:-}
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)" "${@:2}"
