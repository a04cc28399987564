#!/usr/bin/env bash
# test.sh: installs what is missing, builds, runs the tests.
#   ./test.sh [PRESET [CTEST OPTIONS]]   all of them (see cmake --list-presets; default: release)
#   ./test.sh quick [CTEST OPTIONS]      of release the unit tests, the longest with a part of their cases, and one run of each
#                                        command: a minute once it is built
set -euo pipefail
cd "$(dirname "$0")"
source scripts/setup.sh
preset=${1:-release} label=()
[ "$preset" = quick ] && preset=release label=(-L quick) && export BENCHCNN_TEST_QUICK=1

install_missing ccache
use_ccache
# BENCHCNN_CMAKE_ARGS may hold several arguments.
# shellcheck disable=SC2086
cmake --preset "$preset" -G Ninja ${BENCHCNN_CMAKE_ARGS:-}
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)" "${label[@]}" "${@:2}"
