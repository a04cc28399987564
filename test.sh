#!/usr/bin/env bash
# test.sh: installs what is missing, builds, runs the tests.
#   ./test.sh [PRESET [CTEST OPTIONS]]   all of them (see cmake --list-presets; default: release)
#   ./test.sh quick [CTEST OPTIONS]      of release the unit tests and one run of each command: a minute once it is built
set -euo pipefail
cd "$(dirname "$0")"
source scripts/setup.sh
preset=${1:-release} label=()
[ "$preset" = quick ] && preset=release label=(-L quick)

install_missing ccache
use_ccache
# BENCHCNN_CMAKE_ARGS may hold several arguments.
# shellcheck disable=SC2086
cmake --preset "$preset" -G Ninja ${BENCHCNN_CMAKE_ARGS:-}
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)" "${label[@]}" "${@:2}"
